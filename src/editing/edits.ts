import { isDeepStrictEqual } from 'node:util';
import { ProblemError } from '../errors/problem-error.ts';

/** Does a thing, as it is just before it is changed, fulfil what the caller expects of it (`If-Match`)? */
export type Precondition<Thing> = (thing: Thing) => boolean;

/** Some members of a content; what is left out, or `undefined`, stays as it is. */
export type Change<Content> = { readonly [Member in keyof Content]?: Content[Member] | undefined };

/** @throws ProblemError `precondition-failed` */
export function requireMatch<Thing>(thing: Thing, precondition: Precondition<Thing>): void {
  if (precondition(thing)) return;
  throw new ProblemError('precondition-failed', { detail: 'The resource is no longer the one that If-Match names.' });
}

/** The content after a change; `undefined` when nothing changes. */
export function changeContent<Content extends object>(
  present: Content,
  change: NoInfer<Change<Content>>,
): Content | undefined {
  const sent = Object.entries(change).filter(([, value]) => value !== undefined);
  const changed: Content = { ...present, ...Object.fromEntries(sent) };
  return isDeepStrictEqual(changed, present) ? undefined : changed;
}

/** The time of a change: now, or just after the one before where the clocks of two processes disagree. */
export function changeTime(before: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), before.getTime() + 1));
}
