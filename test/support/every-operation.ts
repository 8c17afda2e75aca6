import type { OperationId } from '../../generated/operations.ts';
import { checkAnswer } from './contract-check.ts';
import { recordAnswer } from './recorded-answers.ts';
import { insertKeyOf, insertPerson } from './person.ts';
import type { CallOptions, TestService } from './service.ts';
import { until } from './until.ts';

/** A call that succeeds while everything works. */
export interface Call extends CallOptions {
  readonly method: string;
  readonly path: string;
}

/** What the service needs so that all of them succeed. */
export const environmentOfEveryOperation = { INVOCATION_CONTENT: 'all' };

/** What the calls are about: made beforehand, so that they find it. */
interface Fixture {
  readonly prompt: string;
  readonly doomed: string;
  readonly run: string;
  readonly evaluation: string;
  readonly key: string;
  readonly invocation: string;
  readonly erased: string;
  /** A whole API key, for signing in. */
  readonly secret: string;
  readonly person: string;
  readonly location: string;
  /** The fiscal day of locations in UTC whose day ends at midnight. */
  readonly today: string;
  /** A location whose day is closed. */
  readonly closed: string;
  readonly category: string;
  readonly product: string;
  readonly orders: readonly string[];
  readonly integrations: readonly string[];
  readonly rotation: string;
  readonly delivery: string;
  readonly replay: string;
}

const caseLines = { headers: { 'Content-Type': 'application/x-ndjson' } };
const checks = [{ type: 'contains', value: 'Hello' }];
const gate = { dataset: { name: 'measured', version: 1 }, checks, rule: { all_pass: true } };
const evaluation = { candidate: {}, dataset: { name: 'measured' }, checks, rule: { all_pass: true } };
/** A judge on echo that passes everything. */
const judging = {
  messages: [{ role: 'user', content: '{"pass": true}' }],
  response_format: {
    type: 'json',
    schema: { type: 'object', properties: { pass: { type: 'boolean' } }, required: ['pass'] },
  },
};
const plenty = { scope: { tag: 'team=none' }, limit: { amount: '1000', currency: 'USD' }, period: 'month' };

