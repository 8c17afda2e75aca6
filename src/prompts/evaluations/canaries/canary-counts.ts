import type {
  InvocationDocument,
  InvocationFilter,
  CanaryFailures,
} from '../../../accounting/invocations/invocation.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import { evidence, type Stage } from './evidence.ts';
import type { Canary, CanaryCounts, CanaryEndReason } from './canary.ts';

/** What the invocation log says about canaries. */
export interface CanaryCounting {
  /** Failures and their evidence, with those of earlier canaries of the same versions. */
  failures(canary: Canary): Promise<Pick<CanaryCounts, 'evidence' | 'stages'>>;
  /** Also the invocations. */
  count(promptId: string, canary: Canary): Promise<CanaryCounts>;
  /** The canary as it ends now. @param counted if it is known already */
  end(promptId: string, canary: Canary, reason: CanaryEndReason, counted?: CanaryCounts): Promise<Canary>;
}

export interface CanaryCountingDependencies {
  readonly invocations: {
    canaryFailures(id: string, since: Date): Promise<CanaryFailures[]>;
    list(filter: InvocationFilter): Listing<InvocationDocument>;
    flush(): Promise<void>;
  };
  readonly now: () => Date;
}

/**
 * Counts in the invocation log. A record is inserted once, also after a kill, so each invocation counts once, in whatever
 * process it was. Failures have an index of their own, which is short: they are counted exactly, all others up to 10,000.
 */
export function createCanaryCounting({ invocations, now }: CanaryCountingDependencies): CanaryCounting {
  const failuresOf = ({ id, startedAt }: Canary): Promise<CanaryFailures[]> =>
    invocations.canaryFailures(id, startedAt);

  const count = async (promptId: string, canary: Canary): Promise<CanaryCounts> => {
    await invocations.flush();
    const found = await failuresOf(canary);
    const countArm = async (arm: CanaryFailures['arm']): Promise<CanaryCounts['canaryArm']> => {
      const whole = { promptId, canary: canary.id, arm, canaryOutcome: 'whole', since: canary.startedAt } as const;
      const total = await invocations.list(whole).total();
      const failures = sumOf(found.filter((one) => one.arm === arm));
      const isMinimum = typeof total !== 'number';
      return { requests: failures + (isMinimum ? total.atLeast : total), isMinimum, failures };
    };
    const [canaryArm, stableArm] = await Promise.all([countArm('canary'), countArm('stable')]);
    return { ...weigh(canary, found), canaryArm, stableArm };
  };

  return {
    failures: async (canary) => weigh(canary, await failuresOf(canary)),
    count,
    async end(promptId, canary, reason, counted) {
      const counts = counted ?? (await count(promptId, canary));
      return { ...canary, ended: { at: now(), reason, ...counts } };
    },
  };
}

function weigh({ earlier }: Canary, found: readonly CanaryFailures[]): Pick<CanaryCounts, 'evidence' | 'stages'> {
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

function sumOf(failures: readonly CanaryFailures[]): number {
  return failures.reduce((sum, { count }) => sum + count, 0);
}
