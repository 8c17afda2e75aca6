import { fromStored, type NanoDollars } from '../../base/runtime/money.ts';
import type { CalledDocument } from '../invocations/invocation.ts';
import { defined } from '../../base/runtime/objects.ts';

/** What calls to providers cost together. */
export interface Sums {
  calls: number;
  /** Those that failed. */
  failedCalls: number;
  /** As the providers gave their numbers. */
  inputTokens: number;
  outputTokens: number;
  /** Estimates of the calls whose providers did not. */
  estimatedInputTokens: number;
  estimatedOutputTokens: number;
  cost: NanoDollars;
  /** The part of `cost` that is ceilings. */
  ceilingCost: NanoDollars;
  /** Calls whose cost is unknown. */
  withoutCost: number;
}

/** What calls that are added up have in common. */
export interface CallGroup {
  readonly keyId: string;
  readonly keyName: string;
  /** Absent without a stored prompt, as are slug and version. */
  readonly promptId?: string;
  readonly promptSlug?: string;
  readonly promptVersion?: number;
  readonly provider: string;
  readonly model: string;
  /** Of sums by tag: `name=value`. */
  readonly tag?: string;
}

export interface GroupSums {
  readonly group: CallGroup;
  readonly sums: Sums;
}

export function noSums(): Sums {
  return {
    ...{ calls: 0, failedCalls: 0, inputTokens: 0, outputTokens: 0, estimatedInputTokens: 0, estimatedOutputTokens: 0 },
    ...{ cost: 0n, ceilingCost: 0n, withoutCost: 0 },
  };
}

/** Adds to sums. */
export function addSums(sum: Sums, more: Sums): void {
  sum.calls += more.calls;
  sum.failedCalls += more.failedCalls;
  sum.inputTokens += more.inputTokens;
  sum.outputTokens += more.outputTokens;
  sum.estimatedInputTokens += more.estimatedInputTokens;
  sum.estimatedOutputTokens += more.estimatedOutputTokens;
  sum.cost += more.cost;
  sum.ceilingCost += more.ceilingCost;
  sum.withoutCost += more.withoutCost;
}

/** Identifies a group. Names and slugs can change. */
export function identityOf({ keyId, promptId = '', promptVersion = 0, provider, model, tag = '' }: CallGroup): string {
  return [keyId, promptId, promptVersion, provider, model, tag].join('\n');
}

/** The sums of records by group, without and with tags. */
export class SumsOfRecords {
  readonly groups = new Map<string, GroupSums>();
  readonly tagged = new Map<string, GroupSums>();

  /** Adds the calls of a record. */
  add({ attempts, tags = [], ...record }: CalledDocument): void {
    for (const { provider, model, status, usage, usage_source, estimate, cost } of attempts) {
      const amount = cost === undefined ? 0n : fromStored(cost);
      const { inputTokens = 0, outputTokens = 0 } = (usage_source === 'provider' && usage) || {};
      // Beside a ceiling there is an estimate.
      const estimated = usage_source === 'provider' ? {} : (estimate?.usage ?? usage);
      const sums: Sums = {
        calls: 1,
        failedCalls: status === 'failed' ? 1 : 0,
        inputTokens,
        outputTokens,
        estimatedInputTokens: estimated?.inputTokens ?? 0,
        estimatedOutputTokens: estimated?.outputTokens ?? 0,
        cost: amount,
        ceilingCost: usage_source === 'ceiling' ? amount : 0n,
        withoutCost: cost === undefined ? 1 : 0,
      };
      const group: CallGroup = {
        keyId: record.author.id,
        keyName: record.author.name,
        ...defined({
          promptId: record.prompt_id,
          promptSlug: record.prompt_slug,
          promptVersion: record.prompt_version,
        }),
        provider,
        model,
      };
      addTo(this.groups, group, sums);
      for (const tag of tags) addTo(this.tagged, { ...group, tag }, sums);
    }
  }
}

function addTo(groups: Map<string, GroupSums>, group: CallGroup, sums: Sums): void {
  const key = identityOf(group);
  const known = groups.get(key);
  if (known === undefined) groups.set(key, { group, sums: { ...sums } });
  else addSums(known.sums, sums);
}
