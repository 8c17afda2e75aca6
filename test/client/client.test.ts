import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pLimit from 'p-limit';
import {
  AuthenticationError,
  ConflictError,
  isProblemOf,
  NotFoundError,
  PermissionError,
  BadRequestError,
  PreconditionFailedError,
  PromptGateway,
  UnprocessableError,
  type Schemas,
} from '../../clients/typescript/src/index.ts';
import { operationTable } from '../../clients/typescript/src/generated/operations.ts';
import clientPackage from '../../clients/typescript/package.json' with { type: 'json' };
import servicePackage from '../../package.json' with { type: 'json' };
import { insertPerson } from '../support/person.ts';
import { startLossyHttpProxy, type Loss } from '../support/lossy-http-proxy.ts';
import { problem, setUp } from '../support/per-operation.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { isNightly } from '../support/run-settings.ts';
import { createImpatientGateway } from './harness.ts';

const receiverNetwork = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
const setup = setUp(receiverNetwork);
const used = new Set<string>();
let gateway: PromptGateway;
let receiver: Receiver;
let location: Schemas['Location'];
let product: Schemas['Product'];

beforeAll(async () => {
  gateway = new PromptGateway({
    baseUrl: setup.service.url,
    apiKey: setup.service.adminKey,
    hooks: { onRequest: ({ operation }) => used.add(operation) },
  });
  receiver = await startReceiver();
  location = await gateway.locations.create({ name: 'Canal Café', currency: 'EUR', time_zone: 'Europe/Amsterdam' });
  const category = await gateway.categories.create({ location_id: location.id, name: 'Hot drinks' });
  product = await gateway.products.create({
    location_id: location.id,
    category_id: category.id,
    name: 'Flat white',
    price: 420,
  });
});
afterAll(async () => {
  await receiver.close();
});

const greeter = (): Schemas['PromptCreate'] => ({
  name: 'Greeter',
  messages: [{ role: 'user', content: 'Greet {{name}}.' }],
  variables: { name: { required: true } },
  selected_provider: 'echo',
});
const newOrder = (members: Partial<Schemas['OrderCreate']> = {}): Schemas['OrderCreate'] => ({
  location_id: location.id,
  items: [{ product_id: product.id, quantity: 1 }],
  ...members,
});

