import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AuditDocument } from '../../../src/storage/db/audit.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { send } from '../../support/send.ts';
import { startServiceProcess, underTest, type ServiceProcess } from '../../support/service-process.ts';

const kills = 3;
const writersOfEach = 2;

let database: TestDatabase;
let folder: string;
let service: ServiceProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'audit-'));
  service = await start();
});
afterAll(async () => {
  await service.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

const start = (): Promise<ServiceProcess> =>
  startServiceProcess({
    MONGODB_URI: database.uri,
    MONGODB_DATABASE: database.databaseName,
    DATA_DIR: folder,
    ...underTest,
  });

/** The answer to each request that got one, by its id. */
const answered = new Map<string, number>();

async function change(method: string, target: string, body?: unknown): Promise<{ id?: string }> {
  const requestId = randomUUID();
  const headers = { 'x-request-id': requestId, ...(target.includes('/labels/') && { 'if-match': '*' }) };
  try {
    const answer = await send(service, method, target, body, headers);
    const text = await answer.text();
    answered.set(requestId, answer.status);
    return answer.status < 300 ? (JSON.parse(text) as { id?: string }) : {};
  } catch {
    await sleep(20); // It was killed.
    return {};
  }
}

/** Creates a resource and changes it some times; every other one is deleted. */
const lives: Record<string, (turn: number) => Promise<void>> = {
  async prompts(turn) {
    const messages = (text: string) => [{ role: 'user', content: text }];
    const { id } = await change('POST', '/api/v1/prompts', { name: 'Doomed', messages: messages('first') });
    if (id === undefined) return;
    await change('PUT', `/api/v1/prompts/${id}`, { messages: messages('second') });
    await change('PUT', `/api/v1/prompts/${id}/labels/production`, { version: 1 });
    await change('PUT', `/api/v1/prompts/${id}/labels/production`, { version: 9 });
    if (turn % 2 === 0) await change('DELETE', `/api/v1/prompts/${id}`);
  },
  async integrations(turn) {
    const integration = { name: 'Doomed', url: 'https://a.example.com/', event_types: ['FISCAL_DAY_END'] };
    const { id } = await change('POST', '/api/v1/integrations', integration);
    if (id === undefined) return;
    await change('POST', `/api/v1/integrations/${id}/pause`);
    await change('POST', `/api/v1/integrations/${id}/secret/rotation`, {});
    if (turn % 2 === 0) await change('DELETE', `/api/v1/integrations/${id}`);
  },
  async prices(turn) {
    const target = `/api/v1/prices/echo/${randomUUID()}`;
    await change('PUT', target, { rates: [{ input: '1', output: '2' }] });
    await change('PUT', target, { rates: [{ input: '2', output: '3' }] });
    if (turn % 2 === 0) await change('DELETE', target);
  },
  async catalog() {
    const { id } = await change('POST', '/v1/locations', { name: 'Pier', currency: 'EUR', time_zone: 'UTC' });
    if (id === undefined) return;
    const { id: category } = await change('POST', '/v1/categories', { location_id: id, name: 'Drinks' });
    if (category === undefined) return;
    const tea = { location_id: id, category_id: category, name: 'Tea', price: 100 };
    const { id: product } = await change('POST', '/v1/products', tea);
    for (const price of [200, 300, 300]) await change('PUT', `/v1/products/${product}`, { price });
    await change('PUT', `/v1/categories/${category}`, { name: 'Hot drinks' });
    await change('PUT', `/v1/locations/${id}`, { name: 'Quay' });
  },
  async keys() {
    const { id } = await change('POST', '/api/v1/api-keys', { name: 'Doomed', scopes: ['prompts:read'] });
    await change('PUT', `/api/v1/api-keys/${id}`, { name: 'Renamed' });
    await change('POST', `/api/v1/api-keys/${id}/revoke`);
  },
};

it('every change has its record, whenever the service is killed', async () => {
  let isOver = false;
  const writers = Object.values(lives).flatMap((live) =>
    Array.from({ length: writersOfEach }, async (_, turn) => {
      for (; !isOver; turn += 1) await live(turn);
    }),
  );
  const acknowledged = (): number => [...answered.values()].filter((status) => status < 300).length;
  for (let kill = 0; kill < kills; kill += 1) {
    const goal = acknowledged() + 40 + Math.random() * 40;
    while (acknowledged() < goal) await sleep(1);
    await service.kill();
    service = await start();
  }
  isOver = true;
  await Promise.all(writers);
  const { status } = await send(service, 'GET', '/api/v1/audit-log');
  expect(status).toBe(200);

  const records = await database.db.collection<AuditDocument>('audit_log').find().toArray();
  const countBy = (name: 'request_id' | 'resource_id'): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const record of records) counts.set(record[name], (counts.get(record[name]) ?? 0) + 1);
    return counts;
  };
  // No request has two; the answered ones have one if they changed something.
  const ofRequests = countBy('request_id');
  expect([...ofRequests].filter(([, count]) => count !== 1)).toEqual([]);
  expect([...answered].filter(([id, code]) => code >= 400 && ofRequests.has(id))).toEqual([]);
  expect(records.length).toBeGreaterThan(kills * 40);

  // The revision of a document is the number of its changes. All of them were made by requests.
  const ofResources = countBy('resource_id');
  const stored = new Set<string>();
  const wrong: string[] = [];
  for (const name of ['prompts', 'integrations', 'model_prices', 'locations', 'categories', 'products', 'api_keys']) {
    for await (const { _id, revision } of database.db.collection<{ _id: string; revision: number }>(name).find()) {
      stored.add(_id);
      const count = ofResources.get(_id) ?? 0;
      if (count !== revision) wrong.push(`${name} ${_id}: ${revision} changes, ${count} records`);
    }
  }
  const deleted = new Set(
    records.filter(({ operation }) => operation.startsWith('delete')).map((one) => one.resource_id),
  );
  wrong.push(
    ...[...ofResources.keys()].filter((id) => !stored.has(id) && !deleted.has(id)).map((id) => `${id} is gone`),
  );
  expect(wrong).toEqual([]);
});
