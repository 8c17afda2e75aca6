import type { Logger } from 'pino';
import { doForEach } from '../../../base/errors/outage.ts';
import type { Author } from '../../../access/audit/author.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { authorOf, theService } from '../../../base/limits/principal.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Random } from '../../../base/runtime/random.ts';
import type { ReleaseTarget } from '../../labels/candidacy.ts';
import { askedBy, findGate } from '../../labels/gate.ts';
import type { LabelMoveStore } from '../../labels/label-store.ts';
import type { Label } from '../../labels/label.ts';
import type { FoundLabel, LabelPrecondition, Labels, LabelTarget } from '../../labels/labels.ts';
import type { PromptStore } from '../../prompt-store.ts';
import type { Prompt } from '../../prompt.ts';
import type { ReleaseWarning } from '../../templates/release-warnings.ts';
import type { ContentWarning } from '../../templates/warnings.ts';
import { enoughEvidence, evidence, type Stage } from './evidence.ts';
import type { CanaryCounting } from './canary-counts.ts';
import { endReason, isOfInterest, isRunning, type Canary, type CanaryCounts, type CanaryEndReason } from './canary.ts';

/** What a share of the invocations by a label shall run, and how long. */
export interface CanaryTarget extends Omit<LabelTarget, 'name'> {
  readonly share: number;
  readonly hours: number;
  /** Invocations of the version after which the end promotes it; undefined if it does not. */
  readonly minRequests: number | undefined;
}

/** A label with its canary. */
export interface FoundCanary extends FoundLabel {
  readonly canary: Canary;
  /** Undefined if it was not counted. */
  readonly counts: CanaryCounts | undefined;
}

/** A canary after it was set. */
export interface SetCanary extends FoundCanary {
  readonly isNew: boolean;
  readonly warnings: readonly (ContentWarning | ReleaseWarning)[];
}

/** A canary that was ended because of its failures. */
export interface FailedCanary {
  readonly prompt: Pick<Prompt, 'id' | 'slug'>;
  readonly label: string;
  readonly canary: Canary & { readonly ended: NonNullable<Canary['ended']> };
}

/**
 * Canaries: a share of the invocations by a label runs another version, and the failures of both are compared. A canary is
 * in its label, and each change of it is a move of the label. All but `look` and `failed` throw `prompt-not-found` and
 * `label-not-found`.
 */
export interface Canaries {
  /** The one that runs, or ended by the last move of the label. @throws {ProblemError} canary-not-found */
  get(slugOrId: string, name: string): Promise<FoundCanary>;
  /**
   * Starts a canary, or changes the share and the end of the one with this version.
   * @throws {ProblemError} version-not-found, warnings-not-accepted, release-not-shown, canary-not-possible, edit-conflict,
   *   and what the precondition throws
   */
  set(
    slugOrId: string,
    name: string,
    target: CanaryTarget,
    precondition: LabelPrecondition,
    author: Author,
  ): Promise<SetCanary>;
  /**
   * Ends the canary. The label names the same version as before, or with `promoted` that of the canary.
   * @throws {ProblemError} canary-not-found, release-not-shown, edit-conflict, and what the precondition throws
   */
  end(
    slugOrId: string,
    name: string,
    reason: 'stopped' | 'promoted',
    precondition: LabelPrecondition,
    author: Author,
  ): Promise<FoundCanary>;
  /** Ends the canaries whose version fails more often, or whose hours are over. Any process may call it at any time. */
  look(): Promise<void>;
  /** Canaries that were ended because of their failures, until their label moves. */
  failed(): Promise<FailedCanary[]>;
}

export interface CanariesDependencies {
  readonly labels: Pick<Labels, 'get' | 'revise' | 'compare' | 'requireRelease'>;
  readonly store: Pick<PromptStore, 'findWithCanaries'>;
  readonly moves: Pick<LabelMoveStore, 'findEnded'>;
  readonly counting: CanaryCounting;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly log: Logger;
  /** How long the invocation log is kept, in milliseconds. */
  readonly retentionMs: number;
}