describe('the methods', () => {
  it('of labels send their requests', async () => {
    const { slug } = await gateway.prompts.create(greeter());
    await gateway.prompts.update(slug, { messages: [{ role: 'user', content: 'Hi {{name}}!' }] });
    const { data, response } = await gateway.labels
      .set(slug, 'production', { version: 1 }, { ifNoneMatch: '*' })
      .withResponse();
    expect([response.status, data.version]).toEqual([201, 1]);
    const variables = { name: 'Ada' };
    expect((await gateway.prompts.invoke(slug, { variables, label: 'production' })).text).toContain('Greet Ada.');
    const moved = await gateway.labels.set(
      slug,
      'production',
      { version: 2 },
      { ifMatch: response.headers.get('etag') ?? '' },
    );
    expect(await gateway.labels.get(slug, 'production')).toEqual(moved);
    expect((await gateway.prompts.invoke(slug, { variables, label: 'production' })).text).toContain('Hi Ada!');
    expect((await gateway.labels.list(slug)).data).toEqual([moved]);
    expect((await gateway.prompts.get(slug)).labels).toEqual({ production: 2 });
    await expect(gateway.labels.set(slug, 'production', { version: 1 }, { ifNoneMatch: '*' })).rejects.toThrow(
      PreconditionFailedError,
    );
    await expect(gateway.labels.set(slug, 'production', { version: 1 })).rejects.toThrow(BadRequestError);
    expect(await gateway.labels.delete(slug, 'production', { ifMatch: '*' })).toEqual({ ok: true });
    expect((await gateway.labels.listMoves(slug, 'production')).data).toHaveLength(3);
    await gateway.prompts.delete(slug);
  });

  it('of prompts, versions and test runs send their requests', async () => {
    const prompt = await gateway.prompts.create(greeter());
    const { text, usage } = await gateway.prompts.invoke(prompt.slug, { variables: { name: 'Ada' } });
    expect([text, usage.inputTokens]).toEqual([expect.stringContaining('Greet Ada.'), expect.any(Number)]);
    const rendered = await gateway.prompts.render(prompt.slug, { variables: { name: 'Ada' } });
    expect(rendered).toMatchObject({ targets: [{ provider: 'echo' }], variables: ['name'] });
    expect(await gateway.prompts.stream(prompt.slug, { variables: { name: 'Ada' } }).text()).toBe(text);

    const { data, response } = await gateway.prompts.get(prompt.id).withResponse();
    const ifMatch = response.headers.get('etag') ?? '';
    expect(data).toEqual({ ...prompt, warnings: data.warnings });
    expect(await gateway.prompts.get(prompt.id, { ifNoneMatch: ifMatch })).toBeUndefined();
    const changed = await gateway.prompts.update(prompt.id, { description: 'Says hello' }, { ifMatch });
    expect(changed.description).toBe('Says hello');
    await expect(gateway.prompts.update(prompt.id, { description: '' }, { ifMatch })).rejects.toThrow(
      PreconditionFailedError,
    );
    expect((await gateway.prompts.list({ q: 'greet' })).pagination.total).toBe(1);

    const messages = [{ role: 'user', content: 'Hi {{name}}!' } as const];
    await gateway.prompts.update(prompt.id, { messages });
    expect((await gateway.prompts.getStatistics(prompt.slug, { span: 'day' })).points).toHaveLength(96);
    expect((await gateway.promptVersions.list(prompt.id)).data.map(({ version }) => version)).toEqual([2, 1]);
    expect((await gateway.promptVersions.get(prompt.id, 2)).messages).toEqual(messages);
    expect((await gateway.promptVersions.restore(prompt.id, 1)).version).toBe(3);

    const providers = [{ provider: 'echo' }];
    const run = await gateway.testRuns.create(prompt.id, { providers, variables: { name: 'Ada' } });
    expect(run).toMatchObject({ status: 'done', results: [{ provider: 'echo' }] });
    const later = await gateway.testRuns.create(
      ...[prompt.id, { providers, variables: { name: 'Bo' } }, { headers: { Prefer: 'respond-async' } }],
    );
    expect(later).not.toHaveProperty('results');
    expect((await gateway.testRuns.get(run.id)).id).toBe(run.id);
    expect((await gateway.testRuns.getResults(run.id)).results).toHaveLength(1);
    expect((await gateway.testRuns.list(prompt.id).toArray({ limit: 10 })).map(({ id }) => id)).toContain(run.id);
    const [{ id: invocation } = { id: '' }] = (await gateway.invocations.list({ prompt: prompt.id })).data;
    expect((await gateway.invocations.get(invocation)).operation).toBe('test-run');
    await expect(gateway.invocations.getContent(invocation)).rejects.toThrow(NotFoundError);
    expect(await gateway.invocations.createFeedback(invocation, { score: 1 })).toMatchObject({ score: 1 });
    expect(await gateway.invocations.deleteContent(invocation)).toEqual({ ok: true });
    expect(await gateway.invocations.export({ prompt: prompt.id })).toContain(invocation);
    expect((await gateway.providers.list()).map(({ id }) => id)).toContain('echo');
    expect(await gateway.providers.test('echo')).toMatchObject({ text: 'Reply with OK.' });
    expect((await gateway.service.getAttention()).kinds).toContain('provider');
    const exported = await gateway.prompts.export({ versions: 'current' });
    const prompts = exported
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Schemas['PromptExport']);
    expect((await gateway.prompts.import({ prompts, dry_run: true })).results).toContainEqual(
      expect.objectContaining({ id: prompt.id, status: 'unchanged' }),
    );
    expect(await gateway.prompts.delete(prompt.id)).toEqual({ ok: true });
  });

  it('of locations, catalog, orders and fiscal days send their requests', async () => {
    expect((await gateway.locations.get(location.id)).name).toBe('Canal Café');
    expect((await gateway.locations.update(location.id, { tax_rate_ppm: 90_000 })).tax_rate_ppm).toBe(90_000);
    expect((await gateway.locations.list()).data).toHaveLength(1);
    const category = await gateway.categories.get(product.category_id);
    expect((await gateway.categories.update(category.id, { name: 'Coffee' })).name).toBe('Coffee');
    expect((await gateway.categories.list({ location_id: location.id })).data).toHaveLength(1);
    expect((await gateway.products.update(product.id, { price: 430 })).price).toBe(430);
    expect((await gateway.products.get(product.id)).price).toBe(430);
    expect((await gateway.products.list({ category_id: category.id })).data).toHaveLength(1);

    const { total } = await gateway.orders.calculate(newOrder());
    const order = await gateway.orders.create(newOrder());
    expect(order.total).toBe(total);
    expect(order).toMatchObject({ subtotal: 430, total: 469, status: 'open' });
    expect(await gateway.orders.get(order.id)).toEqual(order);
    expect((await gateway.orders.complete(order.id)).status).toBe('completed');
    const canceled = await gateway.orders.create(newOrder());
    expect((await gateway.orders.cancel(canceled.id)).status).toBe('canceled');
    expect((await gateway.orders.list({ status: 'canceled' })).data.map(({ id }) => id)).toEqual([canceled.id]);

    expect((await gateway.fiscalDays.list(location.id)).data).toEqual([]);
    await expect(gateway.fiscalDays.close(location.id, '1999-01-01')).rejects.toThrow(NotFoundError);
    await expect(gateway.fiscalDays.get(location.id, '1999-01-01')).rejects.toThrow(NotFoundError);
  });

  it('of integrations, deliveries, replays and event types send their requests', async () => {
    const created = await gateway.integrations.create({
      name: 'Till',
      url: receiver.url,
      event_types: ['ORDER_PLACED'],
    });
    const { id } = created;
    expect((await gateway.integrations.update(id, { name: 'Till 2' })).name).toBe('Till 2');
    expect((await gateway.integrations.list()).data.map((integration) => integration.id)).toEqual([id]);
    const { secret_rotation } = await gateway.integrations.beginSecretRotation(id);
    const rotation = secret_rotation?.id ?? '';
    expect(
      (await gateway.integrations.finishSecretRotation(id, { rotation_id: rotation })).secret_rotation,
    ).toBeUndefined();
    await gateway.integrations.beginSecretRotation(id, { secret: 'EXAMPLE-not-a-real-secret-9876543210' });
    expect((await gateway.integrations.cancelSecretRotation(id)).secret_rotation).toBeUndefined();
    expect((await gateway.integrations.pause(id)).status).toBe('paused');
    expect((await gateway.integrations.enable(id)).status).toBe('active');
    expect((await gateway.integrations.get(id)).name).toBe('Till 2');
    expect((await gateway.integrations.getStatistics(id)).points).toHaveLength(60);

    const preview = await gateway.integrations.previewFilter({
      ...{ event_types: ['ORDER_PLACED'], filter: { 'data.total': { $gte: 1 } } },
    });
    expect(preview.data.every(({ event_type }) => event_type === 'ORDER_PLACED')).toBe(true);

    const delivery = await gateway.integrations.sendTestEvent(id);
    await receiver.received(1);
    expect((await gateway.deliveries.get(delivery.id)).event_type).toBe('TEST');
    expect((await gateway.deliveries.list({ integration_id: id })).data.map((entry) => entry.id)).toContain(
      delivery.id,
    );
    expect((await gateway.deliveries.listAttempts(delivery.id)).pagination.total).toBeLessThanOrEqual(1);
    const since = new Date(Date.now() - 60_000).toISOString();
    const replay = await gateway.replays.create(id, { since, until: new Date().toISOString() });
    expect((await gateway.replays.get(replay.id)).id).toBe(replay.id);
    expect((await gateway.replays.list(id)).data.map((entry) => entry.id)).toEqual([replay.id]);
    expect(await gateway.deliveries.resend(delivery.id)).toMatchObject({ event_type: 'TEST' });
    expect((await gateway.eventTypes.list()).data.map(({ type }) => type)).toContain('ORDER_PLACED');
    const { next } = await gateway.events.list({ after: 'now' });
    expect(await gateway.events.list({ after: next, type: 'FISCAL_DAY_END' })).toMatchObject({ data: [], more: false });
    expect((await gateway.eventTypes.getSchema('ORDER_PLACED')).$id).toBe('/schemas/events/ORDER_PLACED/v1.json');
    expect(await gateway.integrations.delete(id)).toEqual({ ok: true });
  });

  it('of API keys and the service send their requests', async () => {
    const { id, key } = await gateway.apiKeys.create({ name: 'Till', scopes: ['orders:read'] });
    const till = new PromptGateway({ baseUrl: setup.service.url, apiKey: key });
    expect(await till.apiKeys.getCurrent()).toMatchObject({ scopes: ['orders:read'] });
    await expect(till.prompts.list()).rejects.toThrow(PermissionError);
    expect((await gateway.apiKeys.get(id)).name).toBe('Till');
    expect((await gateway.apiKeys.update(id, { name: 'Till 2' })).name).toBe('Till 2');
    expect((await gateway.apiKeys.list({ status: 'active' })).data.map((entry) => entry.id)).toContain(id);
    expect(await gateway.apiKeys.revoke(id, { descendants: 'revoke' })).toMatchObject({ id });
    await gateway.apiKeys.getCurrent();
    const person = await insertPerson(setup.service);
    expect((await gateway.people.list()).data.map((one) => one.id)).toEqual([person.id]);
    expect((await gateway.people.get(person.id)).name).toBe('Ada');
    expect((await gateway.people.update(person.id, { disabled: true })).disabled).toBe(true);
    expect((await gateway.people.signOut(person.id)).id).toBe(person.id);
    expect(await gateway.people.revokeKeys(person.id)).toEqual({ revoked: 0 });
    expect((await gateway.people.listRoles()).data.map(({ name }) => name)).toContain('editor');
    const [revoked] = (await gateway.auditLog.list({ resource_id: id })).data;
    expect(revoked).toMatchObject({ operation: 'revokeApiKey', author: { name: 'administrator' } });

    const anonymous = new PromptGateway({
      baseUrl: setup.service.url,
      apiKey: null,
      headers: { Origin: setup.service.url },
      hooks: { onRequest: ({ operation }) => used.add(operation) },
    });
    const session = await anonymous.sessions.create({ api_key: setup.service.adminKey });
    expect(session.api_key.scopes).toContain('prompts:read');
    expect(await gateway.sessions.delete()).toEqual({ ok: true });
    expect(await anonymous.service.getInfo()).toEqual(await gateway.service.getInfo());
    await expect(anonymous.prompts.list()).rejects.toThrow(AuthenticationError);
    expect(await gateway.service.getLiveness()).toEqual({ status: 'ok' });
    expect(await gateway.service.getReadiness()).toMatchObject({ status: 'ok' });
    expect((await gateway.service.getStatistics()).interval_seconds).toBe(60);
    expect(await gateway.service.getMetrics()).toContain('# HELP ');
    expect((await gateway.service.getOpenApiDocument()).openapi).toBe('3.1.0');
    expect((await gateway.service.getAsyncApiDocument()).asyncapi).toBe('3.0.0');
  });

  it('cover budgets', async () => {
    const limit = { amount: '5', currency: 'USD' as const };
    expect(await gateway.budgets.set('of-tests', { limit, period: 'month' })).toMatchObject({
      name: 'of-tests',
      limit,
    });
    expect((await gateway.budgets.get('of-tests')).current.left).toEqual(limit);
    expect((await gateway.budgets.list()).data.map(({ name }) => name)).toContain('of-tests');
    expect(await gateway.budgets.delete('of-tests')).toEqual({ ok: true });
  });

  it('cover data sets', async () => {
    const lines = '{"id":"a"}\n{"id":"b"}\n';
    expect(await gateway.datasets.set('of-tests', lines)).toMatchObject({ version: 1, cases: 2 });
    expect(await gateway.datasets.exportCases('of-tests', 1)).toBe(lines);
    expect(await gateway.datasets.addCases('of-tests', { cases: [{ id: 'c' }] })).toMatchObject({ version: 2 });
    expect((await gateway.datasets.listCases('of-tests', 2)).data).toHaveLength(3);
    expect((await gateway.datasets.listVersions('of-tests')).data).toHaveLength(2);
    expect((await gateway.datasets.list()).data).toEqual([await gateway.datasets.get('of-tests')]);
    const [checked, rule] = [[{ type: 'contains' as const, value: 'Hi' }], { all_pass: true as const }];
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const { slug } = await gateway.prompts.create({ name: 'Evaluated', selected_provider: 'echo', messages });
    const start = { candidate: { version: 1 }, dataset: { name: 'of-tests' }, checks: checked, rule };
    const begun = await gateway.evaluations.create(slug, start);
    const id = 'id' in begun ? begun.id : '';
    expect((await gateway.evaluations.cancel(id)).id).toBe(id);
    expect((await gateway.evaluations.list(slug)).data).toEqual([await gateway.evaluations.get(id)]);
    expect(await gateway.evaluations.exportResults(id)).toMatch(/^$|"outcome"/);
    expect(await gateway.evaluations.getCalibration(id)).toEqual({ judges: [] });
    expect((await gateway.evaluations.listJudgedAnswers(id)).data).toEqual([]);
    await expect(gateway.evaluations.setMark(id, '0.a.0', { pass: true })).rejects.toMatchObject({ status: 404 });
    expect(await gateway.datasets.delete('of-tests')).toEqual({ ok: true });
  });

  it('cover gates and canaries', async () => {
    const { version } = await gateway.datasets.set('of-gate', '{"id":"one"}\n');
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const { slug } = await gateway.prompts.create({ name: 'Gated', selected_provider: 'echo', messages });
    await gateway.labels.set(slug, 'production', { version: 1 }, { ifNoneMatch: '*' });
    await gateway.prompts.update(slug, { messages: [{ role: 'user', content: 'Hello' }] }, { ifMatch: '*' });

    const target = { version: 2, share: 0.1, hours: 1 };
    const anyMatch = { ifMatch: '*' };
    const started = await gateway.labels.setCanary(slug, 'production', target, anyMatch);
    expect((await gateway.labels.getCanary(slug, 'production')).id).toBe(started.id);
    expect(await gateway.labels.deleteCanary(slug, 'production', anyMatch)).toEqual({ ok: true });
    await gateway.labels.setCanary(slug, 'production', target, anyMatch);
    expect((await gateway.labels.promoteCanary(slug, 'production', anyMatch)).ended?.reason).toBe('promoted');

    const checks = [{ type: 'contains' as const, value: 'H' }];
    const gate = { dataset: { name: 'of-gate', version }, checks, rule: { all_pass: true as const } };
    await gateway.gates.set(slug, 'staging', gate);
    expect((await gateway.gates.get(slug, 'staging')).dataset).toEqual({ name: 'of-gate', version });
    expect((await gateway.gates.list(slug)).data.map(({ label }) => label)).toEqual(['staging']);
    expect((await gateway.gates.createEvaluation(slug, 'staging', { version: 2 })).gate?.label).toBe('staging');
    expect((await gateway.gates.getVersion(slug, 'staging', 2)).comparisons).toHaveLength(1);
    expect(await gateway.gates.delete(slug, 'staging', anyMatch)).toEqual({ ok: true });
  });

  it('cover prices', async () => {
    const rates = [{ input: '2.5', output: '10' }];
    expect(await gateway.prices.set('openai', 'my-model', { rates })).toMatchObject({
      provider: 'openai',
      model: 'my-model',
    });
    expect((await gateway.prices.get('openai', 'my-model')).source).toBe('operator');
    expect((await gateway.costs.get({ by: 'model' })).total.without_cost).toBe(0);
    expect((await gateway.prices.list()).data.map(({ model }) => model)).toContain('my-model');
    expect(await gateway.prices.delete('openai', 'my-model')).toEqual({ ok: true });
  });

  it('were all called', () => {
    const all = Object.entries(operationTable).flatMap(([resource, methods]) =>
      Object.keys(methods).map((name) => `${resource}.${name}`),
    );
    expect([...used].toSorted()).toEqual(all.toSorted());
  });
});

