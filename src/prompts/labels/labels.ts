import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../../base/limits/principal.ts';
import { auditEntry, type AuditedKind, type Author } from '../../access/audit/author.ts';
import { createEditQueue, type EditQueue } from '../../base/editing/edit-queue.ts';
import { changeTime } from '../../base/editing/edits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { listingOf, type Listing } from '../../base/lists/listing.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { removeOrphans } from '../prompt-deletion.ts';
import type { LabelChange, PromptStore } from '../prompt-store.ts';
import type { Prompt, PromptContent } from '../prompt.ts';
import { promptNotFound, versionNotFound, type Prompts } from '../prompts.ts';
import { releaseWarnings, type ReleaseWarning } from '../templates/release-warnings.ts';
import { contentWarnings, type ContentWarning } from '../templates/warnings.ts';
import type { RolloutCounting } from '../evaluations/rollouts/rollout-counts.ts';
import { isRunning, type RolloutEndReason } from '../evaluations/rollouts/rollout.ts';
import {
  candidacyOf,
  contractOf,
  requireRelease,
  type Candidacy,
  type Decide,
  type Past,
  type ReleaseTarget,
} from './candidacy.ts';
import { findGate, gateFields, type Gate, type NewGate, type Release } from './gate.ts';
import type { LabelMoveStore } from './label-store.ts';
import { findLabel, labelList, type Label, type LabelDeletion, type LabelMove } from './label.ts';

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

/** A gate with the id of its prompt. */
export interface FoundGate {
  readonly promptId: string;
  readonly gate: Gate;
}

/** The same for a gate. */
export type GatePrecondition = (present: FoundGate | undefined) => void;

/** What a new gate refers to. @throws {ProblemError} if something of it does not exist, or does not fit together */
export type CheckGate = (
  prompt: Prompt,
  gate: NewGate,
) => Promise<Pick<Gate, 'datasetId' | 'datasetVersionId' | 'calibration'>>;

/**
 * Labels of prompts. Every method that takes a slug or id throws `prompt-not-found`.
 *
 * They are in the document of their prompt and never cached, so one compare-and-set moves a label for every process. The
 * moves are numbered, and one that leaves the prompt is archived first, so the history has every number once, also after
 * a crash. A deletion is a move, too: the last one stays in the prompt until the next write of a label.
 */
export interface Labels {
  /** The labels of a prompt by name. */
  list(slugOrId: string): Promise<Listing<Label>>;
  /** @throws {ProblemError} label-not-found */
  get(slugOrId: string, name: string): Promise<FoundLabel>;
  /**
   * Makes a label name a version: creates or moves it, unless it already names this version. A move stores what can
   * break callers, compared with the version before. It ends a rollout.
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
    ) => Promise<Partial<Pick<Label, 'version' | 'warnings' | 'rollout' | 'release'>> | undefined>,
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
  /**
   * A version before the gate of a label; undefined if it is let in freely.
   * @throws {ProblemError} gate-not-found, version-not-found
   */
  candidacy(slugOrId: string, name: string, version: number): Promise<{ gate: Gate; candidacy: Candidacy | undefined }>;
  /** The gates of a prompt by the names of their labels. */
  listGates(slugOrId: string): Promise<Listing<Gate>>;
  /** @throws {ProblemError} gate-not-found */
  getGate(slugOrId: string, name: string): Promise<FoundGate>;
  /** @throws {ProblemError} too-many-gates, edit-conflict, and what check and precondition throw */
  setGate(
    slugOrId: string,
    name: string,
    gate: NewGate,
    rules: { readonly check: CheckGate; readonly precondition: GatePrecondition },
    author: Author,
  ): Promise<FoundGate & { readonly isNew: boolean }>;
  /** @throws {ProblemError} gate-not-found, edit-conflict, and what the precondition throws */
  removeGate(slugOrId: string, name: string, precondition: GatePrecondition, author: Author): Promise<void>;
  /** Removes histories without a prompt. It walks the whole index of the history, so once a day is enough. */
  sweep(): Promise<void>;
}

export interface LabelsOptions {
  readonly prompts: Pick<Prompts, 'get' | 'getVersion'>;
  readonly store: PromptStore;
  readonly moves: LabelMoveStore;
  readonly decide: Decide;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'uuid'>;
  readonly rollouts: Pick<RolloutCounting, 'end'>;
  /** Shared with others that write to prompts. */
  readonly editQueue?: EditQueue;
}

