/**
 * `npm run test:faults:invocations` sends mixed invocations through two processes, kills one of them (SIGKILL) every
 * second or so, and compares the invocation log with the ledger of the provider: each request that the provider got has
 * an attempt in the log, and each attempt that succeeded is in the ledger. What the log says that a call cost is equal to
 * the provider's bill where the provider gave its usage, else at least that, and `GET /api/v1/costs` has the sum of the
 * log. It prints a table, and ends with exit code 1 if anything is missing or wrong.
 *
 *     npm run test:faults:invocations -- --kills 20 --callers 16
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fromAmount, showMoney } from '../../../src/costs/money.ts';
import { createJournalStore } from '../../../src/invocations/journal-store.ts';
import { checkSetting, fastEngine, startDatabaseServer } from '../../support/database-server.ts';
import { openDatabase } from '../../support/database.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { mockUsage } from '../../support/mock-vendors.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process.ts';
import { findGaps, tableOf, type Call, type LoggedInvocation } from './compare-ledger.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '20' }, callers: { type: 'string', default: '16' } },
});
const key = 'administrator-key-of-the-tests-0123456789';
const databaseName = 'invocation_faults';

const mock = await startMockProvider();
const server = await startDatabaseServer(fastEngine);
const dataDir = await mkdtemp(path.join(tmpdir(), 'invocation-faults-'));
const provider = { id: 'mock', base_url: mock.url, models: ['model-a'] };
const start = (): Promise<ServiceProcess> =>
  startServiceProcess({
    ...{ DATA_DIR: dataDir, MONGODB_URI: server.uri, MONGODB_DATABASE: databaseName, PORT: '0', ADMIN_API_KEY: key },
    ...{ RATE_LIMIT: 'off', LOG_LEVEL: 'error', OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) },
    ...checkSetting(fastEngine),
  });
const processes = [await start(), await start()];
console.log(`Database: ${server.engine}`);

const send = (place: string, body: unknown, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> =>
  fetch(`${processes[Math.floor(Math.random() * processes.length)]?.url}${place}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(signal && { signal }),
  });

const parameters = { max_output_tokens: 50 };
const models = ['model-a', 'mock-slow-50', 'mock-500', 'mock-503', 'mock-drip-5-20', 'mock-cut'];
for (const model of models) {
  await fetch(`${processes[0]?.url}/api/v1/prices/mock/${model}`, {
    method: 'PUT',
    body: JSON.stringify({ rates: [{ input: '1', output: '4' }] }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
}
// The other process reads them every few seconds.
await sleep(5_000);

/** In billionths of a dollar. An answer is charged for, whatever came of it. */
function billOf(model: string): bigint {
  return model === 'mock-503' ? 0n : BigInt(mockUsage.input) * 1_000n + BigInt(mockUsage.output) * 4_000n;
}

/** A prompt on a model of the mock, whose name says how it behaves. */
async function createPrompt(selected_model: string, fields: object = {}): Promise<string> {
  const messages = [{ role: 'user', content: 'Hello {{name|world}}' }];
  const answer = await send(
    '/api/v1/prompts',
    {
      ...{ name: 'Faults', messages, parameters, selected_provider: 'mock', selected_model },
      ...fields,
    },
    {},
  );
  return ((await answer.json()) as { slug: string }).slug;
}

const [plain, slow, flaky, drip, cut] = await Promise.all([
  createPrompt('model-a'),
  createPrompt('mock-slow-50'),
  createPrompt('mock-500', { fallbacks: [{ provider: 'mock', model: 'mock-503' }, { provider: 'mock' }] }),
  createPrompt('mock-drip-5-20'),
  createPrompt('mock-cut'),
]);
const messages = [{ role: 'user', content: 'Hello' }];
const random = (most: number): number => Math.floor(Math.random() * most);
const leaving = (): AbortSignal => AbortSignal.timeout(random(60));

