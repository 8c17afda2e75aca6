import { createHash } from 'node:crypto';
import { configure } from 'safe-stable-stringify';

/**
 * Whether the JSON text of a value has more bytes than this. The text of a value that is much larger is not written,
 * because that would hold up others.
 */
export function isLongerAsJson(value: unknown, bytes: number): boolean {
  return leastLength(value, bytes) > bytes || Buffer.byteLength(JSON.stringify(value)) > bytes;
}

/** The length of a value as JSON text, or less. It stops above the limit. */
function leastLength(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 1;
  // Brackets and commas.
  let length = 1;
  if (Array.isArray(value)) {
    length += value.length;
    for (const element of value as unknown[]) {
      if (length > limit) break;
      length += leastLength(element, limit - length);
    }
    return length;
  }
  const names = Object.keys(value);
  length += names.length;
  for (const name of names) {
    if (length > limit) break;
    length += name.length + 3 + leastLength((value as Record<string, unknown>)[name], limit - length);
  }
  return length;
}

const canonical = configure({ bigint: false, circularValue: Error });

/** Strings from this length on are hashed in pieces of this length. */
const longLength = 1024 * 1024;
/** What stands for a long string begins with this. Strings that begin like it are hashed too, so that none is equal. */
const digestStart = 'sha256:';

/** The SHA-256 of a value that came as JSON. The order of an object's members does not matter. */
export function digestOf(value: unknown, encoding: 'hex' | 'base64url'): string {
  const text = canonical(value, (_name, member: unknown) =>
    typeof member === 'string' && (member.length >= longLength || member.startsWith(digestStart))
      ? digestOfText(member)
      : member,
  );
  return createHash('sha256')
    .update(text ?? '')
    .digest(encoding);
}

function digestOfText(text: string): string {
  const hash = createHash('sha256');
  for (let from = 0; from < text.length; from += longLength)
    hash.update(text.slice(from, from + longLength), 'utf16le');
  return `${digestStart}${hash.digest('hex')}`;
}
