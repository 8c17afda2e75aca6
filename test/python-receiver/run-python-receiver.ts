import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { promisify } from 'node:util';
import { eventTypes } from '../../generated/events.ts';
import { loadConfig } from '../../src/config/config.ts';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { installPythonPackage } from '../../src/storage/db/embedded/python-package.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService } from '../../src/start.ts';
import { consoleLog } from '../support/log.ts';
import { checkGuideReceivers, type Call } from './guide-receivers.ts';

/** The release of https://pypi.org/project/standardwebhooks/. */
const standardWebhooks = '1.1.0';
/** Other packages from PyPI. */
const packages = ['jsonschema==4.26.0', 'fastapi==0.165.0', 'uvicorn==0.54.0', 'flask==3.1.3'];
const adminKey = 'administrator-key-of-the-receiver-0123456789';
const secret = 'EXAMPLE-not-a-real-secret-0123456789';
/** The time limit for the receiver to get all events, in milliseconds. */
const limitMs = 5 * 60_000;

/** Orders, half of them completed and half canceled, and updates of a product, each with an event of its category. */
const counts = { orders: 400, updates: 90, tests: 19 };
const events = counts.orders * 2 + counts.updates * 2 + counts.tests + 1;

/**
 * Starts the service with its defaults, and a receiver in Python that verifies each delivery and validates it against
 * the schemas that the service publishes. Then it checks the receivers of the guide.
 *
 * @returns the exit code of the receiver
 * @throws Error if one of the guide is wrong
 */
async function main(): Promise<number> {
  const cacheDir = defaultCacheDir(process.env, homedir());
  const programs = await installPythonPackage({
    name: 'standardwebhooks',
    version: standardWebhooks,
    cacheDir,
    env: process.env,
    log: consoleLog,
  });
  const python = path.join(programs, 'python');
  await promisify(execFile)(python, ['-m', 'pip', 'install', '--quiet', ...packages]);
  const folder = await mkdtemp(path.join(tmpdir(), 'python-receiver-'));
  const environment = {
    DATA_DIR: path.join(folder, 'data'),
    CACHE_DIR: cacheDir,
    PORT: '0',
    ADMIN_API_KEY: adminKey,
    RATE_LIMIT: 'off',
  };
  const service = await startService({
    config: loadConfig(environment),
    environment: { ...process.env, ...environment },
    log: createLogger('silent'),
    print: console.log,
  });
  const call: Call = async (target, body, method = 'POST') => {
    const answer = await fetch(service.url + target, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Awaited<ReturnType<Call>>;
  };
  const spelling = `whsec_${Buffer.from(secret).toString('base64')}`;
  const program = path.join(import.meta.dirname, 'receiver.py');
  const receiver = spawn(python, [program, service.url, spelling, String(events)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: limitMs,
  });
  const ended = once(receiver, 'close') as Promise<[number | null]>;
  try {
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    const { value: port } = await lines.next();
    await causeEvents(call, `http://127.0.0.1:${String(port)}/hooks`);
    for await (const line of lines) console.log(line);
    const [code] = await ended;
    if (code === 0) await checkGuideReceivers(programs, call);
    return code ?? 1;
  } finally {
    receiver.kill();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Causes events of every type, and as many as the receiver waits for. */
async function causeEvents(post: Call, url: string): Promise<void> {
  const place = { name: 'Canal Café', currency: 'EUR', time_zone: 'UTC', fiscal_day_end: '00:00' };
  const { id: location_id } = await post('/v1/locations', place);
  const category = await post('/v1/categories', { location_id, name: 'Coffee' });
  const product = await post('/v1/products', {
    location_id,
    category_id: category.id,
    name: 'Flat white',
    price: 420,
    tags: ['coffee', 'hot ☕'],
  });
  const integration = await post('/api/v1/integrations', {
    name: 'Receiver in Python',
    url,
    secret,
    event_types: eventTypes.filter((type) => type !== 'TEST'),
  });
  for (let index = 0; index < counts.orders; index += 1) {
    const reference = index % 3 === 0 ? {} : { reference_id: `till-${index}` };
    const items = [{ product_id: product.id, quantity: (index % 5) + 1 }];
    const { id } = await post('/v1/orders', { location_id, items, ...reference });
    await post(`/v1/orders/${id}/${index % 2 === 0 ? 'complete' : 'cancel'}`);
  }
  for (let index = 0; index < counts.updates; index += 1) {
    await post(`/v1/products/${product.id}`, { price: 421 + index }, 'PUT');
  }
  for (let index = 0; index < counts.tests; index += 1) await post(`/api/v1/integrations/${integration.id}/test`);
  await post(`/v1/locations/${location_id}/fiscal-days/${new Date().toISOString().slice(0, 10)}/close`);
}

process.exitCode = await main();
