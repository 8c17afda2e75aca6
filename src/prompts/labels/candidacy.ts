import { ProblemError } from '../../base/errors/problem-error.ts';
import { sameContent } from '../prompt-changes.ts';
import type { Prompt, PromptContent } from '../prompt.ts';
import { releaseWarnings, type PromptContract, type ReleaseWarning } from '../templates/release-warnings.ts';
import { findGate, type Gate, type Release } from './gate.ts';
import { findLabel } from './label.ts';
import type { Past } from './past.ts';

/** A version that shall become what a label names. */
export interface ReleaseTarget {
  /** Of the label. */
  readonly name: string;
  readonly version: number;
  readonly content: PromptContent;
  /** Why it shall happen whatever the gate says. */
  readonly override?: string | undefined;
  /** The gate let it in before, and asks again: it counts evaluations of any age. */
  readonly ofAnyAge?: boolean;
}

/** A version with its content. */
export interface ContentVersion {
  readonly version: number;
  readonly content: PromptContent;
}

/** A version before a gate that does not let it in freely. */
export interface Candidacy {
  readonly promptId: string;
  readonly gate: Gate;
  readonly candidate: ContentVersion;
  /** What the label names, or named before it was deleted. Without it, the anchor stands in. */
  readonly named: ContentVersion | undefined;
  readonly anchor: ContentVersion | undefined;
  /** What can break callers of the version that the label names. */
  readonly changes: readonly ReleaseWarning[];
}

/** What a gate says. */
export interface Decision {
  /** Those that let the version in. */
  readonly evaluations: readonly string[];
  /** Why it is not let in, and what would let it in: sentences. Empty if it is. */
  readonly reasons: readonly string[];
}

/** What evaluations say to gates. */
export interface Verdicts {
  decide(candidacy: Candidacy): Promise<Decision>;
  /** Keeps evaluations, which otherwise expire, as long as the history that names them. */
  keep(evaluations: readonly string[]): Promise<void>;
}

/**
 * The version before the gate of the label.
 *
 * @returns undefined if it is let in freely: the label has no gate, or names this content, or named it immediately before,
 *   or has never named any and this is the anchor
 */
export async function candidacyOf(
  prompt: Prompt,
  { name, version, content }: ReleaseTarget,
  { contentOf, lastMove, versionBefore }: Past,
): Promise<Candidacy | undefined> {
  const gate = findGate(prompt.gates, name);
  if (gate === undefined) return undefined;
  const read = async (number: number | undefined): Promise<ContentVersion | undefined> =>
    number === undefined ? undefined : { version: number, content: await contentOf(prompt, number) };
  const isSame = (one: ContentVersion | undefined): boolean => one !== undefined && sameContent(one.content, content);
  const last = await lastMove(prompt, name);
  const named = await read(last && (last.version ?? (await versionBefore(prompt.id, last))));
  if (isSame(named)) return undefined;
  if (last !== undefined && findLabel(prompt.labels, name) !== undefined) {
    if (isSame(await read(await versionBefore(prompt.id, last, last.version)))) return undefined;
  }
  const anchor = await read(gate.anchor);
  if (named === undefined && isSame(anchor)) return undefined;
  const before = named ?? anchor;
  const changes = before === undefined ? [] : releaseWarnings(contractOf(before.content), contractOf(content));
  return { promptId: prompt.id, gate, candidate: { version, content }, named, anchor, changes };
}

/**
 * Asks the gate of the label, if there is one. Every writer of a label calls it.
 * @returns how the version is let in
 * @throws {ProblemError} release-not-shown
 */
export async function requireRelease(
  prompt: Prompt,
  target: ReleaseTarget,
  past: Past,
  verdicts: Verdicts,
): Promise<Release | undefined> {
  const candidacy = await candidacyOf(prompt, target, past);
  if (candidacy === undefined) return undefined;
  const gate = { ...candidacy.gate, ...(target.ofAnyAge === true && { maxAgeDays: Infinity }) };
  const { evaluations, reasons } = await verdicts.decide({ ...candidacy, gate });
  if (reasons.length === 0) {
    await verdicts.keep(evaluations);
    return { evaluations };
  }
  const { name, version, override } = target;
  if (override !== undefined) return { override };
  throw new ProblemError('release-not-shown', {
    detail: `The gate of the label "${name}" does not let version ${version} in. ${reasons.join(' ')}`,
    errors: reasons.map((detail) => ({ detail, pointer: '#/version' })),
  });
}

export function contractOf({ messages, variables, strict, tools, responseFormat }: PromptContent): PromptContract {
  return { messages, variables, strict, tools, response_format: responseFormat };
}
