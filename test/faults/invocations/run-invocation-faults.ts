/**
 * `npm run program -- test:faults:invocations` sends mixed invocations through two processes, kills one of them (SIGKILL) now and
 * then, and compares the invocation log with the ledger of the providers: each request that a provider got has an attempt
 * in the log, and each attempt that succeeded is in the ledger. What the log says that a call cost is equal to the
 * provider's bill where the provider gave its usage, else at least that; it is the cost of the tokens in the log, computed
 * here. Some models say absurd numbers of tokens, or more than their limit. Every grouping of `GET /api/v1/costs` has the
 * sums of the log as far as it is complete, and so have budgets.
 * It prints a table, and ends with exit code 1 if anything is missing or wrong.
 *
 *     npm run program -- test:faults:invocations --calls 5000 --kills 20 --callers 16
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fromAmount, showMoney } from '../../../src/base/runtime/money.ts';
import { createJournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { checkSetting, fastEngine, startDatabaseServer } from '../../support/database-server.ts';
import { openDatabase } from '../../support/database.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { send as sendTo } from '../../support/send.ts';
import { startServiceProcess, underTest, type ServiceProcess } from '../../support/service-process.ts';
import { findGaps, sumsBy, tableOf, type Billed, type Call, type LoggedInvocation } from './compare-ledger.ts';
import { absurd, billOf, excessive, formats, rate } from './ledger.ts';

interface Costs {
  readonly complete_until: string;
  readonly added_up_until?: string;
  readonly total: { readonly cost: { readonly amount: string }; readonly without_cost: number };
  readonly groups: readonly CostGroup[];
}

interface CostGroup {
  readonly day?: string;
  readonly key_id?: string;
  readonly prompt_id?: string;
  readonly prompt_version?: number;
  readonly provider?: string;
  readonly model?: string;
  readonly tag?: string;
  readonly sums: { readonly cost: { readonly amount: string } };
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
const provider = { id: 'mock', base_url: mock.url, models: ['model-a'], enforces_max_output: true };
const vendors: Record<string, string> = { AWS_BEDROCK_REGION: 'eu-central-1', AWS_BEARER_TOKEN_BEDROCK: 'unused' };
for (const name of ['OPENAI', 'XAI', 'ANTHROPIC', 'COHERE']) vendors[`${name}_API_KEY`] = 'unused';
vendors['GOOGLE_GENERATIVE_AI_API_KEY'] = 'unused';
for (const name of ['OPENAI', 'XAI', 'ANTHROPIC', 'COHERE', 'GOOGLE', 'AWS_BEDROCK']) {
  vendors[`${name}_BASE_URL`] = mock.url;
}
const start = (): Promise<ServiceProcess> =>
  startServiceProcess({
    ...{ ...underTest, DATA_DIR: dataDir, MONGODB_URI: server.uri, MONGODB_DATABASE: databaseName },
    ...{ LOG_LEVEL: 'error', OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) },
    ...checkSetting(fastEngine),
    ...vendors,
  });
const processes = [await start(), await start()];
console.log(`Database: ${server.engine}`);

const get = (place: string): Promise<Response> => sendTo(processes[0] ?? {}, 'GET', place);
const put = async (place: string, body: object): Promise<void> => {
  const answer = await sendTo(processes[0] ?? {}, 'PUT', place, body);
  if (!answer.ok) throw new Error(await answer.text());
};
const send = (place: string, body: unknown, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> =>
  sendTo(processes[Math.floor(Math.random() * processes.length)] ?? {}, 'POST', place, body, headers, signal);

const parameters = { max_output_tokens: 50 };
const [absurdModel, absurdStream, excessiveModel] = [
  `model-a${absurd}`,
  `mock-drip-3-12${absurd}`,
  `model-a${excessive}`,
];
const sayingModels = [absurdModel, absurdStream, excessiveModel];
const plainModels = ['model-a', 'mock-slow-50', 'mock-500', 'mock-503', 'mock-drip-5-20', 'mock-cut', ...sayingModels];
const detailedModels = [
  ...['model-a', 'mock-slow-50', 'mock-500', 'mock-drip-3-12', 'mock-cut', 'mock-unended'],
  ...sayingModels,
].map((model) => `${model}-detailed`);
const priced = [
  ...plainModels.map((model) => ['mock', model]),
  ...formats.flatMap(({ provider: id }) => detailedModels.map((model) => [id, model])),
];
for (const [id, model] of priced) await put(`/api/v1/prices/${id}/${model}`, { rates: [rate] });

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
/** A key whose calls have a tag that a budget can be over. */
const made = await send(
  '/api/v1/api-keys',
  {
    name: 'Tagged',
    scopes: ['prompts:invoke', 'providers:invoke'],
    limits: { tags: { team: 'ledger' } },
  },
  {},
);
const tagged = (await made.json()) as { id: string; key: string };
const plainId = ((await (await send(`/api/v1/prompts/${plain}/render`, {}, {})).json()) as { prompt_id?: string })
  .prompt_id;
