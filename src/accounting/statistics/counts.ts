/**
 * What is counted, by kind of subject: the service, an integration, a provider, or a version of a prompt, with the names of the
 * contract. Counts are kept as lists of numbers in this order, so add at the end.
 */
const counted = {
  service: [
    'requests',
    'client_errors',
    'server_errors',
    'invocations',
    'cached',
    'invocation_errors',
    'input_tokens',
    'output_tokens',
    'attempts_succeeded',
    'attempts_failed',
    'without_usage',
    'nanodollars',
    'without_cost',
    'canceled',
    'interrupted',
    'deliveries_succeeded',
    'deliveries_failed',
  ],
  /** `milliseconds` is the sum of the durations. */
  integration: ['succeeded', 'failed', 'milliseconds', 'deliveries_succeeded', 'deliveries_failed'],
  provider: ['succeeded', 'failed'],
  /**
   * `milliseconds` is the sum of the latencies of the answers that did not come from the cache, `millipoints` the sum of
   * the scores of feedback in thousandths.
   */
  prompt: [
    'invocations',
    'errors',
    'cached',
    'input_tokens',
    'output_tokens',
    'milliseconds',
    'without_usage',
    'nanodollars',
    'without_cost',
    'feedback',
    'millipoints',
    'canceled',
    'interrupted',
  ],
} as const;

export type CountedKind = keyof typeof counted;
export type Counts<K extends CountedKind> = Readonly<Record<(typeof counted)[K][number], number>>;

/** Places in the lists, by name. */
const places = Object.fromEntries(
  Object.entries(counted).map(([kind, names]) => [kind, Object.fromEntries(names.map((name, index) => [name, index]))]),
) as Readonly<Record<CountedKind, Readonly<Record<string, number>>>>;

/** A list of counts that are 0. */
export function noCounts(kind: CountedKind): number[] {
  return counted[kind].map(() => 0);
}

/** Sums stay at the largest number that is exact. */
function plus(sum: number, more: number): number {
  return Math.min(sum + more, Number.MAX_SAFE_INTEGER);
}

/** Adds some counts to a list. */
export function addCounts<K extends CountedKind>(kind: K, sum: number[], counts: Partial<Counts<K>>): void {
  const byName: Readonly<Record<string, number | undefined>> = counts;
  for (const name in byName) {
    const place = places[kind][name];
    if (place !== undefined) sum[place] = plus(sum[place] ?? 0, byName[name] ?? 0);
  }
}

/** The sum of lists of counts, by their names. */
export function sumOf<K extends CountedKind>(kind: K, lists: readonly (readonly number[])[]): Counts<K> {
  const sums = counted[kind].map((name, place): [string, number] => [
    name,
    lists.reduce((sum, list) => plus(sum, list[place] ?? 0), 0),
  ]);
  return Object.fromEntries(sums) as Counts<K>;
}
