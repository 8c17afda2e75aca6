/**
 * What is counted, by kind of subject: the service, an integration, or a version of a prompt. Counts are kept as lists
 * of numbers in this order, so add at the end.
 */
const counted = {
  service: [
    'requests',
    'clientErrors',
    'serverErrors',
    'invocations',
    'cached',
    'invocationErrors',
    'inputTokens',
    'outputTokens',
    'attemptsSucceeded',
    'attemptsFailed',
  ],
  /** `milliseconds` is the sum of the durations. The times are milliseconds since the epoch. */
  integration: ['succeeded', 'failed', 'milliseconds', 'lastAttemptAt', 'lastSuccessAt'],
  /** `milliseconds` is the sum of the latencies of the answers that did not come from the cache. */
  prompt: ['invocations', 'errors', 'cached', 'inputTokens', 'outputTokens', 'milliseconds'],
} as const;

export type Kind = keyof typeof counted;
export type Counts<K extends Kind> = Readonly<Record<(typeof counted)[K][number], number>>;

/** These are not added up: the latest remains. */
const times: ReadonlySet<string> = new Set(['lastAttemptAt', 'lastSuccessAt']);

/** Adds counts, as a list or by their names, to a list. */
export function addCounts<K extends Kind>(
  kind: K,
  sum: number[],
  counts: readonly number[] | Partial<Counts<K>>,
): void {
  const byName = Array.isArray(counts) ? undefined : (counts as Readonly<Record<string, number | undefined>>);
  for (const [index, name] of counted[kind].entries()) {
    const count = (byName === undefined ? (counts as readonly number[])[index] : byName[name]) ?? 0;
    const before = sum[index] ?? 0;
    sum[index] = times.has(name) ? Math.max(before, count) : before + count;
  }
}

/** The sum of lists of counts, by their names. */
export function sumOf<K extends Kind>(kind: K, lists: readonly (readonly number[])[]): Counts<K> {
  const sum: number[] = [];
  addCounts(kind, sum, []);
  for (const list of lists) addCounts(kind, sum, list);
  return Object.fromEntries(counted[kind].map((name, index) => [name, sum[index]])) as Counts<K>;
}