/** What each budget counts. It has room for everything, and no excess stops a model. */
const scopes: Readonly<Record<string, { scope: object; counts: (one: LoggedInvocation) => boolean }>> = {
  all: { scope: {}, counts: () => true },
  key: { scope: { key_id: tagged.id }, counts: (one) => one.author.id === tagged.id },
  tag: { scope: { tag: 'team=ledger' }, counts: (one) => one.author.id === tagged.id },
  prompt: { scope: { prompt_id: plainId }, counts: (one) => one.prompt_id === plainId },
};
for (const [name, { scope }] of Object.entries(scopes)) {
  const limit = { amount: '999999.999999999', currency: 'USD' };
  await put(`/api/v1/budgets/${name}`, { scope, limit, period: 'once', unpriced: 'allow' });
}
// The other process reads prices and budgets every few seconds.
await sleep(5_000);
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
  'canceled call': (headers) => send(`/api/v1/prompts/${slow}/invoke`, {}, headers, leaving(60)),
  'canceled stream': (headers) => send(`/api/v1/prompts/${drip}/invoke`, { stream: true }, headers, leaving(200)),
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
  'absurd usage': (headers) => send(`/api/v1/prompts/${plain}/invoke`, { model: absurdModel }, headers),
  'absurd usage of a stream': (headers) =>
    send(`/api/v1/prompts/${plain}/invoke`, { model: absurdStream, stream: true }, headers),
  'more than the limit': (headers) => send(`/api/v1/prompts/${plain}/invoke`, { model: excessiveModel }, headers),
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
    [`${id}: absurd usage`]: (headers) => invoke(absurdModel, {}, headers),
    [`${id}: absurd usage of a stream`]: (headers) => invoke(absurdStream, stream, headers),
    [`${id}: more than the limit`]: (headers) => invoke(excessiveModel, {}, headers),
    [`${id}: stream`]: (headers) => invoke('mock-drip-3-12', stream, headers),
    [`${id}: canceled stream`]: (headers) => invoke('mock-drip-3-12', stream, headers, leaving(100)),
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
    const headers = {
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
      ...(Math.random() < 0.4 && { authorization: `Bearer ${tagged.key}` }),
    };
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
const exported = await get('/api/v1/invocations/export');
if (exported.body === null) throw new Error('The export has no body.');
const invocations: LoggedInvocation[] = [];
for await (const line of createInterface({ input: Readable.fromWeb(exported.body) })) {
  if (line !== '') invocations.push(JSON.parse(line) as LoggedInvocation);
}
const costOf = (some: readonly LoggedInvocation[]): bigint =>
  some.reduce((sum, { cost }) => sum + fromAmount(cost?.amount ?? 'unknown'), 0n);
const readCosts = async (until?: string, by = 'key'): Promise<Costs> => {
  const query = until === undefined ? `by=${by}` : `by=${by}&until=${until}`;
  return (await (await get(`/api/v1/costs?${query}`)).json()) as Costs;
};
const logged = costOf(invocations);
const sums = await readCosts();
const open = invocations.filter(({ created_at: at }) => at >= sums.complete_until);
const isSame =
  fromAmount((await readCosts(sums.complete_until)).total.cost.amount) === logged - costOf(open) &&
  (sums.added_up_until !== undefined || fromAmount(sums.total.cost.amount) === logged) &&
  sums.total.without_cost === 0;
const toName: Readonly<Record<string, (group: CostGroup) => string>> = {
  day: ({ day = '' }) => day,
  key: ({ key_id: id = '' }) => id,
  prompt: ({ prompt_id: id = '' }) => id,
  version: ({ prompt_id: id = '', prompt_version: version = '' }) => `${id} ${version}`,
  model: ({ provider: id = '', model = '' }) => `${id} ${model}`,
  tag: ({ tag = '' }) => tag,
};
/** Names of what `GET /api/v1/costs` and the budgets say in another way than the log. */
const unequal: string[] = [];
const complete = sums.added_up_until === undefined ? undefined : sums.complete_until;
const compared = invocations.filter(({ created_at: at }) => complete === undefined || at < complete);
for (const [by, name] of Object.entries(toName)) {
  const left = sumsBy(by, compared);
  for (const group of (await readCosts(complete, by)).groups) {
    left.set(name(group), (left.get(name(group)) ?? 0n) - fromAmount(group.sums.cost.amount));
  }
  for (const [group, difference] of left) if (difference !== 0n) unequal.push(`${by} ${group}: ${difference}`);
}
for (const [name, { counts }] of Object.entries(scopes)) {
  const sum = costOf(invocations.filter(counts));
  let state = '';
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(500)) {
    const answer = await get(`/api/v1/budgets/${name}`);
    const { current } = (await answer.json()) as { current: Record<'spent' | 'held', { amount: string }> };
    state = `${current.spent.amount} spent, ${current.held.amount} held`;
    if (state === `${showMoney(sum).amount} spent, 0 held`) break;
  }
  console.log(`The budget "${name}": ${state}; the log: ${showMoney(sum).amount}.`);
  if (state !== `${showMoney(sum).amount} spent, 0 held`) unequal.push(`budget ${name}`);
}
for (const one of unequal) console.log(`NOT equal: ${one}`);
await Promise.all(processes.map((service) => service.stop()));
const journalsLeft = (await journals.list()).length;
await database.close();
await server.stop();
await mock.close();
await rm(dataDir, { recursive: true });

const gaps = findGaps(calls, invocations, ledger);
console.log(tableOf(gaps));
console.log(`Left in journals: ${left} entries; after a normal stop ${journalsLeft} journals.`);
const isWhole = sums.added_up_until === undefined ? '' : ` (until ${sums.added_up_until})`;
console.log(
  `The log: ${showMoney(logged).amount} dollars; GET /api/v1/costs: ${sums.total.cost.amount}${isWhole}, ` +
    `${isSame ? 'equal' : 'NOT equal'} where it is complete.`,
);
const failed =
  !isSame ||
  unequal.length > 0 ||
  left > 0 ||
  journalsLeft > 0 ||
  gaps.some(({ missing, surplus, wrong }) => missing + surplus + wrong > 0);
console.log(
  failed ? 'FAILED' : `Every request to the provider is in the log, after ${calls.length} calls and ${kills} kills.`,
);
process.exitCode = failed ? 1 : 0;
