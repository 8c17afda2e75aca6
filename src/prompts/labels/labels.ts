import { authorOf } from '../../base/limits/principal.ts';
import type { Author } from '../../access/audit/author.ts';
import { changeTime } from '../../base/editing/edits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { listingOf, type Listing } from '../../base/lists/listing.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { removeOrphans } from '../prompt-deletion.ts';
import type { PromptStore } from '../prompt-store.ts';
import type { Prompt, PromptContent } from '../prompt.ts';
import { versionNotFound, type Prompts } from '../prompts.ts';
import { releaseWarnings, type ReleaseWarning } from '../templates/release-warnings.ts';
import { contentWarnings, type ContentWarning } from '../templates/warnings.ts';
import type { CanaryCounting } from '../evaluations/canaries/canary-counts.ts';
import { isRunning, type CanaryEndReason } from '../evaluations/canaries/canary.ts';
import { contractOf, requireRelease, type ReleaseTarget, type Verdicts } from './candidacy.ts';
import type { Release } from './gate.ts';
import type { EditLabels } from './label-edits.ts';
import type { LabelMoveStore } from './label-store.ts';
import { findLabel, type Label, type LabelDeletion, type LabelMove } from './label.ts';
import type { Past } from './past.ts';

/** A label with the id of its prompt. */
export interface FoundLabel {
  readonly promptId: string;
  readonly label: Label;
}

/** What a label shall name. */
export interface LabelTarget {
  readonly name: string;
  readonly version: number;
  /** Whether the version may have text that looks like a placeholder and is none. */
  readonly acceptsWarnings: boolean;
  /** Why it shall happen whatever its gate says. */
  readonly override?: string | undefined;
}

/** A label after it was set. */
export interface SetLabel extends FoundLabel {
  readonly isNew: boolean;
  /** Of the content of the version, then of the move to it. */
  readonly warnings: readonly (ContentWarning | ReleaseWarning)[];
}

/**
 * Checks whether a label is as the caller expects before it is created, moved or deleted.
 * @throws {ProblemError} precondition-required, precondition-failed
 */
export type LabelPrecondition = (present: FoundLabel | undefined) => void;

/**
 * Labels of prompts. Every method that takes a slug or id throws `prompt-not-found`.
 *
 * They are in the document of their prompt and never cached: see `label-edits.ts`. The moves are numbered. A deletion is a
 * move, too.
 */
export interface Labels {
  /** The labels of a prompt by name. */
  list(slugOrId: string): Promise<Listing<Label>>;
  /** @throws {ProblemError} label-not-found */
  get(slugOrId: string, name: string): Promise<FoundLabel>;
  /**
   * Makes a label name a version: creates or moves it, unless it already names this version. A move stores what can
   * break callers, compared with the version before. It ends a canary.
   * @throws {ProblemError} version-not-found, too-many-labels, warnings-not-accepted, release-not-shown, edit-conflict,
   * and what the precondition throws
   */
  set(slugOrId: string, target: LabelTarget, precondition: LabelPrecondition, author: Author): Promise<SetLabel>;
  /**
   * Changes a label that exists, as a move.
   * @param change returns what it changes; undefined for nothing
   * @throws {ProblemError} label-not-found, edit-conflict, and what the precondition and the change throw
   */
  revise(
    slugOrId: string,
    name: string,
    precondition: LabelPrecondition,
    author: Author,
    change: (
      prompt: Prompt,
      label: Label,
    ) => Promise<Partial<Pick<Label, 'version' | 'warnings' | 'canary' | 'release'>> | undefined>,
  ): Promise<FoundLabel>;
  /**
   * What a version changes for callers of a label, before it becomes what the label names.
   * @throws {ProblemError} version-not-found, warnings-not-accepted
   */
  compare(
    prompt: Prompt,
    label: Label | undefined,
    target: Pick<LabelTarget, 'version' | 'acceptsWarnings'>,
  ): Promise<{
    readonly content: PromptContent;
    readonly warnings: readonly ContentWarning[];
    readonly changes: ReleaseWarning[];
  }>;
  /** @throws {ProblemError} label-not-found, edit-conflict, and what the precondition throws */
  remove(slugOrId: string, name: string, precondition: LabelPrecondition, author: Author): Promise<void>;
  /**
   * The moves of a label, the latest first, also of a deleted one.
   * @throws {ProblemError} label-not-found if there was never such a label
   */
  listMoves(slugOrId: string, name: string): Promise<Listing<LabelMove>>;
  /**
   * Whether the gate of a label lets a version in. Every writer of labels asks, `set` by itself.
   * @returns how; undefined if there is no gate, or if it always lets the version in
   * @throws {ProblemError} release-not-shown
   */
  requireRelease(prompt: Prompt, target: ReleaseTarget): Promise<Release | undefined>;
  /** Removes histories without a prompt. It walks the whole index of the history, so once a day is enough. */
  sweep(): Promise<void>;
}

export interface LabelsOptions {
  readonly prompts: Pick<Prompts, 'get' | 'getVersion'>;
  readonly store: PromptStore;
  readonly moves: LabelMoveStore;
  readonly edit: EditLabels;
  readonly past: Past;
  readonly verdicts: Verdicts;
  readonly clock: Pick<Clock, 'now'>;
  readonly canaries: Pick<CanaryCounting, 'end'>;
}

/** The most labels of a prompt. */
export const maxLabels = 20;

