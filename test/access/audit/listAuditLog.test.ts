import { hash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId, type OperationRow } from '../../../generated/operations.ts';
import type { components } from '../../../generated/types.ts';
import { create, promptsPath } from '../../prompts/prompts-harness.ts';
import { openShop } from '../../orders/orders-harness.ts';
import { callWith, cookieFor } from '../sessions/sessions-harness.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../../support/every-operation.ts';
import { problem, problemIn, setUp, startAnother } from '../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../support/service.ts';

type Record_ = components['schemas']['AuditRecord'];

const setup = setUp(environmentOfEveryOperation);
const path = '/api/v1/audit-log';
const list = (query = '', options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('GET', `${path}?${query}`, options);
const recordsOf = async (query: string): Promise<Record_[]> => {
  const answer = await list(`limit=100&${query}`);
  expect(answer.status).toBe(200);
  return answer.body.data as Record_[];
};
/** All records, by the id of the request. */
async function readAll(): Promise<Map<string, Record_[]>> {
  const found = new Map<string, Record_[]>();
  for (let next: string | null = ''; next !== null;) {
    const { body }: Answer = await list(`limit=100${next === '' ? '' : `&after=${next}`}`);
    for (const record of body.data as Record_[]) {
      found.set(record.request_id, [...(found.get(record.request_id) ?? []), record]);
    }
    next = body.pagination.next as string | null;
  }
  return found;
}

const rows = Object.entries(operationTable) as [OperationId, OperationRow][];
/** Operations that are not GET and have no record, and why. A new operation that writes has a record, or is added here. */
const unrecorded: Partial<Record<OperationId, string>> = {
  invokePrompt: 'the invocation log has it',
  createChatCompletion: 'the invocation log has it',
  createResponse: 'the invocation log has it',
  createMessage: 'the invocation log has it',
  countMessageTokens: 'it changes nothing',
  createEmbedding: 'the invocation log has it',
  sendMcpMessage: 'the operation of a tool has it',
  testProvider: 'the invocation log has it',
  createTestRun: 'the list of test runs and the invocation log have it',
  cancelEvaluation: 'only for one that has not ended: cancelEvaluation.test.ts',
  renderPrompt: 'it changes nothing',
  createInvocationFeedback: 'feedback is itself a record',
  setMark: 'a mark is itself a record',
  createOrder: 'orders are themselves records, and keep when they were placed and ended',
  calculateOrder: 'it changes nothing',
  previewIntegrationFilter: 'it changes nothing',
  completeOrder: 'as createOrder',
  cancelOrder: 'as createOrder',
  closeFiscalDay: 'fiscal days are themselves records, and keep why they ended',
  sendTestEvent: 'the list of deliveries has it',
  resendDelivery: 'the attempts of the delivery have it',
  createReplay: 'the list of replays has it',
};
/** A reading that is recorded. */
const reading: OperationId = 'getInvocationContent';
const recorded = rows
  .filter(([id, { method }]) => (method !== 'GET' && !(id in unrecorded)) || id === reading)
  .map(([id]) => id);
const others = rows.map(([id]) => id).filter((id) => !recorded.includes(id));

describe('every operation', () => {
  let calls: Record<OperationId, Call>;
  let records: Map<string, Record_[]>;
  const refused = new Map<OperationId, number[]>();
  beforeAll(async () => {
    const { service } = setup;
    calls = await callEveryOperation(service);
    const reader = await service.createKey('metrics:read');
    const refuse = async (id: OperationId, options: CallOptions & { to?: string }): Promise<void> => {
      const { method, path: valid, ...rest } = calls[id];
      const headers = { ...rest.headers, ...options.headers, 'X-Request-Id': `refused-${id}` };
      const answer = await service.call(method, options.to ?? valid, { ...rest, ...options, headers });
      refused.set(id, [...(refused.get(id) ?? []), answer.status]);
    };
    for (const id of recorded) {
      const row: OperationRow = operationTable[id];
      await refuse(id, { to: `${calls[id].path}?unknown=1` });
      if (row.scope !== null) await refuse(id, { key: reader });
      if (row.body !== 'none') await refuse(id, { body: { unknown: true } });
      if (row.parameters.some(({ name }) => name === 'If-Match'))
        await refuse(id, { headers: { 'If-Match': '"other"' } });
      const elsewhere = calls[id].path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g, (uuid) =>
        uuid.includes('-') ? randomUUID() : randomUUID().replaceAll('-', ''),
      );
      if (elsewhere !== calls[id].path) await refuse(id, { to: elsewhere });
    }
    for (const [id, { method, path: target, headers, ...rest }] of Object.entries(calls) as [OperationId, Call][]) {
      const marked = { ...rest, headers: { ...headers, 'X-Request-Id': id } };
      const answer =
        id === 'deleteSession'
          ? await callWith(service, await cookieFor(service, service.adminKey), method, target, marked)
          : await service.call(method, target, marked);
      expect([id, answer.status]).toEqual([id, answer.status < 300 ? answer.status : 'a success']);
    }
    records = await readAll();
  });

  it.each(recorded)('%s has one record', (id) => {
    const found = records.get(id) ?? [];
    expect(found.map(({ operation }) => operation)).toEqual([id]);
    const [{ resource_id, author, address } = { resource_id: '', author: undefined }] = found;
    expect(resource_id).not.toBe('');
    expect(address).toMatch(/127\.0\.0\.1/);
    if (id !== 'createSession') expect(author?.id).toBe('administrator');
  });

  it.each(others)('%s has none', (id) => {
    expect(records.get(id)).toBeUndefined();
  });

  it.each(recorded)('%s has none when it fails', (id) => {
    expect(refused.get(id)?.length).toBeGreaterThan(0);
    for (const status of refused.get(id) ?? []) expect(status).toBeGreaterThanOrEqual(400);
    expect(records.get(`refused-${id}`)).toBeUndefined();
  });

  it('has no secret', () => {
    const text = JSON.stringify([...records.values()]);
    expect(text).not.toContain('secret_hash');
    expect(text).not.toContain('ciphertext');
    expect(text).not.toMatch(/pgw_|whsec_/);
  });
});