const hourMs = 3_600_000;
/** Prompts whose canaries are looked at. */
const most = 1_000;
/** Looking takes at most this part of the time, however many failures there are to count. */
const busyPart = 1 / 20;

export function createCanaries(dependencies: CanariesDependencies): Canaries {
  const { labels, store, moves, counting, clock, random, log, retentionMs } = dependencies;
  let restUntil = -Infinity;

  /** The failures of the last canary of these versions. */
  const earlier = async (promptId: string, label: Label, version: number): Promise<readonly Stage[]> => {
    const { name, version: stable, canary: last } = label;
    const isSame = last?.ended !== undefined && last.stable === stable && last.version === version;
    const ended = isSame ? last : await moves.findEnded(promptId, name, { stable, version });
    return ended?.ended?.stages ?? [];
  };

  /**
   * Asks the gate of the label before a canary starts; again before it is changed or promoted, if the gate asks something
   * else by then. A release, and above all an override, is one by the gate that was asked.
   * @throws {ProblemError} release-not-shown
   */
  const ask = async (
    prompt: Prompt,
    target: ReleaseTarget,
    running: Canary | undefined,
  ): Promise<Pick<Canary, 'release' | 'asked'>> => {
    const asked = askedBy(findGate(prompt.gates, target.name));
    if (running !== undefined && asked === running.asked) return { release: running.release, asked };
    return { release: await labels.requireRelease(prompt, { ...target, ofAnyAge: running !== undefined }), asked };
  };

  /** What a move changes that ends a canary. @throws {ProblemError} release-not-shown */
  const ending = async (prompt: Prompt, label: Label, ended: Canary): Promise<Partial<Label>> => {
    if (ended.ended?.reason !== 'promoted' && ended.ended?.reason !== 'promoted-at-end') return { canary: ended };
    const { version } = ended;
    const { content, changes } = await labels.compare(prompt, label, { version, acceptsWarnings: true });
    const { release } = await ask(prompt, { name: label.name, version, content }, ended);
    return { canary: ended, version, warnings: changes, release };
  };

  const lookAt = async (prompt: Prompt, name: string, canary: Canary): Promise<void> => {
    const isWorse = (await counting.failures(canary)).evidence >= enoughEvidence;
    if (!isWorse && clock.now() < canary.endsAt) return;
    let isOurs = false;
    const change = async (found: Prompt, label: Label): Promise<Partial<Label> | undefined> => {
      isOurs = false;
      // Another process was first, or somebody has extended it.
      if (!isRunning(label.canary) || label.canary.id !== canary.id) return undefined;
      if (!isWorse && clock.now() < label.canary.endsAt) return undefined;
      isOurs = true;
      const running = label.canary;
      const counts = await counting.count(found.id, running);
      const reason = isWorse ? 'failures' : endReason(running, counts);
      const endAs = (as: CanaryEndReason): Promise<Canary> => counting.end(found.id, running, as, counts);
      return await ending(found, label, await endAs(reason)).catch(async (error: unknown) => {
        if (!(error instanceof ProblemError) || error.type !== 'release-not-shown') throw error;
        return await ending(found, label, await endAs('time'));
      });
    };
    const { promptId, label } = await labels.revise(prompt.id, name, () => undefined, endedByService(canary), change);
    const { ended, version } = label.canary ?? {};
    if (!isOurs || ended === undefined) return;
    const fields = { prompt_id: promptId, label: name, canary_id: canary.id, version, reason: ended.reason };
    const counts = { evidence: ended.evidence, canary: ended.canaryArm, stable: ended.stableArm };
    if (isWorse) log.warn({ ...fields, ...counts }, 'a canary was ended, because its version fails more often');
    else log.info({ ...fields, ...counts }, 'a canary has ended');
  };

  return {
    async get(slugOrId, name) {
      const found = await labels.get(slugOrId, name);
      const { canary } = found.label;
      if (canary === undefined) throw notFound(slugOrId, name);
      return { ...found, canary, counts: canary.ended ?? (await counting.count(found.promptId, canary)) };
    },

    async set(slugOrId, name, { share, hours, minRequests, override, ...target }, precondition, author) {
      let warnings: SetCanary['warnings'] = [];
      let isNew = false;
      const { promptId, label } = await labels.revise(slugOrId, name, precondition, author, async (prompt, present) => {
        const { version } = target;
        const { canary } = present;
        const now = clock.now();
        const endsAt = new Date(now.getTime() + hours * hourMs);
        isNew = !isRunning(canary);
        if (endsAt.getTime() - (isRunning(canary) ? canary.startedAt : now).getTime() > retentionMs) {
          throw notPossible('The invocation log, in which failures are counted, is not kept for so many hours.');
        }
        if (isRunning(canary) && canary.version !== version) {
          throw notPossible(`A canary of version ${canary.version} is in progress. End it first.`);
        }
        const compared = await labels.compare(prompt, present, target);
        warnings = [...compared.warnings, ...compared.changes];
        const asking = { name, version, content: compared.content, override };
        if (isRunning(canary)) {
          return { canary: { ...canary, share, endsAt, minRequests, ...(await ask(prompt, asking, canary)) } };
        }
        if (present.version === version) throw notPossible(`The label "${name}" already names version ${version}.`);
        const released = await ask(prompt, asking, undefined);
        const stages = await earlier(prompt.id, present, version);
        if (evidence(stages) >= enoughEvidence) {
          throw notPossible(`An earlier canary has shown that version ${version} fails more often.`);
        }
        return {
          canary: {
            ...{ id: random.uuid(), stable: present.version, version, share, startedAt: now, endsAt, minRequests },
            ...{ author: authorOf(author.principal), requestId: author.requestId, ...released },
            ...{ earlier: stages, ended: undefined },
          },
        };
      });
      const { canary } = label;
      if (canary === undefined) throw notFound(slugOrId, name);
      return { promptId, label, canary, isNew, warnings, counts: await counting.count(promptId, canary) };
    },

    async end(slugOrId, name, reason, precondition, author) {
      const { promptId, label } = await labels.revise(slugOrId, name, precondition, author, async (prompt, present) => {
        if (!isRunning(present.canary)) throw notFound(slugOrId, name);
        return await ending(prompt, present, await counting.end(prompt.id, present.canary, reason));
      });
      const { canary } = label;
      if (canary === undefined) throw notFound(slugOrId, name);
      return { promptId, label, canary, counts: canary.ended };
    },

    async look() {
      const began = clock.monotonic();
      if (began < restUntil) return;
      const found = await store.findWithCanaries(most);
      const running = found.flatMap((prompt) =>
        (prompt.labels ?? []).flatMap(({ name, canary }) =>
          isRunning(canary) ? [{ id: canary.id, prompt, name, canary }] : [],
        ),
      );
      await doForEach(running, async ({ prompt, name, canary }) => {
        try {
          await lookAt(prompt, name, canary);
        } catch (error) {
          // Deleted meanwhile, or under constant change: the next look goes on.
          if (!(error instanceof ProblemError) || error.status >= 500) throw error;
        }
      });
      const ended = clock.monotonic();
      restUntil = ended + (ended - began) * (1 / busyPart - 1);
    },

    async failed() {
      return (await store.findWithCanaries(most)).flatMap(({ id, slug, labels: all = [] }) =>
        all.flatMap(({ name: label, canary }) =>
          canary?.ended !== undefined && isOfInterest(canary)
            ? [{ prompt: { id, slug }, label, canary: { ...canary, ended: canary.ended } }]
            : [],
        ),
      );
    },
  };
}

/** The service ends a canary by itself. The record has the request that started it. */
function endedByService({ requestId }: Canary): Author {
  return { operationId: 'setCanary', requestId, traceparent: undefined, principal: theService, caller: {} };
}

function notFound(slugOrId: string, name: string): ProblemError {
  return new ProblemError('canary-not-found', {
    detail: `The label "${name}" of the prompt "${slugOrId}" has no canary.`,
  });
}

function notPossible(detail: string): ProblemError {
  return new ProblemError('canary-not-possible', { detail });
}