describe('the raw client', () => {
  it('reaches every path, and returns errors instead of throwing them', async () => {
    const params = { path: { slugOrId: 'nobody' } };
    const { data, error, response } = await gateway.raw.GET('/api/v1/prompts/{slugOrId}', { params });
    expect([data, error?.type, response.status]).toEqual([undefined, problem('prompt-not-found'), 404]);
  });
});

describe('errors', () => {
  it('have a class, type, status, headers, request id and problem', async () => {
    const error: unknown = await gateway.prompts.invoke('nobody').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotFoundError);
    if (!isProblemOf(error, 'prompts.invoke')) throw new Error('another error');
    expect(isProblemOf(error, 'prompts.get')).toBe(false);
    expect(error).toMatchObject({
      name: 'NotFoundError',
      type: problem('prompt-not-found'),
      status: 404,
      title: 'Prompt not found',
      requestId: error.problem.request_id,
      problem: { instance: '/api/v1/prompts/nobody/invoke', detail: error.detail },
      attempts: 1,
      mayHaveBeenApplied: false,
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(error.headers.get('x-request-id')).toBe(error.requestId);
    expect(error.message).toBe(
      `prompts.invoke: ${error.detail} [404 prompt-not-found] (request ${error.requestId ?? ''})`,
    );
  });

  it('have the class of their status', async () => {
    const { slug } = await gateway.prompts.create(greeter());
    const missing: unknown = await gateway.prompts.invoke(slug).catch((reason: unknown) => reason);
    expect(missing).toBeInstanceOf(UnprocessableError);
    expect(missing).toMatchObject({ type: problem('missing-variables'), problem: { variables: ['name'] } });
    await expect(gateway.prompts.create({ ...greeter(), slug })).rejects.toThrow(ConflictError);
    const body = { ...greeter(), messages: [] };
    await expect(gateway.prompts.create(body)).rejects.toThrow(/ #\/messages: must have at least 1 item\. \[400 /);
  });
});

describe('orders through a proxy that cuts connections', () => {
  const count = isNightly ? 1_000 : 100;
  const losses: Loss[] = ['request', 'answer', 'half-answer'];
  /** No loss, one loss, and two in a row, in every combination: the client repeats a request twice. */
  const fates: Loss[][] = [
    [],
    ...losses.map((one) => [one]),
    ...losses.flatMap((one) => losses.map((two) => [one, two])),
  ];

  it(`are placed exactly once (${count} orders), and the list contains all`, async () => {
    // Keyed by the body, because a repeated request belongs to its first attempt.
    const coming = new Map<string, Loss[]>();
    const proxy = await startLossyHttpProxy(setup.service.url, (method, body) => {
      if (method !== 'POST') return 'none';
      if (!coming.has(body)) coming.set(body, [...(fates[coming.size % fates.length] ?? [])]);
      return coming.get(body)?.shift() ?? 'none';
    });
    const till = createImpatientGateway({ baseUrl: proxy.url, apiKey: setup.service.adminKey });
    const shop = await till.locations.create({ name: 'Lossy', currency: 'EUR', time_zone: 'UTC' });
    const category = await till.categories.create({ location_id: shop.id, name: 'Drinks' });
    const tea = await till.products.create({ location_id: shop.id, category_id: category.id, name: 'Tea', price: 1 });

    const references = Array.from({ length: count }, () => randomUUID());
    const limit = pLimit(16);
    const body = { location_id: shop.id, items: [{ product_id: tea.id, quantity: 1 }] };
    const placed = await Promise.all(
      references.map((reference_id) => limit(() => till.orders.create({ ...body, reference_id }))),
    );
    expect(placed.map(({ reference_id }) => reference_id)).toEqual(references);

    const walked: Schemas['OrderListItem'][] = [];
    for await (const order of till.orders.list({ location_id: shop.id, limit: 30 })) walked.push(order);
    expect(walked.map(({ reference_id }) => reference_id).toSorted()).toEqual(references.toSorted());
    expect(walked.map(({ id }) => id).toSorted()).toEqual(placed.map(({ id }) => id).toSorted());

    const pages: number[] = [];
    for await (const page of till.orders.list({ location_id: shop.id, limit: 50, offset: 10 }).pages()) {
      pages.push(page.data.length);
    }
    expect(pages).toEqual([...Array.from({ length: count / 50 - 1 }, () => 50), 40]);
    expect(await till.orders.list({ location_id: shop.id, limit: 50 }).toArray({ limit: 70 })).toHaveLength(70);
    // The proxy really caused each kind of loss.
    for (const loss of losses) expect(proxy.counts[loss]).toBeGreaterThan(count / 3);
    await proxy.close();
  });
});

describe('a list', () => {
  it('throws once, where the caller iterates', async () => {
    const lists = [
      () => gateway.orders.list({ after: 'not-a-position' }).toArray({ limit: 5 }),
      () => gateway.orders.list({ after: 'not-a-position' }).withResponse(),
      async () => {
        for await (const _ of gateway.orders.list({ after: 'not-a-position' })) throw new Error('an entry');
      },
    ];
    for (const list of lists) await expect(list()).rejects.toMatchObject({ type: problem('invalid-request') });
  });
});

describe('the package', () => {
  it('has the version of the service', () => {
    expect(clientPackage.version).toBe(servicePackage.version);
  });
});
