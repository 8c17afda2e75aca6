/** What `JSON.parse` makes. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/**
 * A value as JSON without spaces, at any depth of nesting. `JSON.parse` can read deeper values than the recursive
 * `JSON.stringify` can write.
 */
export function compactJson(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return compactJsonIteratively(value);
    throw error;
  }
}

function compactJsonIteratively(root: JsonValue): string {
  const written: string[] = [];
  /** What remains to be written, in reverse order: punctuation and names as text, values wrapped. */
  const pending: (string | { readonly value: JsonValue })[] = [{ value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') {
      written.push(next);
    } else if (typeof next.value !== 'object' || next.value === null) {
      written.push(JSON.stringify(next.value));
    } else if (isArray(next.value)) {
      written.push('[');
      pending.push(']');
      for (let index = next.value.length - 1; index >= 0; index--) {
        pending.push({ value: next.value[index] ?? null });
        if (index > 0) pending.push(',');
      }
    } else {
      written.push('{');
      pending.push('}');
      for (const [index, [name, value]] of [...Object.entries(next.value).entries()].reverse()) {
        pending.push({ value }, `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`);
      }
    }
  }
  return written.join('');
}

/** `Array.isArray` that narrows read-only arrays too. */
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
