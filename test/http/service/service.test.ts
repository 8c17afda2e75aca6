import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import asyncapi from '../../../generated/asyncapi.json' with { type: 'json' };
import { eventTypes } from '../../../generated/events.ts';
import { testDatabaseUri } from '../../support/database.ts';
import { createMovableClock } from '../../support/clock.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('getServiceInfo', () => {
  it.each([undefined, '*/*', 'application/json', 'application/json, text/html;q=0.9'])(
    '200 with name, version and paths (Accept: %s)',
    async (accept) => {
      const headers: Record<string, string> = accept === undefined ? {} : { accept };
      const { body } = await service.call('GET', '/', { key: null, headers });
      expect(body).toMatchObject({ name: 'prompt-gateway', version: packageJson.version });
      for (const [name, link] of Object.entries(body.links as Record<string, string>)) {
        expect([name, (await fetch(service.url + link)).status]).toEqual([name, name === 'metrics' ? 401 : 200]);
      }
    },
  );
  it('400 for unknown parameters, 406 when neither JSON nor a page is acceptable', async () => {
    expect((await service.call('GET', '/?x=1', { key: null })).status).toBe(400);
    expect((await service.call('GET', '/', { key: null, headers: { accept: 'text/plain' } })).status).toBe(406);
  });
});

describe('getLiveness', () => {
  it('200 without a key', async () => {
    expect((await service.call('GET', '/health/live', { key: null })).body).toEqual({ status: 'ok' });
  });
  it('400 for unknown parameters, 406 when JSON is not acceptable', async () => {
    expect((await service.call('GET', '/health/live?x=1', { key: null })).status).toBe(400);
    expect((await service.call('GET', '/health/live', { headers: { accept: 'text/html' } })).status).toBe(406);
  });
});

describe('getReadiness', () => {
  it('200 with the status of both dependencies', async () => {
    const { body } = await service.call('GET', '/health/ready', { key: null });
    expect(body).toEqual({
      status: 'ok',
      read_only: false,
      sends_webhooks: true,
      checks: { database: 'ok', storage: 'ok', migration: 'ok' },
    });
  });
});

