/**
 * The JSON text of a value. It is written into answers as it is, so that a value that was read elsewhere need not be
 * parsed here, and keeps numbers that JavaScript cannot hold.
 */
export class JsonText<Value = unknown> {
  declare readonly value?: Value;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value of which any part can be there as text. */
export type WithTexts<Value> =
  | Value
  | JsonText<Value>
  | (Value extends object ? { readonly [Name in keyof Value]: WithTexts<Value[Name]> } : never);

/** A token that `JSON.stringify` never writes by itself: it escapes neither letters nor a quote right before them. */
const placeholder = String.raw`"\u0041"`;

/** Writes a value as JSON, with the texts in it as they are. */
export function toJsonText<Value>(value: WithTexts<Value>): JsonText<Value> {
  const texts: string[] = [];
  const mark = rawJson(placeholder);
  const json = JSON.stringify(value, (_name, member: unknown) => {
    if (!(member instanceof JsonText)) return member;
    texts.push(member.text);
    return mark;
  });
  const [first = '', ...rest] = json.split(placeholder);
  return new JsonText(rest.reduce((written, part, index) => `${written}${texts[index] ?? ''}${part}`, first));
}

/**
 * A value that `JSON.stringify` writes as this token, `JSON.rawJSON` (ECMA-262, JSON.parse source text access). The
 * types of TypeScript do not have it yet.
 */
export function rawJson(token: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(token);
}
