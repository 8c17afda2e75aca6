/**
 * `npm run test:faults:invocations` sends mixed invocations through two processes, kills one of them (SIGKILL) now and
 * then, and compares the invocation log with the ledger of the providers: each request that a provider got has an attempt
 * in the log, and each attempt that succeeded is in the ledger. What the log says that a call cost is equal to the
 * provider's bill where the provider gave its usage, else at least that, and `GET /api/v1/costs` has the sum of the log
 * as far as it is complete.
 * It prints a table, and ends with exit code 1 if anything is missing or wrong.
 *
 *     npm run test:faults:invocations -- --calls 5000 --kills 20 --callers 16
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fromAmount, showMoney } from '../../../src/costs/money.ts';
import { createJournalStore } from '../../../src/invocations/journal-store.ts';
import { mostOpen } from '../../../src/spending/spending.ts';
import { checkSetting, fastEngine, startDatabaseServer } from '../../support/database-server.ts';
import { openDatabase } from '../../support/database.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process.ts';
import { findGaps, tableOf, type Billed, type Call, type LoggedInvocation } from './compare-ledger.ts';
import { billOf, formats, rate } from './ledger.ts';

interface Costs {
  readonly complete_until: string;
  readonly total: { readonly cost: { readonly amount: string }; readonly without_cost: number };
}

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '5000' },
    kills: { type: 'string', default: '20' },
    callers: { type: 'string', default: '16' },
  },
});
const mostCalls = Number(values.calls);
const kills = Number(values.kills);
const key = 'administrator-key-of-the-tests-0123456789';
const databaseName = 'invocation_faults';

const ledger: Billed[] = [];
const mock = await startMockProvider({
  record: false,
  onRequest: (request) => {
    ledger.push({ trace: String(request.headers['traceparent']).slice(3, 35), bill: billOf(request) });
  },
});
const server = await startDatabaseServer(fastEngine);
const dataDir = await mkdtemp(path.join(tmpdir(), 'invocation-faults-'));
const provider = { id: 'mock', base_url: mock.url, models: ['model-a'] };
const vendors: Record<string, string> = { AWS_BEDROCK_REGION: 'eu-central-1', AWS_BEARER_TOKEN_BEDROCK: 'unused' };
for (const name of ['OPENAI', 'XAI', 'ANTHROPIC', 'COHERE']) vendors[`${name}_API_KEY`] = 'unused';
vendors['GOOGLE_GENERATIVE_AI_API_KEY'] = 'unused';
for (const name of ['OPENAI', 'XAI', 'ANTHROPIC', 'COHERE', 'GOOGLE', 'AWS_BEDROCK']) {
  vendors[`${name}_BASE_URL`] = mock.url;
}
const start = (): Promise<ServiceProcess> =>
  startServiceProcess({
    ...{ DATA_DIR: dataDir, MONGODB_URI: server.uri, MONGODB_DATABASE: databaseName, PORT: '0', ADMIN_API_KEY: key },
    ...{ RATE_LIMIT: 'off', LOG_LEVEL: 'error', OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) },
    ...checkSetting(fastEngine),
    ...vendors,
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
const plainModels = ['model-a', 'mock-slow-50', 'mock-500', 'mock-503', 'mock-drip-5-20', 'mock-cut'];
const detailedModels = ['model-a', 'mock-slow-50', 'mock-500', 'mock-drip-3-12', 'mock-cut', 'mock-unended'].map(
  (model) => `${model}-detailed`,
);
const priced = [
  ...plainModels.map((model) => ['mock', model]),
  ...formats.flatMap(({ provider: id }) => detailedModels.map((model) => [id, model])),
];
for (const [id, model] of priced) {
  const answer = await fetch(`${processes[0]?.url}/api/v1/prices/${id}/${model}`, {
    method: 'PUT',
    body: JSON.stringify({ rates: [rate] }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  if (!answer.ok) throw new Error(await answer.text());
}
// The other process reads them every few seconds.
await sleep(5_000);

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
const leaving = (most: number): AbortSignal => AbortSignal.timeout(random(most));

type Send = (headers: Record<string, string>) => Promise<Response>;

/** Each sends a request; most read the answer to its end. */
const kinds: Record<string, Send> = {
  whole: (headers) => send(`/api/v1/prompts/${plain}/invoke`, {}, headers),
  slow: (headers) => send(`/api/v1/prompts/${slow}/invoke`, {}, headers),
  'fallbacks and retries': (headers) => send(`/api/v1/prompts/${flaky}/invoke`, {}, headers),
  'time-out': (headers) => send(`/api/v1/prompts/${slow}/invoke`, {}, { ...headers, 'X-Timeout-Ms': '20' }),
  stream: (headers) => send(`/api/v1/prompts/${drip}/invoke`, { stream: true }, headers),
  'stream that breaks off': (headers) => send(`/api/v1/prompts/${cut}/invoke`, { stream: true }, headers),
  'cancelled call': (headers) => send(`/api/v1/prompts/${slow}/invoke`, {}, headers, leaving(60)),
  'cancelled stream': (headers) => send(`/api/v1/prompts/${drip}/invoke`, { stream: true }, headers, leaving(200)),
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

/** The same for each wire format, with tokens of caches and of reasoning. */
for (const { provider: id } of formats) {
  const invoke = (model: string, body: object, headers: Record<string, string>, signal?: AbortSignal) =>
    send(`/api/v1/prompts/${plain}/invoke`, { provider: id, model: `${model}-detailed`, ...body }, headers, signal);
  const stream = { stream: true };
  Object.assign(kinds, {
    [`${id}: whole`]: (headers) => invoke('model-a', {}, headers),
    [`${id}: stream`]: (headers) => invoke('mock-drip-3-12', stream, headers),
    [`${id}: cancelled stream`]: (headers) => invoke('mock-drip-3-12', stream, headers, leaving(100)),
    [`${id}: stream that breaks off`]: (headers) => invoke('mock-cut', stream, headers),
    [`${id}: stream without its end`]: (headers) => invoke('mock-unended', stream, headers),
    [`${id}: time-out`]: (headers) => invoke('mock-slow-50', {}, { ...headers, 'X-Timeout-Ms': '20' }),
    [`${id}: error and retry`]: (headers) => invoke('mock-500', { retries: 1 }, headers),
  } satisfies Record<string, Send>);
}

const calls: Call[] = [];
async function keepCalling(): Promise<void> {
  const names = Object.keys(kinds);
  while (calls.length < mostCalls) {
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
for (let kill = 1; kill <= kills; kill += 1) {
  while (calls.length < (kill * mostCalls) / (kills + 1)) await sleep(20);
  const victim = random(processes.length);
  await processes[victim]?.kill();
  processes[victim] = await start();
}
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
if (exported.body === null) throw new Error('The export has no body.');
const invocations: LoggedInvocation[] = [];
for await (const line of createInterface({ input: Readable.fromWeb(exported.body) })) {
  if (line !== '') invocations.push(JSON.parse(line) as LoggedInvocation);
}
const costOf = (some: readonly LoggedInvocation[]): bigint =>
  some.reduce((sum, { cost }) => sum + fromAmount(cost?.amount ?? 'unknown'), 0n);
const readCosts = async (until?: string): Promise<Costs> => {
  const query = until === undefined ? 'by=key' : `by=key&until=${until}`;
  const answer = await fetch(`${processes[0]?.url}/api/v1/costs?${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return (await answer.json()) as Costs;
};
const logged = costOf(invocations);
const sums = await readCosts();
// What follows the closed quarters of an hour is read up to a number of records.
const open = invocations.filter(({ created_at: at }) => at >= sums.complete_until);
const isSame =
  fromAmount((await readCosts(sums.complete_until)).total.cost.amount) === logged - costOf(open) &&
  (open.length > mostOpen || fromAmount(sums.total.cost.amount) === logged) &&
  sums.total.without_cost === 0;
await Promise.all(processes.map((service) => service.stop()));
const journalsLeft = (await journals.list()).length;
await database.close();
await server.stop();
await mock.close();
await rm(dataDir, { recursive: true });

const gaps = findGaps(calls, invocations, ledger);
console.log(tableOf(gaps));
console.log(`Left in journals: ${left} entries; after a normal stop ${journalsLeft} journals.`);
const isWhole = open.length <= mostOpen ? '' : ` (of the last ${open.length} invocations only ${mostOpen})`;
console.log(
  `The log: ${showMoney(logged).amount} dollars; GET /api/v1/costs: ${sums.total.cost.amount}${isWhole}, ` +
    `${isSame ? 'equal' : 'NOT equal'} where it is complete.`,
);
const failed =
  !isSame || left > 0 || journalsLeft > 0 || gaps.some(({ missing, surplus, wrong }) => missing + surplus + wrong > 0);
console.log(
  failed ? 'FAILED' : `Every request to the provider is in the log, after ${calls.length} calls and ${kills} kills.`,
);
process.exitCode = failed ? 1 : 0;
