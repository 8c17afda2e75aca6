import { auditEntry, type AuditedKind, type Author } from '../../access/audit/author.ts';
import { createEditQueue, type EditQueue } from '../../base/editing/edit-queue.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { promptLabelMoved, type MovedLabel } from '../../webhooks/events/announcements.ts';
import type { Relay } from '../../webhooks/events/outbox.ts';
import { isRunning } from '../evaluations/canaries/canary.ts';
import type { LabelChange, PromptStore } from '../prompt-store.ts';
import type { Prompt } from '../prompt.ts';
import { makeRoomFor, promptNotFound } from '../prompts.ts';
import { gateFields, type Gate } from './gate.ts';
import type { LabelMoveStore } from './label-store.ts';
import { findLabel, labelList, type Label, type LabelMove } from './label.ts';

/** What an edit of labels or gates does. */
export interface Edit<Result> {
  /** Nothing if left out. */
  readonly change?: LabelChange;
  /** The move that the edit replaces. */
  readonly replaced?: LabelMove | undefined;
  readonly result: Result;
}

/**
 * Changes labels or gates of a prompt.
 * @throws {ProblemError} prompt-not-found, edit-conflict, and what the change throws
 */
export type EditLabels = <Result>(
  slugOrId: string,
  author: Author,
  change: (prompt: Prompt) => Promise<Edit<Result>> | Edit<Result>,
) => Promise<Result>;

export interface LabelEditsOptions {
  readonly store: PromptStore;
  readonly moves: LabelMoveStore;
  readonly relay: Relay;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'uuid'>;
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
    ...showCanaries(labels),
    gates: Object.fromEntries(gates.map((gate) => [gate.label, gateFields.show(gate)])),
  }),
};

/**
 * Labels and gates of a prompt are in its document, so one compare-and-set changes them, and whoever reads the prompt
 * afterwards sees them there. Each move from 1 to the last exists exactly once in the history, also after crashes and
 * races: what a write removes from the prompt is archived before, under an id that follows from label and number. The
 * last deletion stays in the prompt until the next write. The same write announces the move.
 */
export function createLabelEdits({
  store,
  moves,
  relay,
  clock,
  random,
  editQueue = createEditQueue(),
}: LabelEditsOptions): EditLabels {
  /** Reads the prompt, changes a label or a gate, and starts again if another writer changed the prompt in the meantime. */
  return <Result>(
    slugOrId: string,
    author: Author,
    change: (prompt: Prompt) => Promise<Edit<Result>> | Edit<Result>,
  ): Promise<Result> => {
    const [writeId, eventId] = [random.uuid(), random.uuid()];
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
      const move = moveOf(prompt, changed);
      const { traceparent } = author;
      const events =
        move === undefined
          ? []
          : [promptLabelMoved(toMovedLabel(prompt, move, replaced), { eventId, at: move.movedAt, traceparent })];
      if (events.length > 0) await makeRoomFor(prompt, relay, store);
      // The last deletion stays where it is until the next move.
      const left = changed.labels === undefined ? [] : [replaced, prompt.deletedLabel];
      for (const move of left) {
        if (move === undefined) continue;
        await moves.archive(prompt.id, move);
        archived = true;
      }
      const entry = auditEntry(author, audited, { at: clock.now(), ...beforeAndAfter(prompt, changed) });
      if (!(await store.replaceLabels(prompt, changed, events, entry, writeId))) return undefined;
      if (events.length > 0) relay.nudge('prompts', prompt.id, events);
      return { result };
    };
    return editQueue.contend(slugOrId, attempt).then(({ result }) => result);
  };
}

/** The move that a change makes. @returns undefined if it changes no label */
function moveOf(
  { labels: before }: Pick<Prompt, 'labels'>,
  { labels, deletedLabel }: LabelChange,
): LabelMove | undefined {
  return deletedLabel ?? labels?.find(({ name, sequence }) => findLabel(before, name)?.sequence !== sequence);
}

function toMovedLabel({ id, slug }: Prompt, move: LabelMove, replaced: LabelMove | undefined): MovedLabel {
  const { name: label, sequence, version: to, canary, author } = move;
  const cause = causeOf(move, replaced);
  const canaryVersion = cause.startsWith('canary') ? canary?.version : undefined;
  return { promptId: id, slug, label, sequence, from: replaced?.version, to, cause, canaryVersion, author };
}

function causeOf({ version, canary }: LabelMove, replaced: LabelMove | undefined): string {
  if (version === undefined) return 'deleted';
  if (canary === undefined || canary.ended?.reason === 'label-moved') return 'moved';
  if (canary.ended !== undefined) return `canary-${canary.ended.reason}`;
  return isRunning(replaced?.canary) ? 'canary-changed' : 'canary-started';
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

/** The shares of invocations that run other versions. Absent if there are none. */
function showCanaries(labels: readonly Label[]): object {
  const running = labels.flatMap(({ name, canary }) =>
    isRunning(canary) ? [[name, { version: canary.version, share: canary.share }] as const] : [],
  );
  return running.length === 0 ? {} : { canaries: Object.fromEntries(running) };
}
type Audited = Pick<Prompt, 'id' | 'name' | 'labels' | 'gates'>;
