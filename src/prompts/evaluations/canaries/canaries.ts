import type { Logger } from 'pino';
import type { Author } from '../../../access/audit/author.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { authorOf, theService } from '../../../base/limits/principal.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Random } from '../../../base/runtime/random.ts';
import type { LabelMoveStore } from '../../labels/label-store.ts';
import type { Label } from '../../labels/label.ts';
import type { FoundLabel, LabelPrecondition, Labels, LabelTarget } from '../../labels/labels.ts';
import type { PromptStore } from '../../prompt-store.ts';
import type { Prompt } from '../../prompt.ts';
import type { ReleaseWarning } from '../../templates/release-warnings.ts';
import type { ContentWarning } from '../../templates/warnings.ts';
import { enoughEvidence, evidence, type Stage } from './evidence.ts';
import type { RolloutCounting } from './canary-counts.ts';
import {
  endReason,
  isOfInterest,
  isRunning,
  type Rollout,
  type RolloutCounts,
  type RolloutEndReason,
} from './canary.ts';

/** What a share of the invocations by a label shall run, and how long. */
export interface RolloutTarget extends Omit<LabelTarget, 'name'> {
  readonly share: number;
  readonly hours: number;
  /** Invocations of the version after which the end promotes it; undefined if it does not. */
  readonly minRequests: number | undefined;
}

/** A label with its rollout. */
export interface FoundRollout extends FoundLabel {
  readonly rollout: Rollout;
  /** Undefined if it was not counted. */
  readonly counts: RolloutCounts | undefined;
}

/** A rollout after it was set. */
export interface SetRollout extends FoundRollout {
  readonly isNew: boolean;
  readonly warnings: readonly (ContentWarning | ReleaseWarning)[];
}

/** A rollout that was ended because of its failures. */
export interface FailedRollout {
  readonly prompt: Pick<Prompt, 'id' | 'slug'>;
  readonly label: string;
  readonly rollout: Rollout & { readonly ended: NonNullable<Rollout['ended']> };
}

/**
 * Rollouts: a share of the invocations by a label runs another version, and the failures of both are compared. A rollout is
 * in its label, and each change of it is a move of the label. All but `look` and `failed` throw `prompt-not-found` and
 * `label-not-found`.
 */
export interface Rollouts {
  /** The one that runs, or ended by the last move of the label. @throws {ProblemError} rollout-not-found */
  get(slugOrId: string, name: string): Promise<FoundRollout>;
  /**
   * Starts a rollout, or changes the share and the end of the one with this version.
   * @throws {ProblemError} version-not-found, warnings-not-accepted, release-not-shown, rollout-not-possible, edit-conflict,
   *   and what the precondition throws
   */
  set(
    slugOrId: string,
    name: string,
    target: RolloutTarget,
    precondition: LabelPrecondition,
    author: Author,
  ): Promise<SetRollout>;
  /**
   * Ends the rollout. The label names the same version as before, or with `promoted` that of the rollout.
   * @throws {ProblemError} rollout-not-found, release-not-shown, edit-conflict, and what the precondition throws
   */
  end(
    slugOrId: string,
    name: string,
    reason: 'stopped' | 'promoted',
    precondition: LabelPrecondition,
    author: Author,
  ): Promise<FoundRollout>;
  /** Ends the rollouts whose version fails more often, or whose hours are over. Any process may call it at any time. */
  look(): Promise<void>;
  /** Rollouts that were ended because of their failures, until their label moves. */
  failed(): Promise<FailedRollout[]>;
}

export interface RolloutsDependencies {
  readonly labels: Pick<Labels, 'get' | 'revise' | 'compare' | 'requireRelease'>;
  readonly store: Pick<PromptStore, 'findWithRollouts'>;
  readonly moves: Pick<LabelMoveStore, 'findEnded'>;
  readonly counting: RolloutCounting;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly log: Logger;
  /** How long the invocation log is kept, in milliseconds. */
  readonly retentionMs: number;
}

const hourMs = 3_600_000;
/** Prompts whose rollouts are looked at. */
const most = 1_000;
/** Looking takes at most this part of the time, however many failures there are to count. */
const busyPart = 1 / 20;

