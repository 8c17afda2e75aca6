/** What `JSON.parse` makes. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue };

/** The value of a JSON text, or where it is wrong. */
export type ParsedJson =
  | { readonly value: JsonValue; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: { readonly kind: 'syntax' | 'inexact'; readonly detail: string } };

/** Why a text is no JSON object. */
export type JsonMistake = 'syntax' | 'inexact' | 'no-object';

/** The third argument of a reviver, where the browser has it (ECMAScript proposal "JSON.parse source text access"). */
interface ReviverContext {
  readonly source?: string;
}

/**
 * Reads JSON that was typed. Numbers that JavaScript would change, such as 12345678901234567890, are an error and never
 * rounded: the service would store something else than what was typed.
 */
export function parseJson(text: string): ParsedJson {
  let inexact: string | undefined;
  const revive = (_name: string, value: unknown, context?: ReviverContext): unknown => {
    const source = context?.source;
    if (typeof value === 'number' && source !== undefined && !isExact(source, value)) inexact ??= source;
    return value;
  };
  try {
    const value = JSON.parse(text, revive) as JsonValue;
    return inexact === undefined ? { value } : { error: { kind: 'inexact', detail: inexact.slice(0, 60) } };
  } catch (error) {
    return { error: { kind: 'syntax', detail: error instanceof Error ? error.message : String(error) } };
  }
}

/** Why the text is no JSON object; `undefined` if it is one. */
export function objectMistake(text: string): JsonMistake | undefined {
  const parsed = parseJson(text);
  if (parsed.error !== undefined) return parsed.error.kind;
  return isObject(parsed.value) ? undefined : 'no-object';
}

/** The JSON object of a text; `undefined` if it is none. */
export function objectOf(text: string): { [name: string]: JsonValue } | undefined {
  const { value } = parseJson(text);
  return isObject(value) ? value : undefined;
}

function isObject(value: JsonValue | undefined): value is { [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every number of at most 15 digits within the range of doubles is exact; longer ones if they are written the same. */
function isExact(source: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const digits = source.replace(/[eE].*/, '').replace(/\D/g, '');
  return (digits.length <= 15 && (value !== 0 || /^0*$/.test(digits))) || String(value) === source;
}