export function createLabels({ prompts, store, moves, edit, past, verdicts, clock, canaries }: LabelsOptions): Labels {
  const { contentOf, lastMove } = past;
  const numbered = (name: string, last: LabelMove | undefined, author: Author): Omit<LabelDeletion, 'canary'> => ({
    name,
    sequence: (last?.sequence ?? 0) + 1,
    movedAt: last === undefined ? clock.now() : changeTime(last.movedAt, clock.now()),
    author: authorOf(author.principal),
  });

  /** With the end of a canary that is in progress. */
  const nextMove = async (
    { id, name, last }: { id: string; name: string; last: LabelMove | undefined },
    author: Author,
    reason: CanaryEndReason,
  ): Promise<LabelDeletion> => ({
    ...numbered(name, last, author),
    canary: isRunning(last?.canary) ? await canaries.end(id, last.canary, reason) : undefined,
  });

  const compare: Labels['compare'] = async (prompt, label, { version, acceptsWarnings }) => {
    if (version > prompt.version) throw versionNotFound(prompt.slug, version);
    const content = await contentOf(prompt, version);
    const warnings = contentWarnings(content);
    if (!acceptsWarnings) requireNone(warnings, prompt.slug, version);
    const former = label && (await contentOf(prompt, label.version));
    const changes = former === undefined ? [] : releaseWarnings(contractOf(former), contractOf(content));
    return { content, warnings, changes };
  };

  return {
    compare,
    async list(slugOrId) {
      const { labels = [] } = await prompts.get(slugOrId);
      return listingOf(labels, ({ name }) => ({ at: 0, id: name }));
    },
    async get(slugOrId, name) {
      const { id: promptId, labels } = await prompts.get(slugOrId);
      const label = findLabel(labels, name);
      if (label === undefined) throw notFound(slugOrId, name);
      return { promptId, label };
    },
    set: (slugOrId, { name, version, acceptsWarnings, override }, precondition, author) =>
      edit<SetLabel>(slugOrId, author, async (prompt) => {
        if (version > prompt.version) throw versionNotFound(slugOrId, version);
        const { id: promptId, labels = [] } = prompt;
        const present = findLabel(labels, name);
        precondition(present && { promptId, label: present });
        if (present?.version === version && !isRunning(present.canary)) {
          const all = [...contentWarnings(await contentOf(prompt, version)), ...present.warnings];
          return { result: { promptId, label: present, isNew: false, warnings: all } };
        }
        if (present === undefined && labels.length >= maxLabels) throw tooMany(slugOrId);
        const { content, warnings, changes } = await compare(prompt, present, { version, acceptsWarnings });
        const release = await requireRelease(prompt, { name, version, content, override }, past, verdicts);
        const last = await lastMove(prompt, name);
        const move = await nextMove({ id: promptId, name, last }, author, 'label-moved');
        const label = { ...move, version, warnings: changes, release };
        return {
          change: { labels: withLabel(labels, label), deletedLabel: undefined },
          replaced: present,
          result: { promptId, label, isNew: present === undefined, warnings: [...warnings, ...changes] },
        };
      }),
    revise: (slugOrId, name, precondition, author, change) =>
      edit<FoundLabel>(slugOrId, author, async (prompt) => {
        const { id: promptId, labels = [] } = prompt;
        const present = findLabel(labels, name);
        if (present === undefined) throw notFound(slugOrId, name);
        precondition({ promptId, label: present });
        const changes = await change(prompt, present);
        if (changes === undefined) return { result: { promptId, label: present } };
        const label = { ...present, ...numbered(name, present, author), warnings: [], ...changes };
        const next = { labels: withLabel(labels, label), deletedLabel: undefined };
        return { change: next, replaced: present, result: { promptId, label } };
      }),
    remove: (slugOrId, name, precondition, author) =>
      edit(slugOrId, author, async ({ id: promptId, labels = [] }) => {
        const present = findLabel(labels, name);
        if (present === undefined) throw notFound(slugOrId, name);
        precondition({ promptId, label: present });
        return {
          change: {
            labels: labels.filter((one) => one !== present),
            deletedLabel: await nextMove({ id: promptId, name, last: present }, author, 'label-deleted'),
          },
          replaced: present,
          result: undefined,
        };
      }),
    async listMoves(slugOrId, name) {
      const prompt = await prompts.get(slugOrId);
      const last = await lastMove(prompt, name);
      if (last === undefined) throw notFound(slugOrId, name);
      return moves.list(prompt.id, last);
    },
    requireRelease: (prompt, target) => requireRelease(prompt, target, past, verdicts),
    sweep: () => removeOrphans(moves, store),
  };
}

/** The labels with this one, which replaces one of its name. */
function withLabel(labels: readonly Label[], label: Label): Label[] {
  const others = labels.filter(({ name }) => name !== label.name);
  return [...others, label].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** @throws {ProblemError} warnings-not-accepted if a placeholder would be sent as text */
function requireNone(warnings: readonly ContentWarning[], slugOrId: string, version: number): void {
  const texts = warnings.filter(({ code }) => code === 'not-a-placeholder');
  if (texts.length === 0) return;
  throw new ProblemError('warnings-not-accepted', {
    detail: `Version ${version} of the prompt "${slugOrId}" has text that looks like a placeholder and is none.`,
    errors: texts.map(({ detail, pointer: place }) => ({
      detail: `names a version where ${place} has text: ${detail}`,
      pointer: '#/version',
    })),
  });
}

function notFound(slugOrId: string, name: string): ProblemError {
  return new ProblemError('label-not-found', { detail: `The prompt "${slugOrId}" has no label "${name}".` });
}

function tooMany(slugOrId: string): ProblemError {
  return new ProblemError('too-many-labels', { detail: `The prompt "${slugOrId}" already has ${maxLabels} labels.` });
}
