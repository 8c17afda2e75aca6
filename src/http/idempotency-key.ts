/**
 * The key inside an `Idempotency-Key` field: a structured-field string (draft-ietf-httpapi-idempotency-key-header) or,
 * as most clients send it, the bare value. Both forms mean the same key.
 */
export function idempotencyKey(field: unknown): string | undefined {
  if (typeof field !== 'string') return undefined;
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(field);
  return quoted?.[1] === undefined ? field : quoted[1].replace(/\\(["\\])/g, '$1');
}
