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

/** Places in the lists, by name. */
const places = Object.fromEntries(
  Object.entries(counted).map(([kind, names]) => [
    kind,
    Object.fromEntries(names.map((name, index) => [name, { index, isTime: times.has(name) }])),
  ]),
) as Readonly<Record<Kind, Readonly<Record<string, { readonly index: number; readonly isTime: boolean }>>>>;

/** A list of counts that are 0. */
export function noCounts(kind: Kind): number[] {
  return counted[kind].map(() => 0);
}

/** Adds some counts to a list. */
export function addCounts<K extends Kind>(kind: K, sum: number[], counts: Partial<Counts<K>>): void {
  const byName: Readonly<Record<string, number | undefined>> = counts;
  for (const name in byName) addAt(kind, sum, name, byName[name] ?? 0);
}

/** The sum of lists of counts, by their names. */
export function sumOf<K extends Kind>(kind: K, lists: readonly (readonly number[])[]): Counts<K> {
  const sum = noCounts(kind);
  for (const list of lists)
    for (const [index, name] of counted[kind].entries()) addAt(kind, sum, name, list[index] ?? 0);
  return Object.fromEntries(counted[kind].map((name, index) => [name, sum[index]])) as Counts<K>;
}

function addAt(kind: Kind, sum: number[], name: string, count: number): void {
  const place = places[kind][name];
  if (place === undefined) return;
  const before = sum[place.index] ?? 0;
  sum[place.index] = place.isTime ? Math.max(before, count) : before + count;
}
