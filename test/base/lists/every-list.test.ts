import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId, type OperationRow } from '../../../generated/operations.ts';
import document from '../../../generated/openapi.json' with { type: 'json' };
import {
  createInvocationId,
  dayOf,
  timeOf as invocationTime,
} from '../../../src/accounting/invocations/invocation-id.ts';
import { createFiscalDayStore } from '../../../src/orders/fiscal-days/fiscal-day-store.ts';
import type { operations } from '../../../generated/types.ts';
import { createCatalog, createProduct } from '../../orders/catalog/catalog-harness.ts';
import { createIntegration, eventually, sendTest } from '../../webhooks/integrations/integrations-harness.ts';
import { openShop, placeOrder } from '../../orders/orders-harness.ts';
import { datasetsPath, setDataset } from '../../prompts/evaluations/datasets/datasets-harness.ts';
import { answersOf, answersPath, createJudge } from '../../prompts/evaluations/judges/judges-harness.ts';
import { ended, startEvaluation } from '../../prompts/evaluations/runs/evaluations-harness.ts';
import { create as createPrompt, promptsPath } from '../../prompts/prompts-harness.ts';
import { problem, setUp } from '../../support/per-operation.ts';
import { insertPerson } from '../../support/person.ts';
import { startReceiver } from '../../support/receiver.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const setup = setUp({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });

/** The operations that answer with pages. */
type ListId = {
  [Id in OperationId]: operations[Id]['responses'] extends {
    200: { content: { 'application/json': { pagination: object } } };
  }
    ? Id
    : never;
}[OperationId];

/** A list with seven entries, and how to change it. */
interface Sample {
  readonly path: string;
  readonly keyOf?: (entry: Answer['body']) => string;
  /** The entries in the order of the list. There may be others. */
  readonly keys: readonly string[];
  /** For a list with added and removed entries. */
  readonly change?: {
    remove(key: string): Promise<void>;
    /** Adds an entry before all others, and one directly after an entry. @returns the key of the second one */
    insert(behind: string): Promise<string>;
  };
}

const size = 7;
const second = 1_000;
/** The time of an entry by its index in the list. */
const timeOf = (place: number): Date => new Date(Date.parse('2026-03-01T12:00:00Z') - place * second);

/** Creates a list of copies of one document. */
async function copies(
  collection: string,
  original: string,
  path: string,
  {
    time = 'created_at',
    idOf = randomUUID,
    own = () => ({}),
  }: { time?: string; idOf?: () => string; own?: (key: string) => Record<string, unknown> } = {},
): Promise<Sample> {
  const documents = setup.database.db.collection<{ _id: string }>(collection);
  const first = await documents.findOneAndDelete({ _id: original });
  const add = async (place: number): Promise<string> => {
    const _id = idOf();
    await documents.insertOne({ ...first, _id, [time]: timeOf(place), ...own(_id) });
    return _id;
  };
  // The third and the fourth have the same time.
  const keys: string[] = [];
  for (const place of [0, 1, 2, 2, 4, 5, 6]) keys.push(await add(place));
  if ((keys[2] ?? '') > (keys[3] ?? '')) keys.splice(2, 2, keys[3] ?? '', keys[2] ?? '');
  return {
    path,
    keys,
    change: {
      async remove(key) {
        await documents.deleteOne({ _id: key });
      },
      async insert(behind) {
        await add(-1);
        return add(keys.indexOf(behind) + 0.5);
      },
    },
  };
}