/** Each sends a request; most read the answer to its end. */
const kinds: Record<string, (headers: Record<string, string>) => Promise<Response>> = {
  whole: (headers) => send(`/api/v1/prompts/${plain}/invoke`, {}, headers),
  slow: (headers) => send(`/api/v1/prompts/${slow}/invoke`, {}, headers),
  'fallbacks and retries': (headers) => send(`/api/v1/prompts/${flaky}/invoke`, {}, headers),
  'time-out': (headers) => send(`/api/v1/prompts/${slow}/invoke`, {}, { ...headers, 'X-Timeout-Ms': '20' }),
  stream: (headers) => send(`/api/v1/prompts/${drip}/invoke`, { stream: true }, headers),
  'stream that breaks off': (headers) => send(`/api/v1/prompts/${cut}/invoke`, { stream: true }, headers),
  'cancelled call': (headers) => send(`/api/v1/prompts/${slow}/invoke`, {}, headers, leaving()),
  'cancelled stream': (headers) => send(`/api/v1/prompts/${drip}/invoke`, { stream: true }, headers, leaving()),
  'cached or shared': (headers) =>
    send(
      `/api/v1/prompts/${slow}/invoke`,
      { variables: { name: String(random(50)) } },
      {
        ...headers,
        'Cache-Control': 'max-age=1',
      },
    ),
  'chat completion': (headers) =>
    send('/v1/chat/completions', { model: 'mock/model-a', messages, max_tokens: 50 }, headers),
  'streamed chat completion': (headers) =>
    send('/v1/chat/completions', { model: 'mock/mock-drip-5-20', messages, stream: true, max_tokens: 50 }, headers),
  response: (headers) =>
    send('/v1/responses', { model: 'mock/model-a', input: 'Hello', max_output_tokens: 50 }, headers),
  'test run': (headers) =>
    send(`/api/v1/prompts/${plain}/test`, { providers: [{ provider: 'mock' }, { provider: 'echo' }] }, headers),
};

const calls: Call[] = [];
let isOver = false;
async function keepCalling(): Promise<void> {
  const names = Object.keys(kinds);
  while (!isOver) {
    const kind = names[random(names.length)] ?? '';
    const trace = randomBytes(16).toString('hex');
    calls.push({ kind, trace });
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
    // A process that is killed resets its connections.
    await kinds[kind]?.(headers)
      .then((answer) => answer.text())
      .catch(() => sleep(20));
  }
}

const callers = Array.from({ length: Number(values.callers) }, keepCalling);
for (let kill = 0; kill < Number(values.kills); kill += 1) {
  await sleep(500 + random(1_500));
  const victim = random(processes.length);
  await processes[victim]?.kill();
  processes[victim] = await start();
}
isOver = true;
await Promise.all(callers);

const database = await openDatabase(server.uri, databaseName);
const journals = createJournalStore(database);
for (const end = performance.now() + 60_000; (await journals.entryIds()).length > 0 && performance.now() < end;) {
  await sleep(500);
}
const left = (await journals.entryIds()).length;
const exported = await fetch(`${processes[0]?.url}/api/v1/invocations/export`, {
  headers: { authorization: `Bearer ${key}` },
});
const lines = (await exported.text()).split('\n').filter((line) => line !== '');
const invocations = lines.map((line) => JSON.parse(line) as LoggedInvocation);
const ledger = mock.requests.map(({ headers, model }) => ({
  trace: String(headers['traceparent']).slice(3, 35),
  bill: billOf(model),
}));
const logged = invocations.reduce((sum, { cost }) => sum + fromAmount(cost?.amount ?? 'unknown'), 0n);
const sums = (await (
  await fetch(`${processes[0]?.url}/api/v1/costs?by=key`, { headers: { authorization: `Bearer ${key}` } })
).json()) as { total: { cost: { amount: string }; without_cost: number } };
const isSame = fromAmount(sums.total.cost.amount) === logged && sums.total.without_cost === 0;
await Promise.all(processes.map((service) => service.stop()));
const journalsLeft = (await journals.list()).length;
await database.close();
await server.stop();
await mock.close();
await rm(dataDir, { recursive: true });

const gaps = findGaps(calls, invocations, ledger);
console.log(tableOf(gaps));
console.log(`Left in journals: ${left} entries; after a normal stop ${journalsLeft} journals.`);
console.log(`The log: ${showMoney(logged).amount} dollars; GET /api/v1/costs: ${sums.total.cost.amount}.`);
const failed =
  !isSame || left > 0 || journalsLeft > 0 || gaps.some(({ missing, surplus, wrong }) => missing + surplus + wrong > 0);
console.log(failed ? 'FAILED' : `Every request to the provider is in the log, after ${values.kills} kills.`);
process.exitCode = failed ? 1 : 0;
