/**
 * Removes the members that are `null` from a body, in place, so that validators and handlers see them as left out.
 * Elements of arrays stay.
 *
 * @param keptIn names of members whose values stay as they are, because the caller chooses what is in them
 */
export function leaveOutNulls(body: unknown, keptIn: readonly string[]): void {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    if (Array.isArray(body)) leaveOutNulls(value, keptIn);
    else if (value === null) Reflect.deleteProperty(body, name);
    else if (!keptIn.includes(name)) leaveOutNulls(value, keptIn);
  }
}
