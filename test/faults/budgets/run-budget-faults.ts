/**
 * `npm run program -- test:faults:budgets` lets 200 callers with ten keys spend from a budget over all and one for each key, through
 * four processes. Meanwhile processes are killed (SIGKILL) or stopped for longer than others wait for them (SIGSTOP), the
 * database is killed twice, the day of the budgets ends, and a limit is lowered. Then it compares what the provider bills
 * with the invocation log and with the budgets: no budget may ever be exceeded, and when nothing is in progress, nothing
 * is held, each budget has spent what the log says, and each threshold that was reached has one event. It prints a
 * table, and ends with exit code 1 if anything is wrong.
 *
 *     npm run program -- test:faults:budgets --runs 20 --seconds 60 --seed 1
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fromAmount, showMoney, type StoredMoney, fromStored } from '../../../src/base/runtime/money.ts';
import { createPeriodStore, type PeriodStore } from '../../../src/accounting/budgets/period-store.ts';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { createJournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { checkSetting, fastEngine, startDatabaseServer } from '../../support/database-server.ts';
import { openDatabase } from '../../support/database.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { mockUsage } from '../../support/mock-vendors.ts';
import { adminKey, send } from '../../support/send.ts';
import { startServiceProcess, underTest, type ServiceProcess } from '../../support/service-process.ts';
import { randomOf } from '../../accounting/budgets/simulated-world.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    callers: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
});
const dayMs = 24 * 3_600_000;
const keys = 10;
/** Longer than other processes wait until they take one for dead. */
const stoppedMs = 26_000;
const limitOfAll = '0.6';
const limitOfKey = '0.09';
/** In percent. */
const thresholds = [1, 30, 60, 90, 100];
const rates = [{ input: '1', output: '4' }];
const bill = BigInt(mockUsage.input) * 1_000n + BigInt(mockUsage.output) * 4_000n;
const absurd = 'model-a-says-9007199254740991';
const models = ['model-a', 'mock-slow-50', 'mock-500', 'mock-drip-5-20', 'mock-cut', absurd];

interface Outcome {
  readonly [column: string]: number | string;
}

interface StoredAttempt {
  readonly cost?: StoredMoney;
  readonly budgets?: readonly string[];
}

