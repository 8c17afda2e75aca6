/** Keys of what these screens read. */
export const invocationsKey = ['invocations'] as const;

/** The short name of a problem: the last part of its type, which is also the value of the filter. */
export function problemName(type: string): string {
  return type.slice(type.lastIndexOf(':') + 1);
}
