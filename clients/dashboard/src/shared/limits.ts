/** What the contract says of a text, as `generated/limits.ts` has it. */
interface TextLimits {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly not?: { readonly pattern: string };
}

/** Whether the contract allows a text. */
export function fits(text: string, { minLength = 0, maxLength = Infinity, pattern = '', not }: TextLimits): boolean {
  const hasLength = text.length >= minLength && text.length <= maxLength;
  return hasLength && new RegExp(pattern).test(text) && !(not !== undefined && new RegExp(not.pattern).test(text));
}