async function run(seed: number): Promise<Outcome> {
  const random = randomOf(seed);
  const upTo = (most: number): number => Math.floor(random() * most);
  const mock = await startMockProvider();
  const server = await startDatabaseServer(fastEngine, undefined, true);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'budget-faults-'));
  const databaseName = `budget_faults_${seed}`;
  const seconds = Number(values.seconds);
  // Midnight comes in the middle.
  const now = Date.now();
  const ahead = Math.ceil(now / dayMs) * dayMs - now - (seconds * 1_000) / 2;
  const provider = { id: 'mock', base_url: mock.url, models, enforces_max_output: true };
  const start = (): Promise<ServiceProcess> =>
    startServiceProcess(
      {
        ...{ ...underTest, DATA_DIR: dataDir, MONGODB_URI: server.uri, MONGODB_DATABASE: databaseName },
        ...{ LOG_LEVEL: 'error', OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]), ...checkSetting(fastEngine) },
      },
      { clockShift: ahead },
    );
  const processes = await Promise.all(Array.from({ length: 4 }, start));
  const call = async (
    method: string,
    place: string,
    body: unknown,
    by = adminKey,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> => {
    const service = processes[Math.floor(Math.random() * processes.length)] ?? {};
    return await send(service, method, place, body, { authorization: `Bearer ${by}`, ...headers }, signal);
  };
  for (const model of models) await call('PUT', `/api/v1/prices/mock/${model}`, { rates });
  const createPrompt = async (selected_model: string, fields: object = {}): Promise<string> => {
    const messages = [{ role: 'user', content: '{{text|Hello}}' }];
    const prompt = { name: 'Faults', messages, parameters: { max_output_tokens: 50 }, selected_provider: 'mock' };
    const answer = await call('POST', '/api/v1/prompts', { ...prompt, selected_model, ...fields });
    return ((await answer.json()) as { slug: string }).slug;
  };
  const prompts = await Promise.all([
    createPrompt('model-a'),
    createPrompt('mock-slow-50'),
    createPrompt('mock-500', { fallbacks: [{ provider: 'mock' }], retries: 1 }),
    createPrompt('mock-drip-5-20'),
    createPrompt('mock-cut'),
    createPrompt(absurd),
  ]);
  const setBudget = (name: string, amount: string, scope: object): Promise<Response> =>
    call('PUT', `/api/v1/budgets/${name}`, { scope, limit: { amount, currency: 'USD' }, period: 'day', thresholds });
  let firstKey = '';
  const callers = await Promise.all(
    Array.from({ length: keys }, async (_, index) => {
      const answer = await call('POST', '/api/v1/api-keys', {
        name: `key-${index}`,
        scopes: ['prompts:invoke', 'providers:invoke'],
      });
      const { id, key: secret } = (await answer.json()) as { id: string; key: string };
      await setBudget(`key-${index}`, limitOfKey, { key_id: id });
      if (index === 0) firstKey = id;
      return secret;
    }),
  );
  await setBudget('all', limitOfAll, {});
  await sleep(5_000);

  const counts = { calls: 0, answered: 0, refused: 0, failed: 0, cut: 0 };
  const sendOne = async (): Promise<void> => {
    const trace = randomBytes(16).toString('hex');
    const by = callers[Math.floor(Math.random() * callers.length)];
    const prompt = prompts[Math.floor(Math.random() * prompts.length)];
    // Of mixed sizes.
    const text = 'x'.repeat(Math.floor(Math.random() ** 4 * 4_000));
    const stream = Math.random() < 0.3;
    const leaves = Math.random() < 0.15;
    counts.calls += 1;
    try {
      const headers = {
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
        ...(Math.random() < 0.1 && { 'X-Timeout-Ms': '30' }),
      };
      const place = `/api/v1/prompts/${prompt}/invoke`;
      const signal = leaves ? AbortSignal.timeout(Math.floor(Math.random() * 80)) : undefined;
      const answer = await call('POST', place, { variables: { text }, stream }, by, headers, signal);
      await answer.text();
      if (answer.status === 200) counts.answered += 1;
      else if (answer.status === 402) counts.refused += 1;
      else counts.failed += 1;
      if (answer.status !== 200) await sleep(50);
    } catch {
      counts.cut += 1;
      await sleep(20);
    }
  };
  let isOver = false;
  const calling = Array.from({ length: Number(values.callers) }, async () => {
    while (!isOver) await sendOne();
  });

  const faults = { kills: 0, stops: 0, databaseKills: 0 };
  const stopping: Promise<void>[] = [];
  const busy = new Set<number>();
  const pick = (): number => [0, 1, 2, 3].filter((one) => !busy.has(one))[upTo(4 - busy.size)] ?? 0;
  const began = performance.now();
  const elapsed = (): number => (performance.now() - began) / 1_000;
  let isLowered = false;
  while (elapsed() < seconds) {
    await sleep(2_000 + upTo(3_000));
    const part = elapsed() / seconds;
    if (faults.databaseKills < (part > 0.7 ? 2 : part > 0.3 ? 1 : 0)) {
      faults.databaseKills += 1;
      process.kill(await server.pid(), 'SIGKILL');
    }
    if (part > 0.6 && !isLowered) {
      isLowered = true;
      await setBudget('key-0', '0.03', { key_id: firstKey }).catch(() => undefined);
    }
    const victim = pick();
    if (random() < 0.25 && busy.size < 2) {
      faults.stops += 1;
      busy.add(victim);
      const stopped = processes[victim];
      stopped?.signal('SIGSTOP');
      stopping.push(
        sleep(stoppedMs).then(() => {
          stopped?.signal('SIGCONT');
          busy.delete(victim);
        }),
      );
    } else if (!busy.has(victim)) {
      faults.kills += 1;
      busy.add(victim);
      await processes[victim]?.kill();
      processes[victim] = await start();
      busy.delete(victim);
    }
  }
  await Promise.all(stopping);
  // Until nothing fits any more.
  await sleep(3_000);
  isOver = true;
  await Promise.all(calling);

  const database = await openDatabase(server.uri, databaseName);
  const journals = createJournalStore(database);
  const periods = createPeriodStore(database);
  const end = performance.now() + 90_000;
  for (;;) {
    const isQuiet = (await periods.holders()).size === 0 && (await journals.entryIds()).length === 0;
    if (isQuiet || performance.now() > end) break;
    await sleep(500);
  }
  if ((await periods.holders()).size > 0) {
    console.log(JSON.stringify(await database.db.collection('journals').find({}).toArray()));
    console.log(processes.map(({ log, messages }) => [...log, ...messages].slice(-10).join('\n')).join('\n---\n'));
  }
  const announced = await untilAnnounced(database, periods);
  const requests = Map.groupBy(mock.requests, ({ headers }) => String(headers['traceparent']).slice(3, 35));
  const billed = new Map<string, bigint>();
  const logged = new Map<string, bigint>();
  let missing = 0;
  let unpaid = 0;
  const add = (sums: Map<string, bigint>, period: string, amount: bigint): void => {
    sums.set(period, (sums.get(period) ?? 0n) + amount);
  };
  for (const { name } of await database.db.listCollections().toArray()) {
    if (!/^invocations_\d{8}$/.test(name)) continue;
    const records = await database.db
      .collection<{ _id: string; trace_id?: string; attempts: StoredAttempt[] }>(name)
      .find({})
      .toArray();
    for (const { trace_id: trace = '', attempts } of records) {
      const made = requests.get(trace)?.length ?? 0;
      requests.delete(trace);
      missing += Math.max(0, made - attempts.length);
      for (const [index, { cost, budgets = [] }] of attempts.entries()) {
        if (budgets.length === 0) unpaid += 1;
        for (const period of budgets) {
          add(logged, period, cost === undefined ? 0n : fromStored(cost));
          if (index < made) add(billed, period, bill);
        }
      }
    }
  }
  missing += [...requests.keys()].length;
  let exceeded = 0;
  let unequal = 0;
  let most = 0;
  const accounts = await periods.findAll([...new Set([...logged.keys()])]);
  const all = await database.db.collection<{ _id: string; budget_id: string }>('budgets').findOne({ _id: 'all' });
  for (const [id, { spent, taken, slices }] of accounts) {
    const limit = fromAmount(id.startsWith(all?.budget_id ?? '?') ? limitOfAll : limitOfKey);
    const sum = logged.get(id) ?? 0n;
    if (sum > limit || (billed.get(id) ?? 0n) > sum) exceeded += 1;
    if (BigInt(spent) !== sum || taken !== spent || slices.size > 0) {
      unequal += 1;
      console.log(`${id}: spent ${spent}, taken ${taken}, the log ${sum}, ${slices.size} slices`);
    }
    most = Math.max(most, Number((sum * 1_000n) / limit) / 10);
  }
  const state = (await (await call('GET', '/api/v1/budgets/all', undefined)).json()) as {
    current: { left: { amount: string } };
  };
  const { code } = (await Promise.all(processes.map((service) => service.stop())))[0] ?? { code: 1 };
  const left = (await journals.list()).length;
  await database.close();
  await server.stop();
  await mock.close();
  await rm(dataDir, { recursive: true });
  return {
    ...{ seed, ...counts, ...faults, requests: mock.requests.length, periods: accounts.size },
    billed: showMoney([...billed.values()].reduce((sum, one) => sum + one, 0n)).amount,
    logged: showMoney([...logged.values()].reduce((sum, one) => sum + one, 0n)).amount,
    ...{ 'used %': most, 'left of all': state.current.left.amount, missing, unpaid, exceeded, unequal },
    events: announced.events,
    'wrong events': announced.wrong,
    'journals left': left + (code === 0 ? 0 : 1),
  };
}

