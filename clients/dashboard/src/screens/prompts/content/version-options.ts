/** Options of a field that chooses a version: the newest 200, and the chosen one however old it is. */
export function versionOptions(
  newest: number,
  chosen: number | undefined,
  label: (version: number) => string,
): { value: string; label: string }[] {
  const numbers = Array.from({ length: Math.min(newest, 200) }, (_, index) => newest - index);
  if (chosen !== undefined && chosen >= 1 && !numbers.includes(chosen)) numbers.push(chosen);
  return numbers.map((version) => ({ value: String(version), label: label(version) }));
}

/** The number in an address or a field; `undefined` if it is none. */
export function versionNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