describe('200', () => {
  it('says what was different, without the content of prompts', async () => {
    const { id, slug } = await create(setup.service, { name: 'Audited' });
    const change = { name: 'Renamed', messages: [{ role: 'user', content: 'a secret text' }] };
    await setup.service.call('PUT', `${promptsPath}/${slug}`, { body: change });
    await setup.service.call('PUT', `${promptsPath}/${slug}`, { body: change });
    await setup.service.call('PUT', `${promptsPath}/${slug}/labels/production`, { body: { version: 2 } });
    await setup.service.call('DELETE', `${promptsPath}/${slug}`);
    const [deleted, labelled, changed, created, ...more] = await recordsOf(`resource_id=${id}`);
    expect(more).toEqual([]);
    expect(created).toMatchObject({ operation: 'createPrompt', after: { id, slug, name: 'Audited', version: 1 } });
    expect(created).not.toHaveProperty('before');
    expect(changed).toMatchObject({
      operation: 'updatePrompt',
      resource_type: 'prompt',
      before: { name: 'Audited', version: 1 },
      after: { name: 'Renamed', version: 2 },
      withheld: ['messages'],
      author: { type: 'key', id: 'administrator', name: 'administrator' },
    });
    expect(labelled).toMatchObject({ operation: 'setLabel', after: { labels: { production: 2 } } });
    expect(deleted).toMatchObject({ operation: 'deletePrompt', before: { name: 'Renamed', version: 2 } });
    expect(deleted).not.toHaveProperty('after');
    expect(JSON.stringify([created, changed, deleted])).not.toContain('secret text');
  });

  it('names what was changed, also after its deletion, and says from where a label moved', async () => {
    const { id, slug } = (await create(setup.service, { name: 'Sorted' })).body;
    await setup.service.call('PUT', `${promptsPath}/${slug}`, { body: { name: 'Sorted again', note: 'n' } });
    await setup.service.call('PUT', `${promptsPath}/${slug}`, {
      body: { messages: [{ role: 'user', content: 'Two' }] },
    });
    for (const version of [1, 2]) {
      const headers = { 'If-Match': '*' };
      await setup.service.call('PUT', `${promptsPath}/${slug}/labels/live`, {
        body: { version },
        ...(version > 1 && { headers }),
      });
    }
    await setup.service.call('DELETE', `${promptsPath}/${slug}`);
    const [deleted, moved, placed] = await recordsOf(`resource_id=${id}`);
    expect([deleted, moved, placed].map((record) => record?.resource_name)).toEqual(Array(3).fill('Sorted again'));
    expect([placed?.before, placed?.after]).toEqual([{ labels: {} }, { labels: { live: 1 } }]);
    expect([moved?.before, moved?.after]).toEqual([{ labels: { live: 1 } }, { labels: { live: 2 } }]);
  });

  it('names the currency of amounts that do not name one', async () => {
    const { coffee } = await openShop(setup.service, { currency: 'CHF' });
    await setup.service.call('PUT', `/v1/products/${coffee.id}`, {
      body: { price: 450 },
      headers: { 'If-Match': '*' },
    });
    const [changed] = await recordsOf(`resource_id=${coffee.id}`);
    expect(changed).toMatchObject({ before: { price: 420 }, after: { price: 450 }, currency: 'CHF' });
    await setup.service.call('PUT', '/api/v1/prices/echo/mine', { body: { rates: [{ input: '1', output: '2' }] } });
    expect(await recordsOf('resource_id=echo/mine')).toMatchObject([{ currency: 'USD' }]);
  });

  it('names the session, and the key of who signs in', async () => {
    const key = await setup.service.createKey('prompts:write');
    const cookie = await cookieFor(setup.service, key);
    const body = { name: 'By hand', messages: [{ role: 'user', content: 'x' }] };
    const made = await callWith(setup.service, cookie, 'POST', promptsPath, { body });
    await callWith(setup.service, cookie, 'DELETE', '/api/v1/session');
    const [created] = await recordsOf(`resource_id=${made.body.id}`);
    const [out, prompt, session] = await recordsOf(`author_id=${created?.author.id}`);
    expect(prompt).toEqual(created);
    expect([session?.operation, out?.operation]).toEqual(['createSession', 'deleteSession']);
    expect(session?.resource_id).toMatch(/^[0-9a-f-]{36}$/);
    expect([out?.resource_id, out?.session_id, created?.session_id]).toEqual(Array(3).fill(session?.resource_id));
  });

  it('has a record of each key that is revoked with another', async () => {
    const make = async (key: string): Promise<{ id: string; key: string }> => {
      const body = { name: 'made', scopes: ['keys:manage'] };
      return (await setup.service.call('POST', '/api/v1/api-keys', { body, key })).body as { id: string; key: string };
    };
    const parent = await make(setup.service.adminKey);
    const child = await make(parent.key);
    const headers = { 'X-Request-Id': 'revoke-both' };
    await setup.service.call('POST', `/api/v1/api-keys/${parent.id}/revoke?descendants=revoke`, { headers });
    for (const { id } of [parent, child]) {
      const [record] = await recordsOf(`resource_id=${id}`);
      expect(record).toMatchObject({ operation: 'revokeApiKey', request_id: 'revoke-both', resource_type: 'api-key' });
      expect(Object.keys(record?.after ?? {})).toEqual(['revoked_at']);
    }
  });

  it('withholds secrets and headers of integrations, and says that they were changed', async () => {
    const integration = {
      name: 'Till',
      url: 'https://till.example.com/?token=abcdef0123456789',
      event_types: ['ORDER_PLACED'],
    };
    const { body } = await setup.service.call('POST', '/api/v1/integrations', { body: integration });
    const headers = { Authorization: 'Bearer very-secret' };
    await setup.service.call('PUT', `/api/v1/integrations/${body.id}`, { body: { headers } });
    const found = await recordsOf(`resource_id=${body.id}`);
    expect(found.map(({ withheld }) => withheld)).toEqual([['headers'], ['headers', 'secret']]);
    expect(JSON.stringify(found)).not.toMatch(/very-secret|abcdef0123456789/);
  });

  it('says how the filter of an integration was changed', async () => {
    const integration = { name: 'Bar', url: 'https://bar.example.com/', event_types: ['ORDER_PLACED'] };
    const first = { 'data.total': { $gte: 10_000 } };
    const { body } = await setup.service.call('POST', '/api/v1/integrations', {
      body: { ...integration, filter: first },
    });
    const filter = { 'data.spotName': 'Bar' };
    await setup.service.call('PUT', `/api/v1/integrations/${body.id as string}`, { body: { filter } });
    await setup.service.call('PUT', `/api/v1/integrations/${body.id as string}`, { body: { filter: {} } });
    const [removed, changed] = await recordsOf(`resource_id=${body.id as string}`);
    expect([changed?.before, changed?.after]).toEqual([{ filter: first }, { filter }]);
    expect([removed?.before, removed?.after]).toEqual([{ filter }, undefined]);
  });

  it('has a record of each version and label that an import stored', async () => {
    const versions = ['a', 'b'].map((content, index) => ({
      version: index + 1,
      messages: [{ role: 'user', content }],
    }));
    const slug = 'imported-with-label';
    const body = { prompts: [{ slug, name: 'Imported', labels: { production: 1 }, versions }] };
    const headers = { 'X-Request-Id': 'import-once' };
    for (const status of ['created', 'unchanged']) {
      const answer = await setup.service.call('POST', `${promptsPath}/import`, { body, headers });
      expect(answer.body.results).toMatchObject([{ status }]);
    }
    const found = await recordsOf('operation=importPrompts');
    const own = found.filter(({ request_id: id }) => id === 'import-once');
    expect(own.map(({ after }) => after)).toMatchObject([
      { labels: { production: 1 } },
      { version: 2 },
      { slug, version: 1 },
    ]);
  });

  it('cuts a long value, with its length and a digest', async () => {
    const name = 'Wide';
    const ids = Array.from({ length: 60 }, () => randomUUID());
    const limits = { prompts: ids.slice(0, 1) };
    const { service } = setup;
    const created = await service.call('POST', '/api/v1/api-keys', { body: { name, scopes: ['audit:read'], limits } });
    const at = `/api/v1/api-keys/${created.body.id}`;
    const { body: key } = await service.call('PUT', at, { body: { limits: { prompts: ids } } });
    const [widened] = await recordsOf(`resource_id=${key.id}`);
    const cut = (value: unknown) => {
      const text = JSON.stringify(value);
      return { start: text.slice(0, 1_000), length: text.length, sha256: hash('sha256', text) };
    };
    expect(widened).toMatchObject({ before: { limits: cut(limits) }, after: { limits: cut(key.limits) } });
    expect(widened?.cut).toEqual(['limits']);
    expect(widened).not.toHaveProperty('withheld');
  });

  it('stores neither a long value that is withheld nor its digest', async () => {
    const long = 's3cret'.repeat(130);
    const integration = {
      ...{ name: 'Long', url: 'https://till.example.com/', event_types: ['ORDER_PLACED'] },
      headers: { 'X-One': long, 'X-Two': long },
    };
    const { body } = await setup.service.call('POST', '/api/v1/integrations', { body: integration });
    const [record] = await recordsOf(`resource_id=${body.id}`);
    expect(record?.withheld).toEqual(['headers', 'secret']);
    expect(record).not.toHaveProperty('cut');
    expect(JSON.stringify(record)).not.toMatch(/s3cret|sha256|[0-9a-f]{64}/);
  });

  it.each([
    ['operation=createLocation', ({ operation }: Record_) => operation === 'createLocation'],
    ['resource_type=price', ({ resource_type }: Record_) => resource_type === 'price'],
    ['resource_type=dataset', ({ resource_type }: Record_) => resource_type === 'dataset'],
    ['resource_type=api-key&author_id=administrator', ({ resource_type }: Record_) => resource_type === 'api-key'],
    ['resource_id=echo%2Fother&author_id=administrator', ({ resource_id }: Record_) => resource_id === 'echo/other'],
    ['request_id=revoke-both', ({ request_id }: Record_) => request_id === 'revoke-both'],
    [
      'request_id=revoke-both&author_id=administrator&operation=revokeApiKey',
      ({ request_id }: Record_) => request_id === 'revoke-both',
    ],
    ['since=2020-01-01&operation=setPrice', ({ operation }: Record_) => operation === 'setPrice'],
  ])('%s', async (query, matches) => {
    const found = await recordsOf(query);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((record) => !matches(record))).toEqual([]);
  });

  it.each([
    'until=2020-01-01',
    'since=2999-01-01',
    'author_id=nobody',
    'request_id=unknown',
    'request_id=revoke-both&author_id=nobody',
    'resource_id=echo%2Fother&author_id=nobody',
  ])('%s: nothing', async (query) => {
    expect(await recordsOf(query)).toEqual([]);
  });

  it('finds the kinds of resources in the spelling of documents', async () => {
    const log = setup.database.db.collection<{ resource_type: string }>('audit_log');
    await list();
    expect(await log.countDocuments({ resource_type: 'api_key' })).toBeGreaterThan(0);
    expect(await log.countDocuments({ resource_type: 'api-key' })).toBe(0);
  });

  it('shows members by their present names in records of an earlier release', async () => {
    const log = setup.database.db.collection<{ _id: string; operation: string; after: string }>('audit_log');
    await list();
    const record = await log.findOne({});
    if (record === null) throw new Error('there are no records');
    const id = randomUUID();
    await log.insertOne({ ...record, _id: id, operation: 'setLimit', after: '{"began_at":"then","limit":"1"}' });
    const { body } = await list('operation=setLimit');
    expect(body.data).toMatchObject([{ id, after: { started_at: 'then', limit: '1' } }]);
    await log.deleteOne({ _id: id });
  });

  it('keeps a record for 400 days', async () => {
    const log = setup.database.db.collection<{ at: Date; expires_at: Date }>('audit_log');
    await list();
    const { at, expires_at } = (await log.findOne({})) ?? { at: new Date(0), expires_at: new Date(0) };
    expect(expires_at.getTime() - at.getTime()).toBe(400 * 24 * 3_600_000);
  });
});

