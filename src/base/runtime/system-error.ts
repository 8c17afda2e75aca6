/**
 * The code of a system error, such as `EEXIST`. It checks only the code and not the class: in a separate context, as in
 * tests, errors of Node have another `Error` class.
 */
export function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** True for a system error with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/** The message of an error, or the text of another value that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