export function createRollouts(dependencies: RolloutsDependencies): Rollouts {
  const { labels, store, moves, counting, clock, random, log, retentionMs } = dependencies;
  let restUntil = -Infinity;

  /** The failures of the last rollout of these versions. */
  const earlier = async (promptId: string, label: Label, version: number): Promise<readonly Stage[]> => {
    const { name, version: stable, rollout: last } = label;
    const isSame = last?.ended !== undefined && last.stable === stable && last.version === version;
    const ended = isSame ? last : await moves.findEnded(promptId, name, { stable, version });
    return ended?.ended?.stages ?? [];
  };

  /** What a move changes that ends a rollout. @throws {ProblemError} release-not-shown */
  const ending = async (prompt: Prompt, label: Label, ended: Rollout): Promise<Partial<Label>> => {
    if (ended.ended?.reason !== 'promoted' && ended.ended?.reason !== 'promoted-at-end') return { rollout: ended };
    const { version } = ended;
    const { content, changes } = await labels.compare(prompt, label, { version, acceptsWarnings: true });
    // A gate that was set since the start has not been asked yet.
    const release = ended.release ?? (await labels.requireRelease(prompt, { name: label.name, version, content }));
    return { rollout: ended, version, warnings: changes, release };
  };

  const lookAt = async (prompt: Prompt, name: string, rollout: Rollout): Promise<void> => {
    const isWorse = (await counting.failures(rollout)).evidence >= enoughEvidence;
    if (!isWorse && clock.now() < rollout.endsAt) return;
    let isOurs = false;
    const change = async (found: Prompt, label: Label): Promise<Partial<Label> | undefined> => {
      isOurs = false;
      // Another process was first, or somebody has extended it.
      if (!isRunning(label.rollout) || label.rollout.id !== rollout.id) return undefined;
      if (!isWorse && clock.now() < label.rollout.endsAt) return undefined;
      isOurs = true;
      const running = label.rollout;
      const counts = await counting.count(found.id, running);
      const reason = isWorse ? 'failures' : endReason(running, counts);
      const endAs = (as: RolloutEndReason): Promise<Rollout> => counting.end(found.id, running, as, counts);
      return await ending(found, label, await endAs(reason)).catch(async (error: unknown) => {
        if (!(error instanceof ProblemError) || error.type !== 'release-not-shown') throw error;
        return await ending(found, label, await endAs('time'));
      });
    };
    const { promptId, label } = await labels.revise(prompt.id, name, () => undefined, endedByService(rollout), change);
    const { ended, version } = label.rollout ?? {};
    if (!isOurs || ended === undefined) return;
    const fields = { prompt_id: promptId, label: name, rollout_id: rollout.id, version, reason: ended.reason };
    const counts = { evidence: ended.evidence, canary: ended.canaryArm, stable: ended.stableArm };
    if (isWorse) log.warn({ ...fields, ...counts }, 'a rollout was ended, because its version fails more often');
    else log.info({ ...fields, ...counts }, 'a rollout has ended');
  };

  return {
    async get(slugOrId, name) {
      const found = await labels.get(slugOrId, name);
      const { rollout } = found.label;
      if (rollout === undefined) throw notFound(slugOrId, name);
      return { ...found, rollout, counts: rollout.ended ?? (await counting.count(found.promptId, rollout)) };
    },

    async set(slugOrId, name, { share, hours, minRequests, override, ...target }, precondition, author) {
      let warnings: SetRollout['warnings'] = [];
      let isNew = false;
      const { promptId, label } = await labels.revise(slugOrId, name, precondition, author, async (prompt, present) => {
        const { version } = target;
        const { rollout } = present;
        const now = clock.now();
        const endsAt = new Date(now.getTime() + hours * hourMs);
        isNew = !isRunning(rollout);
        if (endsAt.getTime() - (isRunning(rollout) ? rollout.startedAt : now).getTime() > retentionMs) {
          throw notPossible('The invocation log, in which failures are counted, is not kept for so many hours.');
        }
        if (isRunning(rollout) && rollout.version !== version) {
          throw notPossible(`A rollout of version ${rollout.version} is in progress. End it first.`);
        }
        const compared = await labels.compare(prompt, present, target);
        warnings = [...compared.warnings, ...compared.changes];
        if (isRunning(rollout)) return { rollout: { ...rollout, share, endsAt, minRequests } };
        if (present.version === version) throw notPossible(`The label "${name}" already names version ${version}.`);
        // Once for its whole life: the end of its hours must not depend on what becomes of the evaluation meanwhile.
        const release = await labels.requireRelease(prompt, { name, version, content: compared.content, override });
        const stages = await earlier(prompt.id, present, version);
        if (evidence(stages) >= enoughEvidence) {
          throw notPossible(`An earlier rollout has shown that version ${version} fails more often.`);
        }
        return {
          rollout: {
            ...{ id: random.uuid(), stable: present.version, version, share, startedAt: now, endsAt, minRequests },
            ...{
              author: authorOf(author.principal),
              requestId: author.requestId,
              release,
              earlier: stages,
              ended: undefined,
            },
          },
        };
      });
      const { rollout } = label;
      if (rollout === undefined) throw notFound(slugOrId, name);
      return { promptId, label, rollout, isNew, warnings, counts: await counting.count(promptId, rollout) };
    },

    async end(slugOrId, name, reason, precondition, author) {
      const { promptId, label } = await labels.revise(slugOrId, name, precondition, author, async (prompt, present) => {
        if (!isRunning(present.rollout)) throw notFound(slugOrId, name);
        return await ending(prompt, present, await counting.end(prompt.id, present.rollout, reason));
      });
      const { rollout } = label;
      if (rollout === undefined) throw notFound(slugOrId, name);
      return { promptId, label, rollout, counts: rollout.ended };
    },

    async look() {
      const began = clock.monotonic();
      if (began < restUntil) return;
      for (const prompt of await store.findWithRollouts(most)) {
        for (const { name, rollout } of prompt.labels ?? []) {
          if (!isRunning(rollout)) continue;
          try {
            await lookAt(prompt, name, rollout);
          } catch (error) {
            // Deleted meanwhile, or under constant change: the next look goes on.
            if (!(error instanceof ProblemError) || error.status >= 500) throw error;
          }
        }
      }
      const ended = clock.monotonic();
      restUntil = ended + (ended - began) * (1 / busyPart - 1);
    },

    async failed() {
      return (await store.findWithRollouts(most)).flatMap(({ id, slug, labels: all = [] }) =>
        all.flatMap(({ name: label, rollout }) =>
          rollout?.ended !== undefined && isOfInterest(rollout)
            ? [{ prompt: { id, slug }, label, rollout: { ...rollout, ended: rollout.ended } }]
            : [],
        ),
      );
    },
  };
}

/** The service ends a rollout by itself. The record has the request that started it. */
function endedByService({ requestId }: Rollout): Author {
  return { operationId: 'setRollout', requestId, traceparent: undefined, principal: theService, caller: {} };
}

function notFound(slugOrId: string, name: string): ProblemError {
  return new ProblemError('rollout-not-found', {
    detail: `The label "${name}" of the prompt "${slugOrId}" has no rollout.`,
  });
}

function notPossible(detail: string): ProblemError {
  return new ProblemError('rollout-not-possible', { detail });
}
