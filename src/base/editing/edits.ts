import { isDeepStrictEqual } from 'node:util';
import { ProblemError } from '../errors/problem-error.ts';

/** Checks whether a resource matches the caller's `If-Match` before it is changed. */
export type Precondition<Thing> = (thing: Thing) => boolean;

/** @throws ProblemError `precondition-failed` */
export function requireMatch<Thing>(thing: Thing, precondition: Precondition<Thing>): void {
  if (precondition(thing)) return;
  throw new ProblemError('precondition-failed', {
    detail: 'The resource has changed: If-Match does not match its current ETag.',
  });
}

/** A resource after a change at this time: the same object if nothing changes. */
export function changed<Thing extends { readonly updatedAt: Date }>(
  present: Thing,
  change: NoInfer<Partial<Thing>>,
  at: Date,
): Thing {
  const next = { ...present, ...change };
  if (isDeepStrictEqual(next, present)) return present;
  return { ...next, updatedAt: changeTime(present.updatedAt, at) };
}

/** The time of a change: now, or a millisecond after the previous change if the clocks of two processes disagree. */
export function changeTime(before: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), before.getTime() + 1));
}
