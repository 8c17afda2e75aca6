/**
 * `node test/upgrades/run-snapshot.ts COMMIT NAME` writes `NAME.json.gz`: a small database as an earlier commit of this
 * repository wrote it, with what tests need to know about it.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { BSON, MongoClient } from 'mongodb';
import { startDatabaseServer } from '../support/database-server.ts';
import { checkOut } from './earlier-release.ts';
import type { Facts, Snapshot } from './snapshot.ts';

const [commit = '', name = ''] = process.argv.slice(2);
const secretsKey = randomBytes(32).toString('base64');
const signingSecret = 'secret-of-a-snapshot-0123456789';
const databaseName = 'snapshot';

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(request.url === '/works' ? 200 : 500).end());
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const at = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

const server = await startDatabaseServer('secantusd-py');
const release = await checkOut(commit);
const service = await release.start({
  MONGODB_URI: server.uri,
  MONGODB_DATABASE: databaseName,
  SECRETS_KEY: secretsKey,
  RATE_LIMIT: 'off',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
});
const { call } = service;

const prompt = await call('POST', '/api/v1/prompts', {
  name: 'Greeting',
  messages: [{ role: 'user', content: 'Hello {{name}}' }],
});
for (const word of ['Good day', 'Good evening']) {
  await call('PUT', `/api/v1/prompts/${prompt.id}`, { messages: [{ role: 'user', content: `${word} {{name}}` }] });
}
for (let index = 0; index < 20; index += 1) {
  await call('POST', '/api/v1/prompts', { name: `Prompt ${index}`, messages: [{ role: 'user', content: 'Hello' }] });
}
const apiKey = await call('POST', '/api/v1/api-keys', { name: 'till', scopes: ['orders:read', 'orders:write'] });
const location = await call('POST', '/v1/locations', { name: 'Canal', currency: 'EUR', timezone: 'Europe/Amsterdam' });
const category = await call('POST', '/v1/categories', { location_id: location.id, name: 'Hot drinks' });
const product = await call('POST', '/v1/products', {
  location_id: location.id,
  category_id: category.id,
  name: 'Flat white',
  price: 420,
});
const integration = (place: string, eventTypes: string[]) =>
  call('POST', '/api/v1/integrations', {
    name: place,
    url: `${at}/${place}`,
    event_types: eventTypes,
    secret: signingSecret,
    headers: { 'X-Token': 'token-of-a-snapshot' },
  });
const working = await integration('works', ['ORDER_PLACED']);
const failing = await integration('fails', ['ORDER_PLACED']);
const order = { location_id: location.id, items: [{ product_id: product.id, quantity: 2 }] };
const orders: string[] = [];
for (let index = 0; index < 100; index += 1) {
  const { id } = await call('POST', '/v1/orders', order, { 'idempotency-key': `order-${index}` });
  orders.push(id as string);
}
const completed = orders[0] ?? '';
await call('POST', `/v1/orders/${completed}/complete`);
for (let isDelivered = false; !isDelivered; await sleep(500)) {
  const { pagination } = await call('GET', `/api/v1/integrations/${working.id}/deliveries?status=delivered`);
  isDelivered = pagination.total === orders.length;
}
await service.stop();

const client = new MongoClient(server.uri);
const db = client.db(databaseName);
const facts: Facts = {
  commit,
  secretsKey,
  signingSecret,
  orders,
  order,
  apiKey: apiKey.key as string,
  completed,
  prompt: prompt.id as string,
  working: working.id as string,
  failing: failing.id as string,
  madeAt: Date.now(),
};
const collections: Snapshot['collections'] = {};
for (const { name: collection } of await db.listCollections({}, { nameOnly: true }).toArray()) {
  const documents = await db.collection(collection).find().toArray();
  const indexes = (await db.collection(collection).indexes()).filter((index) => index.name !== '_id_');
  collections[collection] = { indexes, documents };
}
const text = BSON.EJSON.stringify({ facts, collections } satisfies Snapshot);
const file = path.join(import.meta.dirname, `${name}.json.gz`);
await writeFile(file, gzipSync(text, { level: 9 }));
console.log(`${file}: ${Object.entries(collections).map(([key, { documents }]) => `${documents.length} ${key}`)}`);
await client.close();
await server.stop();
await release.remove();
receiver.closeAllConnections();
receiver.close();
