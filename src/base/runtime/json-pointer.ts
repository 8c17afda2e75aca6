/** The way to values of a JSON text, from the outside in: names, and `null` for each index of an array. */
export type JsonPath = readonly (string | null)[];

/** A name as a step of a JSON pointer (RFC 6901, section 3). */
export function toStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The name that a step of a JSON pointer means. */
export function fromStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
