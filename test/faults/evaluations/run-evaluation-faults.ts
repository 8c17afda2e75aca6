/**
 * `npm run program -- test:faults:evaluations` runs an evaluation with two sides twice on two processes: once undisturbed,
 * and once while one of them or the other is killed (SIGKILL) again and again, and one is frozen until the other has gone
 * on, and wakes up then. Both must have the same verdict and the same outcome of every case, each case once; the log must
 * have every call that the provider bills, and costs and budget must say what the log says.
 * It ends with exit code 1 if anything is missing or wrong.
 *
 *     npm run program -- test:faults:evaluations --cases 2000 --kills 20
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fromAmount, showMoney } from '../../../src/base/runtime/money.ts';
import { checkSetting, fastEngine, startDatabaseServer } from '../../support/database-server.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { send } from '../../support/send.ts';
import { startServiceProcess, underTest, type ServiceProcess } from '../../support/service-process.ts';
import { billOf, rate } from '../invocations/ledger.ts';

interface Evaluation {
  readonly id: string;
  readonly status: string;
  readonly cases_done: number;
  readonly verdict?: object;
}

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '2000' }, kills: { type: 'string', default: '20' } },
});
const [cases, kills] = [Number(values.cases), Number(values.kills)];
let billed = 0n;
const mock = await startMockProvider({
  record: false,
  onRequest: (request) => {
    billed += billOf(request);
  },
});
const server = await startDatabaseServer(fastEngine);
const dataDir = await mkdtemp(path.join(tmpdir(), 'evaluation-faults-'));
const provider = { id: 'mock', base_url: mock.url, models: ['model-a'], enforces_max_output: true };
const start = (): Promise<ServiceProcess> =>
  startServiceProcess({
    ...{ ...underTest, DATA_DIR: dataDir, MONGODB_URI: server.uri, MONGODB_DATABASE: 'evaluation_faults' },
    ...{ LOG_LEVEL: 'error', OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) },
    ...checkSetting(fastEngine),
  });
const processes: [ServiceProcess, ServiceProcess] = [await start(), await start()];
console.log(`Database: ${server.engine}`);

/** Calls whichever process answers. */
async function call<Body>(method: string, place: string, body?: unknown): Promise<Body> {
  for (const end = performance.now() + 60_000; ; await sleep(100)) {
    const service = processes[Math.random() < 0.5 ? 0 : 1];
    const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
    const signal = AbortSignal.timeout(5_000);
    const answer = await send(service, method, place, body, { 'content-type': type }, signal).catch(() => undefined);
    if (answer?.ok === true) return (await answer.json()) as Body;
    if (performance.now() > end) throw new Error(`${method} ${place}: ${(await answer?.text()) ?? 'no answer'}`);
  }
}

const [candidate, baseline] = ['mock-slow-100', 'mock-slow-101'];
for (const model of [candidate, baseline]) await call('PUT', `/api/v1/prices/mock/${model}`, { rates: [rate] });
const prompt = await call<{ id: string }>('POST', '/api/v1/prompts', {
  ...{ name: 'Faults', messages: [{ role: 'user', content: '{{say}}' }], parameters: { max_output_tokens: 50 } },
  ...{ selected_provider: 'mock', selected_model: candidate },
});
const lines = Array.from({ length: cases }, (_, index) => {
  // What each side answers has the name of its model.
  const value = index % 10 === 0 ? candidate : index % 7 === 0 ? baseline : 'Hello';
  return JSON.stringify({ id: `${index}`, variables: { say: 'Hi' }, checks: [{ type: 'contains', value }] });
});
await call('PUT', '/api/v1/datasets/faults', `${lines.join('\n')}\n`);
const limit = { amount: '999999.999999999', currency: 'USD' };
await call('PUT', '/api/v1/budgets/all', { scope: {}, limit, period: 'once' });
// The other process reads prices and budgets every few seconds.
await sleep(5_000);

const get = (id: string): Promise<Evaluation> => call('GET', `/api/v1/evaluations/${id}`);
const isActive = ({ status }: Evaluation): boolean => ['planning', 'queued', 'running'].includes(status);

/** Evaluates, and disturbs it while it runs. */
async function evaluate(disturb: (id: string) => Promise<void>): Promise<{ verdict: string; outcomes: string[] }> {
  const { id } = await call<Evaluation>('POST', `/api/v1/prompts/${prompt.id}/evaluations`, {
    ...{ candidate: {}, baseline: { model: baseline }, dataset: { name: 'faults' }, rule: { not_worse_by: 0.05 } },
  });
  await disturb(id);
  let evaluation = await get(id);
  for (; isActive(evaluation); evaluation = await get(id)) await sleep(500);
  const answer = await send(processes[0], 'GET', `/api/v1/evaluations/${id}/results`);
  const results = (await answer.text()).split('\n').filter((line) => line !== '');
  const outcomes = results.map((line) => {
    const { case: of, outcome } = JSON.parse(line) as { case: string; outcome: string };
    return `${of} ${outcome}`;
  });
  return { verdict: JSON.stringify(evaluation.verdict), outcomes: outcomes.toSorted() };
}

