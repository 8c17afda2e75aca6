import type {
  InvocationDocument,
  InvocationFilter,
  RolloutFailures,
} from '../../../accounting/invocations/invocation.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { evidence, type Stage } from './evidence.ts';
import type { Rollout, RolloutCounts, RolloutEndReason } from './canary.ts';

/** What the invocation log says about rollouts. */
export interface RolloutCounting {
  /** Failures and their evidence, with those of earlier rollouts of the same versions. */
  failures(rollout: Rollout): Promise<Pick<RolloutCounts, 'evidence' | 'stages'>>;
  /** Also the invocations. */
  count(promptId: string, rollout: Rollout): Promise<RolloutCounts>;
  /** The rollout as it ends now. @param counted if it is known already */
  end(promptId: string, rollout: Rollout, reason: RolloutEndReason, counted?: RolloutCounts): Promise<Rollout>;
}

export interface RolloutCountingDependencies {
  readonly invocations: {
    rolloutFailures(id: string, since: Date): Promise<RolloutFailures[]>;
    list(filter: InvocationFilter): Listing<InvocationDocument>;
    flush(): Promise<void>;
  };
  readonly now: () => Date;
}

/**
 * Counts in the invocation log. A record is inserted once, also after a kill, so each invocation counts once, in whatever
 * process it was. Failures have an index of their own, which is short: they are counted exactly, all others up to 10,000.
 */
export function createRolloutCounting({ invocations, now }: RolloutCountingDependencies): RolloutCounting {
  const failuresOf = ({ id, startedAt }: Rollout): Promise<RolloutFailures[]> =>
    invocations.rolloutFailures(id, startedAt);

  const count = async (promptId: string, rollout: Rollout): Promise<RolloutCounts> => {
    await invocations.flush();
    const found = await failuresOf(rollout);
    const countArm = async (arm: RolloutFailures['arm']): Promise<RolloutCounts['canaryArm']> => {
      const whole = { promptId, rollout: rollout.id, arm, rolloutOutcome: 'whole', since: rollout.startedAt } as const;
      const total = await invocations.list(whole).total();
      const failures = sumOf(found.filter((one) => one.arm === arm));
      const isMinimum = typeof total !== 'number';
      return { requests: failures + (isMinimum ? total.atLeast : total), isMinimum, failures };
    };
    const [canaryArm, stableArm] = await Promise.all([countArm('canary'), countArm('stable')]);
    return { ...weigh(rollout, found), canaryArm, stableArm };
  };

  return {
    failures: async (rollout) => weigh(rollout, await failuresOf(rollout)),
    count,
    async end(promptId, rollout, reason, counted) {
      const counts = counted ?? (await count(promptId, rollout));
      return { ...rollout, ended: { at: now(), reason, ...counts } };
    },
  };
}

function weigh({ earlier }: Rollout, found: readonly RolloutFailures[]): Pick<RolloutCounts, 'evidence' | 'stages'> {
  const byShare = new Map<number, { share: number; canary: number; stable: number }>();
  const add = ({ share, canary, stable }: Stage): void => {
    const sum = byShare.get(share) ?? { share, canary: 0, stable: 0 };
    byShare.set(share, { share, canary: sum.canary + canary, stable: sum.stable + stable });
  };
  earlier.forEach(add);
  for (const { share, arm, count } of found) add({ share, canary: 0, stable: 0, [arm]: count });
  const stages = [...byShare.values()];
  return { evidence: evidence(stages), stages };
}

function sumOf(failures: readonly RolloutFailures[]): number {
  return failures.reduce((sum, { count }) => sum + count, 0);
}
