const bytesPerId = 16;

/** UUIDs as 16 bytes each, one after the other. */
export function packIds(ids: readonly string[]): Buffer {
  return Buffer.from(ids.map((id) => id.replaceAll('-', '')).join(''), 'hex');
}

/** The UUIDs that {@link packIds} packed. */
export function unpackIds(packed: Uint8Array): string[] {
  const bytes = Buffer.from(packed);
  return Array.from({ length: bytes.length / bytesPerId }, (_, index) =>
    bytes
      .toString('hex', index * bytesPerId, (index + 1) * bytesPerId)
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  );
}