const lists: Record<ListId, () => Promise<Sample>> = {
  async listPrompts() {
    const { id } = await createPrompt(setup.service, { name: 'Listed' });
    return copies('prompts', id, `${promptsPath}?q=Listed`, {
      time: 'updated_at',
      own: (slug) => ({ slug: `p${slug}` }),
    });
  },
  async listPromptVersions() {
    const { id } = await createPrompt(setup.service);
    const change = async (name: number): Promise<void> => {
      const body = { messages: [{ role: 'user', content: `v${name}` }] };
      expect((await setup.service.call('PUT', `${promptsPath}/${id}`, { body })).status).toBe(200);
    };
    for (let version = 2; version <= size; version += 1) await change(version);
    const keyOf = ({ version }: { version: number }): string => String(version);
    return { path: `${promptsPath}/${id}/versions`, keyOf, keys: ['7', '6', '5', '4', '3', '2', '1'] };
  },
  async listLabels() {
    const { id } = await createPrompt(setup.service);
    const path = `${promptsPath}/${id}/labels`;
    const set = (name: string): Promise<Answer> =>
      setup.service.call('PUT', `${path}/${name}`, { body: { version: 1 } });
    const keys = ['a', 'b', 'c', 'e', 'f', 'g', 'h'];
    for (const name of keys.toReversed()) await set(name);
    const change = {
      async remove(name: string): Promise<void> {
        await setup.service.call('DELETE', `${path}/${name}`, { headers: { 'If-Match': '*' } });
      },
      async insert(behind: string): Promise<string> {
        await set('a-0');
        await set(`${behind}-1`);
        return `${behind}-1`;
      },
    };
    return { path, keyOf: ({ name }: { name: string }) => name, keys, change };
  },
  async listGates() {
    const { id } = await createPrompt(setup.service);
    await setDataset(setup.service, 'gated', ['{"checks":[{"type":"contains","value":"a"}]}']);
    const pathOf = (label: string): string => `${promptsPath}/${id}/labels/${label}/gate`;
    const set = async (label: string): Promise<string> => {
      const body = { dataset: { name: 'gated', version: 1 }, rule: { all_pass: true } };
      await setup.service.call('PUT', pathOf(label), { body });
      return label;
    };
    const keys = ['a', 'b', 'c', 'e', 'f', 'g', 'h'];
    for (const label of keys.toReversed()) await set(label);
    const change = {
      async remove(label: string): Promise<void> {
        await setup.service.call('DELETE', pathOf(label), { headers: { 'If-Match': '*' } });
      },
      async insert(behind: string): Promise<string> {
        await set('a-0');
        return set(`${behind}-1`);
      },
    };
    return { path: `${promptsPath}/${id}/gates`, keyOf: ({ label }: { label: string }) => label, keys, change };
  },
  async listDatasets() {
    const set = async (name: string): Promise<string> => {
      await setDataset(setup.service, name, ['{}']);
      return name;
    };
    const keys = ['a', 'b', 'c', 'e', 'f', 'g', 'h'];
    for (const name of keys.toReversed()) await set(name);
    const change = {
      async remove(name: string): Promise<void> {
        await setup.service.call('DELETE', `${datasetsPath}/${name}`);
      },
      async insert(behind: string): Promise<string> {
        await set('a-0');
        return set(`${behind}-1`);
      },
    };
    return { path: datasetsPath, keyOf: ({ name }: { name: string }) => name, keys, change };
  },
  async listDatasetVersions() {
    for (let version = 1; version <= size; version += 1) {
      await setDataset(setup.service, 'versions', [`{"id":"${version}"}`]);
    }
    const keyOf = ({ version }: { version: number }): string => String(version);
    return { path: `${datasetsPath}/versions/versions`, keyOf, keys: ['7', '6', '5', '4', '3', '2', '1'] };
  },
  async listDatasetCases() {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await setDataset(
      setup.service,
      'cases',
      keys.map((id) => JSON.stringify({ id })),
    );
    return { path: `${datasetsPath}/cases/versions/1/cases`, keys };
  },
  async listBudgets() {
    const set = async (name: string): Promise<string> => {
      const body = { scope: { tag: 'team=listed' }, limit: { amount: '1', currency: 'USD' }, period: 'once' };
      await setup.service.call('PUT', `/api/v1/budgets/${name}`, { body });
      return name;
    };
    const keys = ['a', 'b', 'c', 'e', 'f', 'g', 'h'];
    for (const name of keys.toReversed()) await set(name);
    const change = {
      async remove(name: string): Promise<void> {
        await setup.service.call('DELETE', `/api/v1/budgets/${name}`);
      },
      async insert(behind: string): Promise<string> {
        await set('a-0');
        return set(`${behind}-1`);
      },
    };
    return { path: '/api/v1/budgets', keyOf: ({ name }: { name: string }) => name, keys, change };
  },
  async listLabelMoves() {
    const { id } = await createPrompt(setup.service);
    const path = `${promptsPath}/${id}/labels/production`;
    const headers = { 'If-Match': '*' };
    for (let sequence = 1; sequence < size; sequence += 2) {
      await setup.service.call('PUT', path, { body: { version: 1 } });
      await setup.service.call('DELETE', path, { headers });
    }
    await setup.service.call('PUT', path, { body: { version: 1 } });
    const keyOf = ({ sequence }: { sequence: number }): string => String(sequence);
    return { path: `${path}/history`, keyOf, keys: ['7', '6', '5', '4', '3', '2', '1'] };
  },
  async listTestRuns() {
    const { id } = await createPrompt(setup.service);
    const body = { providers: [{ provider: 'echo' }] };
    const run = await setup.service.call('POST', `${promptsPath}/${id}/test`, { body });
    return copies('test_runs', run.body.id as string, `${promptsPath}/${id}/test-runs?status=done`);
  },
  async listEvaluations() {
    const { id } = await createPrompt(setup.service, { selected_provider: 'echo' });
    await setDataset(setup.service, 'measured', ['{"checks":[{"type":"contains","value":"a"}]}']);
    const body = { candidate: {}, dataset: { name: 'measured' }, rule: { all_pass: true } };
    const path = `${promptsPath}/${id}/evaluations`;
    const started = await setup.service.call('POST', path, { body });
    const made = started.body.id as string;
    await until(
      () => setup.service.call('GET', `/api/v1/evaluations/${made}`),
      (answer) => answer.body.status === 'ended',
    );
    return copies('evaluations', made, `${path}?status=ended`);
  },
  async listJudgedAnswers() {
    const { id } = await createPrompt(setup.service, { selected_provider: 'echo' });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await setDataset(
      setup.service,
      'judged',
      keys.map((key) => JSON.stringify({ id: key })),
    );
    const checks = [{ type: 'llm-rubric', value: 'greets', judge: await createJudge(setup.service, '{"pass": true}') }];
    const body = { candidate: {}, dataset: { name: 'judged' }, checks, rule: { all_pass: true } };
    const evaluation = await startEvaluation(setup.service, id, body);
    await ended(setup.service, evaluation);
    const answers = await answersOf(setup.service, evaluation);
    return { path: answersPath(evaluation), keys: answers.map((answer) => answer.id as string) };
  },
  async listInvocations() {
    const { id } = await createPrompt(setup.service, { selected_provider: 'echo' });
    const invoked = await setup.service.call('POST', `${promptsPath}/${id}/invoke`);
    const made = String(invoked.headers['x-invocation-id']);
    expect((await setup.service.call('GET', `/api/v1/invocations/${made}`)).status).toBe(200);
    const day = setup.database.db.collection<{ _id: string }>(`invocations_${dayOf(Date.now())}`);
    const first = await day.findOne({ _id: made });
    await day.deleteOne({ _id: made });
    const insert = async (place: number): Promise<string> => {
      const created_at = timeOf(place);
      const _id = createInvocationId(created_at, randomUUID());
      await setup.database.db
        .collection<{ _id: string; created_at: Date }>(`invocations_${dayOf(created_at.getTime())}`)
        .insertOne({ ...first, _id, created_at });
      return _id;
    };
    // Three of them on the day before.
    const midnight = 12 * 3_600;
    const places = [0, 1, 2, 2, midnight + 1, midnight + 2, midnight + 3];
    const keys: string[] = [];
    for (const place of places) keys.push(await insert(place));
    if ((keys[2] ?? '') > (keys[3] ?? '')) keys.splice(2, 2, keys[3] ?? '', keys[2] ?? '');
    return {
      path: `/api/v1/invocations?prompt=${id}`,
      keys,
      change: {
        async remove(key) {
          const time = invocationTime(key) ?? 0;
          await setup.database.db.collection<{ _id: string }>(`invocations_${dayOf(time)}`).deleteOne({ _id: key });
        },
        async insert(behind) {
          await insert(-1);
          return insert((places[keys.indexOf(behind)] ?? 0) + 0.5);
        },
      },
    };
  },
  async listPeople() {
    const { id } = await insertPerson(setup.service);
    return copies('people', id, '/api/v1/people', { time: 'first_sign_in_at' });
  },
  async listLocations() {
    const { location } = await createCatalog(setup.service);
    return copies('locations', location.id, '/v1/locations');
  },
  async listCategories() {
    const { location, category } = await createCatalog(setup.service);
    const idOf = (): string => `cat_${randomUUID().replaceAll('-', '')}`;
    return copies('categories', category.id, `/v1/categories?location_id=${location.id}`, { idOf });
  },
  async listProducts() {
    const { location, category } = await createCatalog(setup.service);
    const { id } = await createProduct(setup.service, category);
    return copies('products', id, `/v1/products?location_id=${location.id}&category_id=${category.id}`);
  },
  async listOrders() {
    const shop = await openShop(setup.service);
    const { id } = await placeOrder(setup.service, shop);
    return copies('orders', id, `/v1/orders?location_id=${shop.location.id}&status=open`);
  },
  async listFiscalDays() {
    const { location } = await openShop(setup.service);
    const store = createFiscalDayStore(setup.database);
    const close = async (date: string): Promise<void> => {
      const day = {
        locationId: location.id,
        date,
        orderCount: 0,
        total: 0,
        taxLines: [],
        currency: 'EUR',
        closedBy: 'service',
      } as const;
      await store.insert({ ...day, cutAt: new Date(`${date}T22:00:00.000Z`) }, [], []);
    };
    const keys = Array.from({ length: size }, (_, index) => `2026-03-1${size - index}`);
    for (const date of keys) await close(date);
    const keyOf = ({ date }: { date: string }): string => date;
    return { path: `/v1/locations/${location.id}/fiscal-days`, keyOf, keys };
  },
  async listIntegrations() {
    const { id, path } = await createIntegration(setup.service);
    await setup.service.call('POST', `${path}/pause`);
    return copies('integrations', id, '/api/v1/integrations?status=paused');
  },
  async listDeliveries() {
    const integration = await createIntegration(setup.service);
    await setup.service.call('POST', `${integration.path}/pause`);
    const { id } = await sendTest(setup.service, integration);
    return copies('deliveries', id as string, `/api/v1/deliveries?integration_id=${integration.id}&status=held`);
  },
  async listDeliveryAttempts() {
    const receiver = await startReceiver();
    const integration = await createIntegration(setup.service, { url: receiver.url });
    const { id } = await sendTest(setup.service, integration);
    const path = `/api/v1/deliveries/${id}/attempts`;
    await eventually(setup.service, path, ({ data }) => data.length > 0);
    await receiver.close();
    const attempts = setup.database.db.collection<{ _id: string; number: number }>('attempts');
    const first = await attempts.findOne({ delivery_id: id as string });
    for (let number = 2; number <= size; number += 1) {
      await attempts.insertOne({ ...first, _id: `${first?._id}${number}`, number });
    }
    const keyOf = ({ number }: { number: number }): string => String(number);
    return { path, keyOf, keys: ['1', '2', '3', '4', '5', '6', '7'] };
  },
  async listReplays() {
    const { path } = await createIntegration(setup.service);
    const { body } = await setup.service.call('POST', `${path}/replays`, { body: { since: '2026-01-01' } });
    await eventually(setup.service, `/api/v1/replays/${body.id}`, ({ status }) => status === 'done');
    return copies('replays', body.id as string, `${path}/replays?status=done`);
  },
  async listAuditLog() {
    const { id } = await createPrompt(setup.service);
    const { body } = await setup.service.call('GET', `/api/v1/audit-log?resource_id=${id}`);
    return copies('audit_log', String(body.data[0].id), `/api/v1/audit-log?resource_id=${id}`, { time: 'at' });
  },
  listEventTypes: () =>
    Promise.resolve({
      path: '/api/v1/event-types',
      keyOf: ({ type }: { type: string }) => type,
      keys: ['ORDER_PLACED', 'PRODUCT_UPDATED', 'CATEGORY_UPDATED', 'FISCAL_DAY_END', 'TEST'],
    }),
  async listPrices() {
    const body = { rates: [{ input: '1', output: '2' }] };
    const set = (model: string): Promise<Answer> => setup.service.call('PUT', `/api/v1/prices/echo/${model}`, { body });
    const keys = ['a', 'b', 'c', 'e', 'f', 'g', 'h'];
    for (const model of keys.toReversed()) await set(model);
    const change = {
      async remove(model: string): Promise<void> {
        await setup.service.call('DELETE', `/api/v1/prices/echo/${model}`);
      },
      async insert(behind: string): Promise<string> {
        await set('0');
        await set(`${behind}-1`);
        return `${behind}-1`;
      },
    };
    const keyOf = ({ model }: { model: string }): string => model;
    return { path: '/api/v1/prices?source=operator', keyOf, keys, change };
  },
  async listApiKeys() {
    const made = await setup.service.call('POST', '/api/v1/api-keys', { body: { name: 'L', scopes: ['orders:read'] } });
    return copies('api_keys', made.body.id as string, '/api/v1/api-keys?status=active');
  },
};

