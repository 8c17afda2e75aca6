/**
 * The code of a system error, such as `EEXIST`. It asks for the code alone and not for the class: errors of Node itself
 * are of another `Error` class wherever code runs in a context of its own, as in tests.
 */
export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** True for a system error with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}