/** Waits until so many cases are stored. @returns false if it does not come to that in this time */
async function reached(id: string, wanted: number, milliseconds: number): Promise<boolean> {
  for (const end = performance.now() + milliseconds; performance.now() < end; await sleep(50)) {
    const evaluation = await get(id);
    if (evaluation.cases_done >= wanted || !isActive(evaluation)) return true;
  }
  return false;
}

async function killAgainAndAgain(id: string): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    if (!(await reached(id, (kill * cases) / (kills + 1), 120_000))) throw new Error('The evaluation does not go on.');
    if (kill === Math.ceil(kills / 2)) await freeze(id);
    await sleep(Math.random() * 1_000);
    const victim = Math.random() < 0.5 ? 0 : 1;
    await processes[victim].kill();
    processes[victim] = await start();
  }
}

/** Freezes the process that works on it until the other has gone on. */
async function freeze(id: string): Promise<void> {
  for (const service of processes.toSorted(() => Math.random() - 0.5)) {
    const { cases_done: before } = await get(id);
    service.signal('SIGSTOP');
    const isOther = await reached(id, before + 150, 10_000);
    if (!isOther) await reached(id, before + 150, 120_000);
    service.signal('SIGCONT');
    console.log(isOther ? 'Froze the process that has not the lease.' : 'Froze the process that has the lease.');
    if (!isOther) return;
  }
}

/** Compares log, costs and budget when the entries of processes that were killed are recovered by the others. */
async function compare(when: string, isRight: (logged: bigint) => boolean): Promise<void> {
  let said = '';
  for (const end = performance.now() + 90_000; performance.now() < end; await sleep(1_000)) {
    const answer = await send(processes[0], 'GET', '/api/v1/invocations/export');
    const records = (await answer.text()).split('\n').filter((line) => line !== '');
    const logged = records.reduce((sum, line) => {
      const { cost } = JSON.parse(line) as { cost: { amount: string } | null };
      return sum + fromAmount(cost?.amount ?? 'unknown');
    }, 0n);
    const { current } = await call<{ current: Record<'spent' | 'held', { amount: string }> }>(
      'GET',
      '/api/v1/budgets/all',
    );
    const sums = await call<{ total: { cost: { amount: string } } }>('GET', '/api/v1/costs?by=key');
    const [amount, bill] = [showMoney(logged).amount, showMoney(billed).amount];
    const interrupted = records.filter((line) => line.includes('"status":"interrupted"')).length;
    said =
      `${when}: bill ${bill}; log ${amount} (${records.length} records, ${interrupted} interrupted); ` +
      `costs ${sums.total.cost.amount}; budget ${current.spent.amount} spent, ${current.held.amount} held`;
    const isSame = current.spent.amount === amount && current.held.amount === '0' && sums.total.cost.amount === amount;
    if (!isSame || !isRight(logged)) continue;
    console.log(said);
    return;
  }
  wrong.push(said);
}

const wrong: string[] = [];
const undisturbed = await evaluate(() => Promise.resolve());
await compare('undisturbed', (logged) => logged === billed);
const disturbed = await evaluate(killAgainAndAgain);
if (disturbed.verdict !== undisturbed.verdict) wrong.push(`verdict ${disturbed.verdict}, not ${undisturbed.verdict}`);
if (disturbed.outcomes.length !== cases || new Set(disturbed.outcomes).size !== cases) {
  wrong.push(`${disturbed.outcomes.length} results of ${cases} cases`);
}
if (disturbed.outcomes.join() !== undisturbed.outcomes.join()) wrong.push('outcomes of cases');

// What was interrupted counts with the most that it can have cost.
await compare('after the kills', (logged) => logged >= billed);
await Promise.all(processes.map((service) => service.stop()));
await server.stop();
await mock.close();
await rm(dataDir, { recursive: true });

console.log(`Verdict: ${disturbed.verdict}`);
for (const one of wrong) console.log(`WRONG: ${one}`);
console.log(
  wrong.length > 0 ? 'FAILED' : `Each of ${cases} cases counts once, with the same verdict, after ${kills} kills.`,
);
process.exitCode = wrong.length > 0 ? 1 : 0;
