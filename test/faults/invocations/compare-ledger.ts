import { fromAmount } from '../../../src/base/runtime/money.ts';
import { absurd, costOf, excessive, type LoggedUsage } from './ledger.ts';

/** A request that a caller sent, with its own trace id. */
export interface Call {
  readonly kind: string;
  readonly trace: string;
}

/** What is compared of a record. */
export interface LoggedInvocation {
  readonly id: string;
  readonly created_at: string;
  readonly author: { readonly id: string };
  readonly prompt_id?: string;
  readonly prompt_version?: number;
  readonly tags?: Readonly<Record<string, string>>;
  readonly trace_id?: string;
  readonly cost: { readonly amount: string } | null;
  readonly attempts: readonly LoggedAttempt[];
}

interface LoggedAttempt {
  readonly status: string;
  readonly provider: string;
  readonly model: string;
  readonly usage?: LoggedUsage;
  readonly usage_source?: string;
  readonly cost: { readonly amount: string } | null;
}

/** A request that the provider got. */
export interface Billed {
  readonly trace: string;
  /** What the provider charges for it, at most, in billionths of a dollar. */
  readonly bill: bigint;
}

/** The sums of the calls of one kind. */
export interface Gaps {
  readonly kind: string;
  readonly calls: number;
  /** Requests that the provider got. */
  readonly requests: number;
  readonly attempts: number;
  readonly interrupted: number;
  /** Requests without an attempt in the log. */
  readonly missing: number;
  /** Attempts that succeeded without a request. */
  readonly surplus: number;
  /** What the provider charges at most, in billionths of a dollar. */
  readonly billed: bigint;
  /** What the log says. */
  readonly logged: bigint;
  /** The part of it that is ceilings. */
  readonly ceilings: bigint;
  /**
   * Calls whose log says less than the bill, unless the provider exceeded its limit; or something else though the
   * provider gave its usage for all of it; whose cost is not that of its tokens; or with absurd numbers of tokens.
   */
  readonly wrong: number;
}

/** Compares the log with the ledger of the provider, by the trace ids of calls. @param ledger the requests */
export function findGaps(
  calls: readonly Call[],
  invocations: readonly LoggedInvocation[],
  ledger: readonly Billed[],
): Gaps[] {
  const requests = Map.groupBy(ledger, ({ trace }) => trace);
  const records = Map.groupBy(invocations, ({ trace_id }) => trace_id);
  return [...Map.groupBy(calls, ({ kind }) => kind)].map(([kind, some]) => {
    const sums = {
      ...{ kind, calls: some.length, requests: 0, attempts: 0, interrupted: 0, missing: 0, surplus: 0 },
      ...{ billed: 0n, logged: 0n, ceilings: 0n, wrong: 0 },
    };
    for (const { trace } of some) {
      const made = requests.get(trace)?.length ?? 0;
      const bill = (requests.get(trace) ?? []).reduce((sum, one) => sum + one.bill, 0n);
      const logged = (records.get(trace) ?? []).flatMap(({ attempts }) => attempts);
      const attempts = logged.filter(({ provider }) => provider !== 'echo');
      const cost = attempts.reduce((sum, one) => sum + nanosOf(one), 0n);
      const ceilings = attempts.filter(({ usage_source: source }) => source === 'ceiling');
      sums.billed += bill;
      sums.logged += cost;
      sums.ceilings += ceilings.reduce((sum, one) => sum + nanosOf(one), 0n);
      // Of a provider that exceeds its limit, nobody knows by how much if the process is killed.
      const mayExceed = attempts.some(({ model }) => model.includes(excessive));
      const isWrong = ceilings.length > 0 ? cost < bill && !mayExceed : cost !== bill;
      if (isWrong || !attempts.every(isSound)) sums.wrong += 1;
      sums.requests += made;
      sums.attempts += attempts.length;
      sums.interrupted += attempts.filter(({ status }) => status === 'interrupted').length;
      sums.missing += Math.max(0, made - attempts.length);
      sums.surplus += Math.max(0, attempts.filter(({ status }) => status === 'succeeded').length - made);
    }
    return sums;
  });
}

/** Whether an attempt costs what its tokens cost, and has no absurd number of them. */
function isSound(attempt: LoggedAttempt): boolean {
  const { model, usage = {}, usage_source: source } = attempt;
  const cost = nanosOf(attempt);
  // Input that the provider has said before it broke off costs what it says; otherwise the dearest rate counts.
  if (cost !== costOf(usage, false) && (source !== 'ceiling' || cost !== costOf(usage, true))) return false;
  return (
    Object.values(usage).every((count: number) => count < 1_000_000) &&
    (!model.includes(absurd) || source !== 'provider')
  );
}

/** The sums of the costs of attempts, in billionths of a dollar, by whatever `GET /api/v1/costs` adds up. */
export function sumsBy(by: string, invocations: readonly LoggedInvocation[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const one of invocations) {
    const {
      created_at: at,
      author: { id: key },
      prompt_id: prompt = '',
      prompt_version: version = '',
      tags = {},
    } = one;
    for (const attempt of one.attempts) {
      const tagged = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
      const names: Record<string, readonly string[]> = {
        ...{ day: [at.slice(0, 10)], key: [key], prompt: [prompt], version: [`${prompt} ${version}`], tag: tagged },
        model: [`${attempt.provider} ${attempt.model}`],
      };
      for (const name of names[by] ?? []) sums.set(name, (sums.get(name) ?? 0n) + nanosOf(attempt));
    }
  }
  return sums;
}

/** What the log says that an attempt cost; every attempt of these programs has a limit and a price. */
function nanosOf({ cost }: LoggedAttempt): bigint {
  if (cost === null) throw new Error('An attempt has no cost.');
  return fromAmount(cost.amount);
}

/** The sums as a table in Markdown. */
export function tableOf(gaps: readonly Gaps[]): string {
  const columns = [
    ...(['kind', 'calls', 'requests', 'attempts', 'interrupted', 'missing', 'surplus'] as const),
    ...(['billed', 'logged', 'ceilings', 'wrong'] as const),
  ];
  const total = gaps.reduce((sum, one) => ({
    kind: 'all',
    calls: sum.calls + one.calls,
    requests: sum.requests + one.requests,
    attempts: sum.attempts + one.attempts,
    interrupted: sum.interrupted + one.interrupted,
    missing: sum.missing + one.missing,
    surplus: sum.surplus + one.surplus,
    billed: sum.billed + one.billed,
    logged: sum.logged + one.logged,
    ceilings: sum.ceilings + one.ceilings,
    wrong: sum.wrong + one.wrong,
  }));
  const rows = [columns, columns.map(() => '---'), ...[...gaps, total].map((row) => columns.map((name) => row[name]))];
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}