/** Recorded as changes of the prompt: its labels, which of them somebody took responsibility for, and the changed gate. */
const audited: AuditedKind<Audited> = {
  type: 'prompt',
  show: ({ labels = [], gates = [] }) => ({
    labels: labelList.show(labels),
    overrides: Object.fromEntries(
      labels.flatMap(({ name, release }) => (release?.override === undefined ? [] : [[name, release.override]])),
    ),
    ...showRollouts(labels),
    gates: Object.fromEntries(gates.map((gate) => [gate.label, gateFields.show(gate)])),
  }),
};

/** The most labels of a prompt. */
export const maxLabels = 20;
/** The most gates of a prompt. */
const maxGates = 20;

/**
 * Creates the rules of labels.
 *
 * The labels of a prompt are in its document, so one compare-and-set moves a label, and whoever reads the prompt
 * afterwards sees it there. Each move from 1 to the last exists exactly once in the history, also after crashes and
 * races: what a write removes from the prompt is archived before, under an id that follows from label and number. The
 * last deletion stays in the prompt until the next write.
 */
export function createLabels({
  prompts,
  store,
  moves,
  decide,
  clock,
  random,
  rollouts,
  editQueue = createEditQueue(),
}: LabelsOptions): Labels {
  /** Reads the prompt, changes a label or a gate, and starts again if another writer changed the prompt in the meantime. */
  const edit = <Result>(
    slugOrId: string,
    author: Author,
    change: (prompt: Prompt) => Promise<Edit<Result>> | Edit<Result>,
  ): Promise<Result> => {
    const writeId = random.uuid();
    let id = slugOrId;
    let archived = false;
    const attempt = async (): Promise<{ readonly result: Result } | undefined> => {
      const prompt = await store.find(id);
      if (prompt === undefined || prompt.deleting) {
        // The deletion may have removed the history before this edit archived a move.
        if (archived) await moves.removeAll(id);
        throw promptNotFound(slugOrId);
      }
      id = prompt.id; // From now on the slug can move to another prompt.
      const { change: changed, replaced, result } = await change(prompt);
      if (changed === undefined) return { result };
      // The last deletion stays where it is until the next move.
      const left = changed.labels === undefined ? [] : [replaced, prompt.deletedLabel];
      for (const move of left) {
        if (move === undefined) continue;
        await moves.archive(prompt.id, move);
        archived = true;
      }
      const entry = auditEntry(author, audited, { at: clock.now(), ...beforeAndAfter(prompt, changed) });
      const isStored = await store.replaceLabels(prompt, changed, entry, writeId);
      return isStored ? { result } : undefined;
    };
    return editQueue.contend(slugOrId, attempt).then(({ result }) => result);
  };

  /** The last move of a label, also of a deleted one. */
  const lastMove = async (prompt: Prompt, name: string): Promise<LabelMove | undefined> => {
    const { id, labels, deletedLabel } = prompt;
    return findLabel(labels, name) ?? (deletedLabel?.name === name ? deletedLabel : await moves.findLast(id, name));
  };

  const contentOf = async (prompt: Prompt, version: number): Promise<PromptContent> =>
    version === prompt.version ? prompt : (await prompts.getVersion(prompt.id, version)).version.content;

  const past: Past = { contentOf, lastMove, versionBefore: moves.versionBefore };
  const gateOf = (prompt: Prompt, slugOrId: string, name: string): FoundGate => {
    const gate = findGate(prompt.gates, name);
    if (gate === undefined) throw gateNotFound(slugOrId, name);
    return { promptId: prompt.id, gate };
  };

  const numbered = (name: string, last: LabelMove | undefined, author: Author): Omit<LabelDeletion, 'rollout'> => ({
    name,
    sequence: (last?.sequence ?? 0) + 1,
    movedAt: last === undefined ? clock.now() : changeTime(last.movedAt, clock.now()),
    author: authorOf(author.principal),
  });

  /** With the end of a rollout that is in progress. */
  const nextMove = async (
    { id, name, last }: { id: string; name: string; last: LabelMove | undefined },
    author: Author,
    reason: RolloutEndReason,
  ): Promise<LabelDeletion> => ({
    ...numbered(name, last, author),
    rollout: isRunning(last?.rollout) ? await rollouts.end(id, last.rollout, reason) : undefined,
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
        if (present?.version === version && !isRunning(present.rollout)) {
          const all = [...contentWarnings(await contentOf(prompt, version)), ...present.warnings];
          return { result: { promptId, label: present, isNew: false, warnings: all } };
        }
        if (present === undefined && labels.length >= maxLabels) throw tooMany(slugOrId);
        const { content, warnings, changes } = await compare(prompt, present, { version, acceptsWarnings });
        const release = await requireRelease(prompt, { name, version, content, override }, past, decide);
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
    requireRelease: (prompt, target) => requireRelease(prompt, target, past, decide),
    async candidacy(slugOrId, name, number) {
      const { prompt, version } = await prompts.getVersion(slugOrId, number);
      const { gate } = gateOf(prompt, slugOrId, name);
      const { content } = version;
      return { gate, candidacy: await candidacyOf(prompt, { name, version: number, content }, past) };
    },
    async listGates(slugOrId) {
      const { gates = [] } = await prompts.get(slugOrId);
      const byName = gates.toSorted((one, other) => (one.label < other.label ? -1 : 1));
      return listingOf(byName, ({ label }) => ({ at: 0, id: label }));
    },
    getGate: async (slugOrId, name) => gateOf(await prompts.get(slugOrId), slugOrId, name),
    setGate: (slugOrId, name, sent, { check, precondition }, author) =>
      edit(slugOrId, author, async (prompt) => {
        const { id: promptId, gates = [] } = prompt;
        const present = findGate(gates, name);
        precondition(present && { promptId, gate: present });
        if (present === undefined && gates.length >= maxGates) throw tooManyGates(slugOrId);
        const wanted = { ...sent, ...(await check(prompt, sent)) };
        if (present !== undefined && isDeepStrictEqual({ ...present, ...wanted }, present)) {
          return { result: { promptId, gate: present, isNew: false } };
        }
        const by = { author: authorOf(author.principal), updatedAt: clock.now() };
        const gate = { ...wanted, ...by, label: name, tag: random.uuid() };
        return {
          change: { gates: [...gates.filter((one) => one !== present), gate] },
          result: { promptId, gate, isNew: present === undefined },
        };
      }),
    removeGate: (slugOrId, name, precondition, author) =>
      edit(slugOrId, author, (prompt) => {
        const found = gateOf(prompt, slugOrId, name);
        precondition(found);
        return { change: { gates: (prompt.gates ?? []).filter((one) => one !== found.gate) }, result: undefined };
      }),
    sweep: () => removeOrphans(moves, store),
  };
}

/** What an edit of labels or gates does. */
interface Edit<Result> {
  /** Nothing if left out. */
  readonly change?: LabelChange;
  /** The move that the edit replaces. */
  readonly replaced?: LabelMove | undefined;
  readonly result: Result;
}

/** A prompt before and after a change of it, for the audit log: of the gates only those that change. */
function beforeAndAfter(prompt: Prompt, change: LabelChange): Record<'before' | 'after', Audited> {
  const { id, name, labels, gates = [] } = prompt;
  const next = change.gates ?? gates;
  const without = (some: readonly Gate[], others: readonly Gate[]): Gate[] =>
    some.filter((one) => !others.includes(one));
  return {
    before: { id, name, labels, gates: without(gates, next) },
    after: { id, name, labels: change.labels ?? labels, gates: without(next, gates) },
  };
}

/** The labels with this one, which replaces one of its name. */
function withLabel(labels: readonly Label[], label: Label): Label[] {
  const others = labels.filter(({ name }) => name !== label.name);
  return [...others, label].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The shares of invocations that run other versions. Absent if there are none. */
function showRollouts(labels: readonly Label[]): object {
  const running = labels.flatMap(({ name, rollout }) =>
    isRunning(rollout) ? [[name, { version: rollout.version, share: rollout.share }] as const] : [],
  );
  return running.length === 0 ? {} : { rollouts: Object.fromEntries(running) };
}
type Audited = Pick<Prompt, 'id' | 'name' | 'labels' | 'gates'>;

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

function gateNotFound(slugOrId: string, name: string): ProblemError {
  const detail = `The label "${name}" of the prompt "${slugOrId}" has no gate.`;
  return new ProblemError('gate-not-found', { detail });
}

function tooManyGates(slugOrId: string): ProblemError {
  return new ProblemError('too-many-gates', { detail: `The prompt "${slugOrId}" already has ${maxGates} gates.` });
}

function tooMany(slugOrId: string): ProblemError {
  return new ProblemError('too-many-labels', { detail: `The prompt "${slugOrId}" already has ${maxLabels} labels.` });
}