const withQuery = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;
const nextOf = ({ body }: Answer): string | null => body.pagination.next as string | null;

describe.each(Object.entries(lists))('%s', (operationId, prepare) => {
  let list: Sample;
  beforeAll(async () => {
    list = await prepare();
  });
  const get = async (query: string): Promise<Answer> => {
    const answer = await setup.service.call('GET', withQuery(list.path, query));
    expect(answer.status).toBe(200);
    return answer;
  };
  const keysOf = ({ body }: Answer): string[] =>
    (body.data as Answer['body'][]).map(list.keyOf ?? ((entry: { id: string }) => entry.id));
  const isKnown = (key: string): boolean => list.keys.includes(key);

  /** Reads all pages. @param between is called after each page with the number of pages so far */
  const walk = async (query: string, between?: (pages: number) => Promise<void>): Promise<string[]> => {
    const seen: string[] = [];
    let after = '';
    for (let pages = 1; ; pages += 1) {
      const answer = await get(`${query}${after}`);
      const { limit, offset, total } = answer.body.pagination as { limit: number; offset: number; total: number };
      expect([limit, offset]).toEqual([2, seen.length]);
      expect(total).toBeGreaterThanOrEqual(answer.body.data.length);
      seen.push(...keysOf(answer));
      const next = nextOf(answer);
      const link = /^<(.+)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1] ?? null;
      expect(link === null ? null : new URL(link, setup.service.url).searchParams.get('after')).toBe(next);
      if (next === null || link === null) return seen;
      // The link leads to the same page.
      const [byLink, byNext] = [await setup.service.call('GET', link), await get(`${query}&after=${next}`)];
      expect(byLink.body).toEqual(byNext.body);
      await between?.(pages);
      after = `&after=${next}`;
    }
  };

  it('contains each entry once when it is read with `after`', async () => {
    const seen = await walk('limit=2');
    expect(seen.filter(isKnown)).toEqual(list.keys);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('has the same order when it is read with `offset`', async () => {
    const all = await get('limit=100');
    const part = await get('limit=3&offset=1');
    expect(keysOf(part)).toEqual(keysOf(all).slice(1, 4));
    expect(part.body.pagination).toMatchObject({ total: all.body.data.length, limit: 3, offset: 1 });
    const following = await get(`limit=3&after=${nextOf(part)}`);
    expect(keysOf(following)).toEqual(keysOf(all).slice(4, 7));
    expect(following.body.pagination.offset).toBe(4);
  });

  it('is empty after its end, and has no next page', async () => {
    const { body, headers } = await get('offset=10000');
    expect(body).toMatchObject({ data: [], pagination: { offset: 10_000, next: null } });
    expect(headers).not.toHaveProperty('link');
    const further = await setup.service.call('GET', withQuery(list.path, 'offset=10001'));
    expect([further.status, further.body.errors]).toEqual([
      400,
      [
        {
          detail: 'must be at most 10000; to read further, send pagination.next of a page as after',
          parameter: 'offset',
        },
      ],
    ]);
  });

  it('has the limits of all lists', async () => {
    const row: OperationRow = operationTable[operationId as ListId];
    const names = row.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['limit', 'after', 'offset']));
    const most = operationId === 'listPrompts' ? 1_000 : 100;
    const usual = row.isWholeWithoutLimit === true ? size : 20;
    expect((await get('')).body.pagination).toMatchObject({ limit: usual, offset: 0 });
    expect((await get(`limit=${most}`)).body.pagination.limit).toBe(most);
    expect(row.isWholeWithoutLimit).toBe(operationId === 'listPrompts' || undefined);
    for (const query of ['limit=0', `limit=${most + 1}`, 'limit=', 'offset=-1', 'limit=2&limit=3', 'unknown=1']) {
      const { status, body } = await setup.service.call('GET', withQuery(list.path, query));
      expect([query, status, body.type]).toEqual([query, 400, problem('invalid-request')]);
    }
  });

  it('refuses an `after` that is not the `next` of one of its pages, or comes with an `offset` above 0', async () => {
    const next = nextOf(await get('limit=2')) ?? '';
    const refuse = async (path: string, parameter: string): Promise<void> => {
      const { status, body } = await setup.service.call('GET', path, { differs: 'cursor' });
      expect([path, status, body.type]).toEqual([path, 400, problem('invalid-request')]);
      expect(body.errors).toEqual([{ detail: expect.any(String), parameter }]);
    };
    await refuse(withQuery(list.path, `after=${next}&offset=2`), 'offset');
    // Some generated clients send the default.
    expect((await get(`limit=2&after=${next}&offset=0`)).body.data).toEqual(
      (await get(`limit=2&after=${next}`)).body.data,
    );
    await refuse(withQuery(list.path, 'after=2'), 'after');
    await refuse(withQuery(list.path, `after=${'A'.repeat(80)}`), 'after');
    await refuse(withQuery(list.path, `after=${next.slice(0, -2)}`), 'after');
    await refuse(withQuery(list.path, `after=${next}A`), 'after');
    await refuse(withQuery(list.path, `after=${next.startsWith('A') ? 'B' : 'A'}${next.slice(1)}`), 'after');
    // The `next` of another list, and of the same list with another filter.
    const other = operationId === 'listEventTypes' ? '/v1/orders' : '/api/v1/event-types';
    await refuse(`${other}?after=${next}`, 'after');
    if (list.path.includes('?')) await refuse(`${list.path.replace(/\?.*/, '')}?after=${next}`, 'after');
  });

  // This test is the last one, because it changes the list.
  it('neither hides nor repeats an entry while others are added and removed', async () => {
    if (list.change === undefined) return;
    const { insert, remove } = list.change;
    const [, seen = '', , , unseen = '', before = ''] = list.keys;
    let added = '';
    // The third page begins in the middle of the list. The entry before it is removed.
    const found = await walk('limit=2', async (pages) => {
      if (pages !== 1) return;
      await remove(seen);
      await remove(unseen);
      added = await insert(before);
    });
    expect(found.filter((key) => isKnown(key) || key === added)).toEqual(
      list.keys.flatMap((key) => (key === before ? [key, added] : key === unseen ? [] : [key])),
    );
  });
});

describe('the contract', () => {
  it('has the same paging for all lists', () => {
    const paged = (Object.entries(operationTable) as [string, OperationRow][])
      .filter(([, { parameters }]) => parameters.some(({ name, in: place }) => place === 'query' && name === 'limit'))
      .map(([operationId]) => operationId)
      // The pages of Anthropic's API, and those of a feed, which has no end.
      .filter((operationId) => !['listModels', 'listEvents'].includes(operationId));
    expect(paged.sort()).toEqual(Object.keys(lists).sort());
    const pages = Object.entries(document.components.schemas).filter(([name]) => name.endsWith('Page'));
    expect(pages).toHaveLength(paged.length);
    for (const [, page] of pages) {
      expect(page).toMatchObject({ properties: { pagination: { $ref: '#/components/schemas/Pagination' } } });
    }
  });
});