describe('getReadiness of a service whose database', () => {
  const clock = createMovableClock();
  let proxy: LossyProxy;
  let other: TestService;
  beforeAll(async () => {
    proxy = await LossyProxy.start(testDatabaseUri());
    other = await startTestService({ environment: { MONGODB_URI: proxy.uri }, clock, probesSharedForMs: 1_000 });
  });
  afterAll(async () => {
    proxy.resume();
    await other.close();
    await proxy.stop();
  });
  /** Probes get the result of the last second. */
  const afterASecond = (): void => {
    clock.advance(1_001);
  };
  beforeEach(() => {
    clock.hold();
  });
  afterEach(() => {
    clock.release();
  });

  it('has no space left answers 503 storage-full, and so does a write', async () => {
    const lost = proxy.lose({ of: 'space', commands: ['update'], collection: 'database_check' });
    const { status, body, headers } = await other.call('GET', '/health/ready', { key: null });
    await lost;
    expect([status, body.type]).toEqual([503, 'urn:prompt-gateway:problem:storage-full']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    clock.advance(999);
    expect((await other.call('GET', '/health/ready', { key: null })).status).toBe(503);
    void proxy.lose({ of: 'space', commands: ['insert'], collection: 'prompts' });
    proxy.forget();
    const refused = await other.call('POST', '/api/v1/prompts', {
      body: { name: 'No space', messages: [{ role: 'user', content: 'Hello' }] },
    });
    expect([refused.status, refused.body.type]).toEqual([503, 'urn:prompt-gateway:problem:storage-full']);
    // It is not repeated.
    expect(proxy.seen.filter(({ name }) => name === 'insert')).toHaveLength(1);
    clock.advance(2);
    expect((await other.call('GET', '/health/ready', { key: null })).status).toBe(200);
  });

  it('does not answer gives 503 within seconds, with one check for any number of probes', async () => {
    afterASecond();
    proxy.forget();
    proxy.pause();
    const started = performance.now();
    const probes = Array.from({ length: 50 }, () => other.call('GET', '/health/ready', { key: null }));
    const answers = await Promise.all(probes);
    // Less than the 15 s after which the driver itself gives up.
    expect(performance.now() - started).toBeLessThan(14_000);
    for (const { status, body } of answers) {
      expect([status, body.type]).toEqual([503, 'urn:prompt-gateway:problem:database-unavailable']);
    }
    proxy.resume();
    afterASecond();
    expect((await other.call('GET', '/health/ready', { key: null })).status).toBe(200);
    const looks = proxy.seen.filter(({ name, collection }) => name === 'update' && collection === 'database_check');
    expect(looks.length).toBeLessThanOrEqual(4);
  });
});

describe('getOpenApiDocument', () => {
  it('200 with the contract', async () => {
    const { body } = await service.call('GET', '/openapi.json', { key: null });
    expect(body.openapi).toMatch(/^3\.1/);
    expect(Object.keys(body.paths)).toContain('/api/v1/prompts');
    expect(body['servers']).toContainEqual({ url: '/', description: 'The service that this document comes from' });
  });
});

describe('getAsyncApiDocument', () => {
  it('200 with the contract of events', async () => {
    const { body } = await service.call('GET', '/asyncapi.json', { key: null });
    expect(body).toEqual(asyncapi);
  });
});

describe('getEventTypeSchema', () => {
  const pathOf = (type: string): string => `/schemas/events/${type}/v1.json`;

  it.each(eventTypes)('200 with the schema of %s, unchanged, and with its own path as $id', async (type) => {
    const { text, body } = await service.call('GET', pathOf(type), { key: null });
    const file = new URL(`../../../generated/event-schemas/${type}.json`, import.meta.url);
    const schema: unknown = JSON.parse(await readFile(file, 'utf8'));
    expect(text).toBe(`${JSON.stringify(schema, null, 2)}\n`);
    const retrieved = service.url + pathOf(type);
    expect(new URL(String(body.$id), retrieved).href).toBe(retrieved);
  });

  it('400 for an invalid name of a type, and for unknown parameters', async () => {
    for (const target of [pathOf('order_placed'), pathOf('ORDER-PLACED'), `${pathOf('TEST')}?x=1`]) {
      const { status, body } = await service.call('GET', target, { key: null });
      expect([target, status, body.type]).toEqual([target, 400, 'urn:prompt-gateway:problem:invalid-request']);
    }
  });

  it('404 for an unknown type or version', async () => {
    const unknown = await service.call('GET', pathOf('ORDER_LOST'), { key: null });
    expect([unknown.status, unknown.body.type]).toEqual([404, 'urn:prompt-gateway:problem:event-type-not-found']);
    const later = await service.call('GET', '/schemas/events/TEST/v2.json', { key: null });
    expect([later.status, later.body.type]).toEqual([404, 'urn:prompt-gateway:problem:route-not-found']);
  });
});

describe.each(['/openapi.json', '/asyncapi.json', '/schemas/events/ORDER_PLACED/v1.json'])(
  '%s, which never changes',
  (target) => {
    it('has an ETag, answers 304 to a caller that has it, and is compressed if the caller accepts that', async () => {
      const plain = await service.call('GET', target, { key: null, headers: { 'accept-encoding': 'identity' } });
      const zipped = await service.call('GET', target, { key: null, headers: { 'accept-encoding': 'gzip' } });
      expect(zipped.headers['content-encoding']).toBe('gzip');
      expect(zipped.body).toEqual(plain.body);
      expect(Number(zipped.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 3);
      for (const { headers } of [plain, zipped]) {
        const again = {
          'if-none-match': String(headers['etag']),
          'accept-encoding': headers['content-encoding'] ?? 'identity',
        };
        const answer = await service.call('GET', target, { key: null, headers: again });
        expect([answer.status, answer.text, answer.headers['cache-control']]).toEqual([304, '', 'no-cache']);
      }
    });
  },
);

describe('getMetrics', () => {
  it('200 in the Prometheus text format', async () => {
    await service.call('GET', '/api/v1/prompts');
    const answer = await service.call('GET', '/metrics');
    expect(answer.headers['content-type']).toContain('text/plain');
    expect(answer.text).toContain('http_request_duration_seconds_count{operation="listPrompts",status="200"}');
    expect(answer.text).toContain('process_cpu_seconds_total');
  });
  it('401 without a key, 403 without the scope', async () => {
    expect((await service.call('GET', '/metrics', { key: null })).status).toBe(401);
    const key = await service.createKey('prompts:read');
    expect((await service.call('GET', '/metrics', { key })).status).toBe(403);
  });
});
