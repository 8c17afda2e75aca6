/** A request that a caller sent, with its own trace id. */
export interface Call {
  readonly kind: string;
  readonly trace: string;
}

/** What is compared of a record. */
export interface LoggedInvocation {
  readonly trace_id?: string;
  readonly attempts: readonly { readonly status: string; readonly provider: string }[];
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
}

/** Compares the log with the ledger of the provider, by the trace ids of calls. @param ledger that of each request */
export function findGaps(
  calls: readonly Call[],
  invocations: readonly LoggedInvocation[],
  ledger: readonly string[],
): Gaps[] {
  const requests = Map.groupBy(ledger, (trace) => trace);
  const records = Map.groupBy(invocations, ({ trace_id }) => trace_id);
  return [...Map.groupBy(calls, ({ kind }) => kind)].map(([kind, some]) => {
    const sums = { kind, calls: some.length, requests: 0, attempts: 0, interrupted: 0, missing: 0, surplus: 0 };
    for (const { trace } of some) {
      const made = requests.get(trace)?.length ?? 0;
      const logged = (records.get(trace) ?? []).flatMap(({ attempts }) => attempts);
      const attempts = logged.filter(({ provider }) => provider !== 'echo');
      sums.requests += made;
      sums.attempts += attempts.length;
      sums.interrupted += attempts.filter(({ status }) => status === 'interrupted').length;
      sums.missing += Math.max(0, made - attempts.length);
      sums.surplus += Math.max(0, attempts.filter(({ status }) => status === 'succeeded').length - made);
    }
    return sums;
  });
}

/** The sums as a table in Markdown. */
export function tableOf(gaps: readonly Gaps[]): string {
  const columns = ['kind', 'calls', 'requests', 'attempts', 'interrupted', 'missing', 'surplus'] as const;
  const total = gaps.reduce((sum, one) => ({
    kind: 'all',
    calls: sum.calls + one.calls,
    requests: sum.requests + one.requests,
    attempts: sum.attempts + one.attempts,
    interrupted: sum.interrupted + one.interrupted,
    missing: sum.missing + one.missing,
    surplus: sum.surplus + one.surplus,
  }));
  const rows = [columns, columns.map(() => '---'), ...[...gaps, total].map((row) => columns.map((name) => row[name]))];
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}