describe('after a process was killed', () => {
  const entry = (id: string) => ({
    id: randomUUID(),
    at: new Date(),
    operation: 'deletePrompt',
    key_id: 'administrator',
    author: { type: 'key', id: 'administrator', name: 'administrator' },
    resource_type: 'prompt',
    resource_id: id,
    request_id: 'killed',
  });
  type Holder = { _id: string; audit?: unknown[]; deleting?: boolean; removed?: boolean };
  const holders = (name: string) => setup.database.db.collection<Holder>(name);

  it('between the change and the log, a list has the record', async () => {
    const { id } = await create(setup.service);
    const record = entry(id);
    await holders('prompts').updateOne({ _id: id }, { $set: { audit: [record] } });
    expect((await recordsOf(`resource_id=${id}`)).map((one) => one.id)).toContain(record.id);
    expect(await holders('prompts').findOne({ _id: id })).toMatchObject({ audit: [] });
  });

  it('between the log and the removal from the document, there is one record', async () => {
    const { id } = await create(setup.service);
    const record = entry(id);
    for (const _ of ['before', 'after']) {
      await holders('prompts').updateOne({ _id: id }, { $set: { audit: [record] } });
      expect((await recordsOf(`resource_id=${id}`)).filter((one) => one.id === record.id)).toHaveLength(1);
    }
  });

  it.each([
    ['integrations', 'https://a.example.com/'],
    ['model_prices', ''],
  ])('between the two steps of a deletion in %s, the next list finishes it', async (collection, url) => {
    const { service } = setup;
    const rates = [{ input: '1', output: '2' }];
    const at = '/api/v1/prices/echo/doomed';
    const { body } =
      url === ''
        ? await service.call('PUT', at, { body: { rates } })
        : await service.call('POST', '/api/v1/integrations', {
            body: { name: 'x', url, event_types: ['ORDER_PLACED'] },
          });
    const id = url === '' ? 'echo/doomed' : String(body.id);
    const record = entry(id);
    await list();
    await holders(collection).updateOne({ _id: id }, { $set: { audit: [record], removed: true } });
    const shown = url === '' ? '/api/v1/prices?source=operator' : `/api/v1/integrations/${id}`;
    const gone = await service.call('GET', shown);
    if (url === '') expect(JSON.stringify(gone.body)).not.toContain('doomed');
    else expect(gone.status).toBe(404);
    expect((await recordsOf(`resource_id=${encodeURIComponent(id)}`)).map((one) => one.id)).toContain(record.id);
    expect(await holders(collection).findOne({ _id: id })).toBeNull();
    if (url === '') expect((await service.call('PUT', at, { body: { rates } })).status).toBe(201);
  });

  it('a price can be set again although its deletion is not finished', async () => {
    const rates = [{ input: '1', output: '2' }];
    const at = '/api/v1/prices/echo/again';
    await setup.service.call('PUT', at, { body: { rates } });
    const record = entry('echo/again');
    await holders('model_prices').updateOne({ _id: 'echo/again' }, { $set: { audit: [record], removed: true } });
    expect((await setup.service.call('PUT', at, { body: { rates } })).status).toBe(201);
    expect((await recordsOf('resource_id=echo%2Fagain')).map((one) => one.id)).toContain(record.id);
  });

  it('a deletion that another process finishes keeps its record', async () => {
    const { id } = await create(setup.service);
    await list();
    const record = entry(id);
    await holders('prompts').updateOne({ _id: id }, { $set: { deleting: true, audit: [record] } });
    const other = await startAnother(setup.service);
    expect((await other.call('DELETE', `${promptsPath}/${id}`)).status).toBe(200);
    await other.close();
    expect((await recordsOf(`resource_id=${id}`)).map((one) => one.id)).toContain(record.id);
  });
});

describe('403', () => {
  it('for a key that is limited to some prompts', async () => {
    const { id } = await create(setup.service);
    const body = { name: 'narrow', scopes: ['audit:read'], limits: { prompts: [id] } };
    const { body: made } = await setup.service.call('POST', '/api/v1/api-keys', { body });
    const answer = await list('', { key: String(made.key) });
    expect([answer.status, problemIn(answer.body)]).toEqual([403, problem('beyond-limits')]);
  });
});
