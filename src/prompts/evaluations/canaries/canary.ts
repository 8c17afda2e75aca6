import type { components } from '../../../../generated/types.ts';
import type { InvocationDocument } from '../../../accounting/invocations/invocation.ts';
import { author } from '../../../base/fields/author.ts';
import {
  flag,
  integer,
  list,
  moment,
  object,
  optional,
  same,
  storedAs,
  text,
  type ValueOf,
} from '../../../base/fields/kinds.ts';
import type { Random } from '../../../base/runtime/random.ts';
import { defined } from '../../../base/runtime/objects.ts';
import { copyRelease, release } from '../../labels/gate.ts';
import { enoughEvidence, excludedRatio } from './evidence.ts';

type Shown = components['schemas']['Canary'];

/** Why a canary ended: `failures` by itself, `promoted-at-end` and `time` at the end of its hours, else by a request. */
export type CanaryEndReason = NonNullable<Shown['ended']>['reason'] &
  ('failures' | 'promoted-at-end' | 'time' | 'promoted' | 'stopped' | 'label-moved' | 'label-deleted');

const number = same<number>();
/** Failures by share, those of earlier canaries of the same versions, too. */
const stages = list(object({ share: number, canary: integer, stable: integer }));
const arm = object({ requests: integer, isMinimum: flag, failures: integer });
const counts = { evidence: number, canaryArm: arm, stableArm: arm, stages };
const end = object({ at: moment, reason: same<CanaryEndReason>(), ...counts });

const canary = object({
  /** UUID. */
  id: text,
  /** The version that the label named when it began. */
  stable: integer,
  /** The version that a share of the invocations runs. */
  version: integer,
  share: number,
  startedAt: moment,
  endsAt: moment,
  /** Invocations of the version that promote it at the end; undefined if nothing does. */
  minRequests: optional(integer),
  /** Who started it, by which request. The record of an end by the service has that request, too. */
  author,
  requestId: text,
  /** How the gate of the label let the version in. */
  release,
  /** What the gate asked then; undefined if there was none, and where an earlier release stored the canary. */
  asked: optional(text),
  earlier: stages,
  ended: optional(end),
});

/** The canary that a move of a label starts, changes or ends; undefined for other moves. */
export const canaryOfMove = storedAs('rollout', optional(canary));

export type Canary = ValueOf<typeof canary>;
/** What has been counted of a canary. */
export type CanaryCounts = Omit<ValueOf<typeof end>, 'at' | 'reason'>;
/** Which version an invocation runs. */
export type Draw = Omit<NonNullable<InvocationDocument['rollout']>, 'outcome'>;

export function isRunning(of: Canary | undefined): of is Canary & { readonly ended: undefined } {
  return of !== undefined && of.ended === undefined;
}

/** Whether it is ended by itself some time, or was because of its failures. */
export function isOfInterest(of: Canary | undefined): boolean {
  return isRunning(of) || of?.ended?.reason === 'failures';
}

/** Decides for one invocation. @returns undefined if the canary has ended, also if nobody has noticed yet */
export function draw(of: Canary, now: Date, random: Pick<Random, 'fraction'>): Draw | undefined {
  if (!isRunning(of) || now >= of.endsAt) return undefined;
  const { id, share } = of;
  return { id, share, arm: random.fraction() < share ? 'canary' : 'stable' };
}

/** What happens at the end of its hours, by what was counted. */
export function endReason({ minRequests }: Canary, { canaryArm }: CanaryCounts): CanaryEndReason {
  return minRequests !== undefined && canaryArm.requests >= minRequests ? 'promoted-at-end' : 'time';
}

/** @param current what was counted of one that runs; left out where it is not known */
export function showCanary(of: Canary, current: CanaryCounts | undefined = of.ended): Shown {
  const { ended, minRequests } = of;
  return {
    id: of.id,
    stable_version: of.stable,
    version: of.version,
    share: of.share,
    started_at: of.startedAt.toISOString(),
    ends_at: of.endsAt.toISOString(),
    author: of.author,
    ...(of.release !== undefined && { gate: copyRelease(of.release) }),
    ...(minRequests !== undefined && { promote: { min_requests: minRequests } }),
    ...(ended !== undefined && { ended: { at: ended.at.toISOString(), reason: ended.reason } }),
    ...(current !== undefined && {
      stable: showArm(current.stableArm),
      canary: showArm(current.canaryArm),
      evidence: Math.min(current.evidence, 1e12),
      threshold: enoughEvidence,
      ...defined({ excluded_ratio: excludedRatio(current.stages) }),
      ...(ended === undefined && { at_end: endReason(of, current) === 'time' ? 'ended' : 'promoted' }),
    }),
  };
}

function showArm({ requests, isMinimum, failures }: CanaryCounts['canaryArm']): NonNullable<Shown['canary']> {
  return { requests, ...(isMinimum && { requests_is_minimum: true }), failures };
}