/**
 * Waits until the thresholds are announced. What a killed process reported last is found by others within a minute.
 *
 * @returns the events, and how many thresholds have another number of events than the one that they must have
 */
async function untilAnnounced(
  { db }: PagedDatabase,
  periods: Pick<PeriodStore, 'spending'>,
): Promise<{ readonly events: number; readonly wrong: number }> {
  const ids = await db.collection<{ _id: string }>('budget_periods').distinct('_id');
  for (const end = performance.now() + 90_000; ; await sleep(1_000)) {
    const due = new Map<string, number>();
    for (const { id, since, limit, spent } of await periods.spending(ids)) {
      const [budgetId] = id.split('|');
      for (const threshold of thresholds) {
        const isReached = spent > 0n && spent * 100n >= limit * BigInt(threshold);
        due.set(`${budgetId} ${since.toISOString()} ${threshold}`, isReached ? 1 : 0);
      }
    }
    const found = await db.collection('events').find({ type: 'BUDGET_THRESHOLD_REACHED' }).toArray();
    for (const { target_id, body } of found) {
      const { data } = JSON.parse(String(body)) as { data: { since: string; threshold: number } };
      const name = `${target_id} ${data.since} ${data.threshold}`;
      due.set(name, (due.get(name) ?? 0) - 1);
    }
    const wrong = [...due].filter(([, left]) => left !== 0);
    if (wrong.length === 0 || performance.now() > end) {
      for (const [name, left] of wrong) console.log(`threshold ${name}: ${-left} events too many`);
      return { events: found.length, wrong: wrong.length };
    }
  }
}

const outcomes: Outcome[] = [];
for (let count = 0; count < Number(values.runs); count += 1) {
  outcomes.push(await run(Number(values.seed) + count));
  const [first = {}] = outcomes;
  const columns = Object.keys(first);
  if (count === 0) console.log(`| ${columns.join(' | ')} |\n| ${columns.map(() => '---').join(' | ')} |`);
  console.log(`| ${columns.map((column) => outcomes.at(-1)?.[column]).join(' | ')} |`);
}
const failed = outcomes.some((one) =>
  ['missing', 'unpaid', 'exceeded', 'unequal', 'wrong events', 'journals left'].some((column) => one[column] !== 0),
);
console.log(
  failed
    ? 'FAILED'
    : 'No budget was exceeded, each has spent what the log says, and each threshold was announced once.',
);
process.exitCode = failed ? 1 : 0;
