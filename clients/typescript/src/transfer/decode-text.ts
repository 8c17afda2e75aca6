/**
 * The text of a file in UTF-8, without its mark. Another encoding would become other characters.
 * @returns undefined if it is not UTF-8
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  // UTF-16 without a mark is valid UTF-8 with NUL.
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