async function createFixture(service: TestService): Promise<Fixture> {
  const post = async (path: string, body?: unknown): Promise<{ id: string; secret_rotation?: { id: string } }> => {
    const answer = await service.call('POST', path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.text}`);
    return answer.body as { id: string; secret_rotation?: { id: string } };
  };
  const create = async (path: string, body?: unknown): Promise<string> => (await post(path, body)).id;
  const body = { name: 'Outage', messages: [{ role: 'user', content: 'Hello' }], selected_provider: 'echo' };
  const today = new Date().toISOString().slice(0, 10);
  const prompt = await create('/api/v1/prompts', body);
  // Labels of its first version, and a second version to which they can be moved.
  const second = { messages: [{ role: 'user', content: 'Hello again' }] };
  await service.call('PUT', `/api/v1/prompts/${prompt}`, { body: second });
  for (const name of ['production', 'retired', 'canary', 'stopped', 'promoted']) {
    await service.call('PUT', `/api/v1/prompts/${prompt}/labels/${name}`, { body: { version: 1 } });
  }
  for (const name of ['canary', 'stopped', 'promoted']) {
    const canary = { body: { version: 2, share: 0.1, hours: 1 }, headers: { 'If-Match': '*' } };
    await service.call('PUT', `/api/v1/prompts/${prompt}/labels/${name}/canary`, canary);
  }
  const rates = [{ input: '1', output: '2' }];
  await service.call('PUT', '/api/v1/prices/echo/retired', { body: { rates } });
  // With a price, a call of echo needs the journal.
  await service.call('PUT', '/api/v1/prices/echo/echo-embed', { body: { rates } });
  for (const name of ['kept', 'retired']) {
    await service.call('PUT', `/api/v1/budgets/${name}`, { body: plenty });
    await service.call('PUT', `/api/v1/datasets/${name}`, { ...caseLines, body: '{"id":"first"}' });
  }
  await service.call('PUT', '/api/v1/datasets/measured', { ...caseLines, body: '{"id":"first"}' });
  for (const name of ['gated', 'opened']) {
    await service.call('PUT', `/api/v1/prompts/${prompt}/labels/${name}/gate`, { body: gate });
  }
  const place = { name: 'Harbour', currency: 'EUR', time_zone: 'UTC', fiscal_day_end: '00:00' };
  await create('/api/v1/prompts', { ...body, name: 'Imported' });
  const person = await insertPerson(service);
  await insertKeyOf(service, person);
  const invoke = async (): Promise<string> => {
    const { headers } = await service.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: {} });
    return headers['x-invocation-id'] ?? '';
  };
  const judge = await create('/api/v1/prompts', { ...body, ...judging });
  const rubric = { type: 'llm-rubric', value: 'greets', judge: { prompt: judge, version: 1 } };
  const evaluate = async (): Promise<string> => {
    const judged = { ...evaluation, checks: [...checks, rubric] };
    const id = await create(`/api/v1/prompts/${prompt}/evaluations`, judged);
    await until(
      () => service.call('GET', `/api/v1/evaluations/${id}`),
      ({ body: { status } }) => status === 'ended',
    );
    return id;
  };
  const location = await create('/v1/locations', place);
  const closed = await create('/v1/locations', place);
  await post(`/v1/locations/${closed}/fiscal-days/${today}/close`);
  const category = await create('/v1/categories', { location_id: location, name: 'Drinks' });
  const product = await create('/v1/products', {
    location_id: location,
    category_id: category,
    name: 'Espresso',
    price: 250,
  });
  const order = { location_id: location, items: [{ product_id: product, quantity: 1 }] };
  const integration = {
    name: 'Kitchen',
    url: 'https://kitchen.example.com/hooks',
    event_types: ['FISCAL_DAY_END'],
  };
  const integrations: string[] = [];
  for (let count = 0; count < 5; count += 1) integrations.push(await create('/api/v1/integrations', integration));
  const [kept = '', , finishing = '', canceling = ''] = integrations;
  await post(`/api/v1/integrations/${canceling}/secret/rotation`, {});
  await post(`/api/v1/integrations/${canceling}/pause`);
  return {
    location,
    today,
    closed,
    category,
    product,
    orders: [await create('/v1/orders', order), await create('/v1/orders', order)],
    integrations,
    rotation: (await post(`/api/v1/integrations/${finishing}/secret/rotation`, {})).secret_rotation?.id ?? '',
    delivery: await create(`/api/v1/integrations/${kept}/test`),
    replay: await create(`/api/v1/integrations/${kept}/replays`, { since: '2026-01-01T00:00:00Z' }),
    prompt,
    doomed: await create('/api/v1/prompts', body),
    run: await create(`/api/v1/prompts/${prompt}/test`, { providers: [{ provider: 'echo' }] }),
    evaluation: await evaluate(),
    invocation: await invoke(),
    erased: await invoke(),
    key: await create('/api/v1/api-keys', { name: 'doomed', scopes: ['keys:manage'] }),
    secret: await service.createKey('prompts:read'),
    person: person.id,
  };
}

/** Where the only answer of an evaluation without a baseline is. */
async function sideOf(service: TestService, evaluation: string): Promise<string> {
  const { body } = await service.call('GET', `/api/v1/evaluations/${evaluation}/judged-answers`);
  return String((body as { data: { id: string }[] }).data[0]?.id.split('.')[1]);
}

/** A call of every operation of the contract. The compiler misses one that is left out. */
export async function callEveryOperation(service: TestService): Promise<Record<OperationId, Call>> {
  const fixture = await createFixture(service);
  const { prompt, doomed, run, key, secret, invocation, erased, evaluation: measured } = fixture;
  const prompts = '/api/v1/prompts';
  const people = '/api/v1/people';
  const messages = [{ role: 'user', content: 'Hello once more' }];
  const known = { 'If-Match': '*' };
  const imported = {
    version: 1,
    messages: [{ role: 'user', content: 'Hello from a file' }],
    selected_provider: 'echo',
  };
  return {
    createPrompt: { method: 'POST', path: prompts, body: { name: 'New', messages } },
    listPrompts: { method: 'GET', path: prompts },
    exportPrompts: { method: 'GET', path: `${prompts}/export` },
    importPrompts: {
      method: 'POST',
      path: `${prompts}/import`,
      body: {
        prompts: [{ slug: 'imported', name: 'Imported', versions: [imported] }],
        conflicts: 'new-version',
      },
    },
    getPrompt: { method: 'GET', path: `${prompts}/${prompt}` },
    updatePrompt: { method: 'PUT', path: `${prompts}/${prompt}`, body: { messages } },
    deletePrompt: { method: 'DELETE', path: `${prompts}/${doomed}` },
    invokePrompt: { method: 'POST', path: `${prompts}/${prompt}/invoke`, body: {} },
    renderPrompt: { method: 'POST', path: `${prompts}/${prompt}/render`, body: {} },
    listPromptVersions: { method: 'GET', path: `${prompts}/${prompt}/versions` },
    getPromptVersion: { method: 'GET', path: `${prompts}/${prompt}/versions/1` },
    restorePromptVersion: { method: 'POST', path: `${prompts}/${prompt}/versions/1/restore` },
    listLabels: { method: 'GET', path: `${prompts}/${prompt}/labels` },
    getLabel: { method: 'GET', path: `${prompts}/${prompt}/labels/production` },
    setLabel: { method: 'PUT', path: `${prompts}/${prompt}/labels/production`, body: { version: 2 }, headers: known },
    deleteLabel: { method: 'DELETE', path: `${prompts}/${prompt}/labels/retired`, headers: known },
    getCanary: { method: 'GET', path: `${prompts}/${prompt}/labels/canary/canary` },
    setCanary: {
      method: 'PUT',
      path: `${prompts}/${prompt}/labels/canary/canary`,
      body: { version: 2, share: 0.2, hours: 1 },
      headers: known,
    },
    deleteCanary: { method: 'DELETE', path: `${prompts}/${prompt}/labels/stopped/canary`, headers: known },
    promoteCanary: { method: 'POST', path: `${prompts}/${prompt}/labels/promoted/canary/promote`, headers: known },
    listLabelMoves: { method: 'GET', path: `${prompts}/${prompt}/labels/production/history` },
    listGates: { method: 'GET', path: `${prompts}/${prompt}/gates` },
    getGate: { method: 'GET', path: `${prompts}/${prompt}/labels/gated/gate` },
    setGate: {
      method: 'PUT',
      path: `${prompts}/${prompt}/labels/gated/gate`,
      body: { ...gate, max_age_days: 9 },
      headers: known,
    },
    deleteGate: { method: 'DELETE', path: `${prompts}/${prompt}/labels/opened/gate`, headers: known },
    getGateVersion: { method: 'GET', path: `${prompts}/${prompt}/labels/gated/gate/versions/1` },
    createGateEvaluation: {
      method: 'POST',
      path: `${prompts}/${prompt}/labels/gated/gate/evaluations`,
      body: { version: 1 },
    },
    listPrices: { method: 'GET', path: '/api/v1/prices' },
    getPrice: { method: 'GET', path: '/api/v1/prices/echo/echo-1' },
    setPrice: {
      method: 'PUT',
      path: '/api/v1/prices/echo/other',
      body: { rates: [{ input: '1', output: '2' }] },
    },
    deletePrice: { method: 'DELETE', path: '/api/v1/prices/echo/retired' },
    listBudgets: { method: 'GET', path: '/api/v1/budgets' },
    getBudget: { method: 'GET', path: '/api/v1/budgets/kept' },
    setBudget: { method: 'PUT', path: '/api/v1/budgets/kept', body: { ...plenty, thresholds: [90] } },
    deleteBudget: { method: 'DELETE', path: '/api/v1/budgets/retired' },
    listDatasets: { method: 'GET', path: '/api/v1/datasets' },
    getDataset: { method: 'GET', path: '/api/v1/datasets/kept' },
    setDataset: { method: 'PUT', path: '/api/v1/datasets/kept', ...caseLines, body: '{"id":"other"}\n' },
    deleteDataset: { method: 'DELETE', path: '/api/v1/datasets/retired' },
    addDatasetCases: { method: 'POST', path: '/api/v1/datasets/kept/cases', body: { cases: [{ id: 'another' }] } },
    listDatasetVersions: { method: 'GET', path: '/api/v1/datasets/kept/versions' },
    listDatasetCases: { method: 'GET', path: '/api/v1/datasets/kept/versions/1/cases' },
    exportDatasetCases: { method: 'GET', path: '/api/v1/datasets/kept/versions/1/export' },
    createTestRun: { method: 'POST', path: `${prompts}/${prompt}/test`, body: { providers: [{ provider: 'echo' }] } },
    listTestRuns: { method: 'GET', path: `${prompts}/${prompt}/test-runs` },
    getTestRun: { method: 'GET', path: `/api/v1/test-runs/${run}` },
    getTestRunResults: { method: 'GET', path: `/api/v1/test-runs/${run}/results` },
    createEvaluation: { method: 'POST', path: `${prompts}/${prompt}/evaluations`, body: evaluation },
    listEvaluations: { method: 'GET', path: `${prompts}/${prompt}/evaluations` },
    getEvaluation: { method: 'GET', path: `/api/v1/evaluations/${measured}` },
    cancelEvaluation: { method: 'POST', path: `/api/v1/evaluations/${measured}/cancel` },
    exportEvaluationResults: { method: 'GET', path: `/api/v1/evaluations/${measured}/results` },
    getCalibration: { method: 'GET', path: `/api/v1/evaluations/${measured}/calibration` },
    listJudgedAnswers: { method: 'GET', path: `/api/v1/evaluations/${measured}/judged-answers` },
    setMark: {
      method: 'PUT',
      path: `/api/v1/evaluations/${measured}/judged-answers/0.${await sideOf(service, measured)}.1/mark`,
      body: { pass: true },
    },
    listInvocations: { method: 'GET', path: '/api/v1/invocations' },
    getInvocation: { method: 'GET', path: `/api/v1/invocations/${invocation}` },
    getInvocationContent: { method: 'GET', path: `/api/v1/invocations/${invocation}/content` },
    deleteInvocationContent: { method: 'DELETE', path: `/api/v1/invocations/${erased}/content` },
    createInvocationFeedback: {
      method: 'POST',
      path: `/api/v1/invocations/${invocation}/feedback`,
      body: { score: 1 },
    },
    exportInvocations: { method: 'GET', path: '/api/v1/invocations/export' },
    getCosts: { method: 'GET', path: '/api/v1/costs' },
    createChatCompletion: {
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: `prompt/${prompt}`, messages: [] },
    },
    createResponse: { method: 'POST', path: '/v1/responses', body: { model: `prompt/${prompt}` } },
    countMessageTokens: {
      method: 'POST',
      path: '/v1/messages/count_tokens',
      body: { model: 'echo/echo-1', messages: [{ role: 'user', content: 'Hi' }] },
    },
    createMessage: { method: 'POST', path: '/v1/messages', body: { model: `prompt/${prompt}`, messages: [] } },
    createEmbedding: { method: 'POST', path: '/v1/embeddings', body: { model: 'echo/echo-embed', input: 'Hi' } },
    sendMcpMessage: { method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
    listModels: { method: 'GET', path: '/v1/models' },
    getModel: { method: 'GET', path: `/v1/models/${encodeURIComponent(`prompt/${prompt}`)}` },
    getAttention: { method: 'GET', path: '/api/v1/attention' },
    listProviders: { method: 'GET', path: '/api/v1/providers' },
    testProvider: { method: 'POST', path: '/api/v1/providers/echo/test' },
    createApiKey: { method: 'POST', path: '/api/v1/api-keys', body: { name: 'new', scopes: ['keys:manage'] } },
    listRoles: { method: 'GET', path: '/api/v1/roles' },
    listPeople: { method: 'GET', path: people },
    getPerson: { method: 'GET', path: `${people}/${fixture.person}` },
    updatePerson: { method: 'PUT', path: `${people}/${fixture.person}`, body: { disabled: true } },
    signOutPerson: { method: 'POST', path: `${people}/${fixture.person}/sign-out` },
    revokePersonKeys: { method: 'POST', path: `${people}/${fixture.person}/revoke-keys` },
    getCurrentApiKey: { method: 'GET', path: '/api/v1/whoami' },
    listApiKeys: { method: 'GET', path: '/api/v1/api-keys' },
    getApiKey: { method: 'GET', path: `/api/v1/api-keys/${key}` },
    updateApiKey: { method: 'PUT', path: `/api/v1/api-keys/${key}`, body: { limits: { requests_per_minute: 60 } } },
    revokeApiKey: { method: 'POST', path: `/api/v1/api-keys/${key}/revoke` },
    getPromptStatistics: { method: 'GET', path: `${prompts}/${prompt}/statistics` },
    listAuditLog: { method: 'GET', path: '/api/v1/audit-log' },
    createSession: { method: 'POST', path: '/api/v1/session', body: { api_key: secret } },
    deleteSession: { method: 'DELETE', path: '/api/v1/session' },
    ...callOrdersApi(fixture),
    ...callIntegrations(fixture),
    getStatistics: { method: 'GET', path: '/api/v1/statistics' },
    getMetrics: { method: 'GET', path: '/metrics' },
    getServiceInfo: { method: 'GET', path: '/' },
    getLiveness: { method: 'GET', path: '/health/live' },
    getReadiness: { method: 'GET', path: '/health/ready' },
    getOpenApiDocument: { method: 'GET', path: '/openapi.json' },
    getAsyncApiDocument: { method: 'GET', path: '/asyncapi.json' },
    getEventTypeSchema: { method: 'GET', path: '/schemas/events/TEST/v1.json' },
  };
}

type OrdersApi = Pick<
  Record<OperationId, Call>,
  | 'createLocation'
  | 'listLocations'
  | 'getLocation'
  | 'updateLocation'
  | 'createCategory'
  | 'listCategories'
  | 'getCategory'
  | 'updateCategory'
  | 'createProduct'
  | 'listProducts'
  | 'getProduct'
  | 'updateProduct'
  | 'createOrder'
  | 'calculateOrder'
  | 'listOrders'
  | 'getOrder'
  | 'completeOrder'
  | 'cancelOrder'
  | 'closeFiscalDay'
  | 'listFiscalDays'
  | 'getFiscalDay'
>;

function callOrdersApi({ location, today, closed, category, product, orders }: Fixture): OrdersApi {
  const [first = '', second = ''] = orders;
  const place = { name: 'Pier', currency: 'EUR', time_zone: 'Europe/Berlin' };
  const item = { location_id: location, category_id: category, name: 'Tea', price: 200 };
  const order = { location_id: location, items: [{ product_id: product, quantity: 2 }] };
  const days = `/v1/locations/${location}/fiscal-days`;
  return {
    createLocation: { method: 'POST', path: '/v1/locations', body: place },
    listLocations: { method: 'GET', path: '/v1/locations' },
    getLocation: { method: 'GET', path: `/v1/locations/${location}` },
    updateLocation: { method: 'PUT', path: `/v1/locations/${location}`, body: { name: 'Quay' } },
    createCategory: { method: 'POST', path: '/v1/categories', body: { location_id: location, name: 'Food' } },
    listCategories: { method: 'GET', path: '/v1/categories' },
    getCategory: { method: 'GET', path: `/v1/categories/${category}` },
    updateCategory: { method: 'PUT', path: `/v1/categories/${category}`, body: { name: 'Hot drinks' } },
    createProduct: { method: 'POST', path: '/v1/products', body: item },
    listProducts: { method: 'GET', path: '/v1/products' },
    getProduct: { method: 'GET', path: `/v1/products/${product}` },
    updateProduct: { method: 'PUT', path: `/v1/products/${product}`, body: { price: 260 } },
    createOrder: { method: 'POST', path: '/v1/orders', body: order },
    calculateOrder: { method: 'POST', path: '/v1/orders/calculate', body: order },
    listOrders: { method: 'GET', path: '/v1/orders' },
    getOrder: { method: 'GET', path: `/v1/orders/${first}` },
    completeOrder: { method: 'POST', path: `/v1/orders/${first}/complete` },
    cancelOrder: { method: 'POST', path: `/v1/orders/${second}/cancel` },
    closeFiscalDay: { method: 'POST', path: `${days}/${today}/close` },
    listFiscalDays: { method: 'GET', path: days },
    getFiscalDay: { method: 'GET', path: `/v1/locations/${closed}/fiscal-days/${today}` },
  };
}

type Integrations = Pick<
  Record<OperationId, Call>,
  | 'createIntegration'
  | 'listIntegrations'
  | 'getIntegration'
  | 'updateIntegration'
  | 'deleteIntegration'
  | 'pauseIntegration'
  | 'enableIntegration'
  | 'beginSecretRotation'
  | 'finishSecretRotation'
  | 'cancelSecretRotation'
  | 'previewIntegrationFilter'
  | 'sendTestEvent'
  | 'createReplay'
  | 'listReplays'
  | 'getReplay'
  | 'listDeliveries'
  | 'getDelivery'
  | 'listDeliveryAttempts'
  | 'resendDelivery'
  | 'listEventTypes'
  | 'listEvents'
  | 'getIntegrationStatistics'
>;

function callIntegrations({ integrations, rotation, delivery, replay }: Fixture): Integrations {
  const all = '/api/v1/integrations';
  const [kept = '', begun = '', finishing = '', canceling = '', dropped = ''] = integrations;
  const integration = { name: 'Screen', url: 'https://screen.example.com/hooks', event_types: ['FISCAL_DAY_END'] };
  const finish = { rotation_id: rotation };
  return {
    createIntegration: { method: 'POST', path: all, body: integration },
    listIntegrations: { method: 'GET', path: all },
    previewIntegrationFilter: {
      method: 'POST',
      path: `${all}/filter-preview`,
      body: { event_types: ['ORDER_PLACED'], filter: { 'data.total': { $gte: 10_000 } } },
    },
    getIntegration: { method: 'GET', path: `${all}/${kept}` },
    updateIntegration: { method: 'PUT', path: `${all}/${kept}`, body: { name: 'Bar' } },
    deleteIntegration: { method: 'DELETE', path: `${all}/${dropped}` },
    pauseIntegration: { method: 'POST', path: `${all}/${finishing}/pause` },
    enableIntegration: { method: 'POST', path: `${all}/${canceling}/enable` },
    beginSecretRotation: { method: 'POST', path: `${all}/${begun}/secret/rotation`, body: {} },
    finishSecretRotation: { method: 'POST', path: `${all}/${finishing}/secret/rotation/finish`, body: finish },
    cancelSecretRotation: { method: 'DELETE', path: `${all}/${canceling}/secret/rotation` },
    sendTestEvent: { method: 'POST', path: `${all}/${kept}/test` },
    createReplay: { method: 'POST', path: `${all}/${kept}/replays`, body: { since: '2026-01-01T00:00:00Z' } },
    getIntegrationStatistics: { method: 'GET', path: `${all}/${kept}/statistics` },
    listReplays: { method: 'GET', path: `${all}/${kept}/replays` },
    getReplay: { method: 'GET', path: `/api/v1/replays/${replay}` },
    listDeliveries: { method: 'GET', path: '/api/v1/deliveries' },
    getDelivery: { method: 'GET', path: `/api/v1/deliveries/${delivery}` },
    listDeliveryAttempts: { method: 'GET', path: `/api/v1/deliveries/${delivery}/attempts` },
    resendDelivery: { method: 'POST', path: `/api/v1/deliveries/${delivery}/resend` },
    listEventTypes: { method: 'GET', path: '/api/v1/event-types' },
    listEvents: { method: 'GET', path: '/api/v1/events' },
  };
}

/** What came of a call. */
export interface TimedAnswer {
  readonly operation: OperationId;
  readonly status: number;
  /** The problem's type without its prefix; undefined for a success. */
  readonly problem: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly milliseconds: number;
}

/**
 * Sends calls all at once and takes the time of each. The answers are checked against the contract afterwards: the
 * checks run in this process and would be measured along with the service.
 */
export async function sendTimed(
  service: TestService,
  calls: Readonly<Record<OperationId, Call>>,
): Promise<TimedAnswer[]> {
  const answers = await Promise.all(
    (Object.entries(calls) as [OperationId, Call][]).map(async ([operation, { method, path, body, headers }]) => {
      const started = performance.now();
      const answer = await fetch(service.url + path, {
        method,
        headers: {
          authorization: `Bearer ${service.adminKey}`,
          ...(headers?.['Content-Type'] === undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const milliseconds = performance.now() - started;
      return { operation, status: answer.status, headers: Object.fromEntries(answer.headers), text, milliseconds };
    }),
  );
  for (const { operation, ...answer } of answers) {
    recordAnswer(operation, answer);
    const wrong = checkAnswer(operation, answer);
    if (wrong.length > 0) throw new Error(`${operation} answered ${answer.status}: ${wrong.join(', ')}`);
  }
  return answers.map(({ text, ...answer }) => ({ ...answer, problem: problemIn(text) }));
}

function problemIn(text: string): string | undefined {
  return /"type":"urn:prompt-gateway:problem:([a-z-]+)"|"code":"([a-z-]+)"/.exec(text)?.slice(1).find(Boolean);
}
