import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import {
  createIntegration,
  integrationBody,
  nextSecret,
  path,
  secret,
} from '../../webhooks/integrations/integrations-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const newKey = (): string => randomBytes(32).toString('base64');

const services: TestService[] = [];
const closeAll = async (): Promise<void> => {
  for (const service of services.splice(0)) await service.close();
};
afterEach(closeAll);

const printed: string[] = [];
/** Starts the service on a database with these keys, after the one before has stopped. */
async function start(database: string, keys: string, more: Record<string, string> = {}): Promise<TestService> {
  await closeAll();
  printed.length = 0;
  const service = await startTestService({
    environment: {
      MONGODB_DATABASE: database,
      SECRETS_KEY: keys,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...more,
    },
    print: (line) => printed.push(line),
  });
  services.push(service);
  return service;
}

const newDatabase = (): string => `test_${randomUUID().slice(0, 8)}`;

/** The series of the metric: how many values each kind of key encrypts. */
async function storedSecrets(service: TestService): Promise<Record<string, number>> {
  const { text } = await service.call('GET', '/metrics');
  const lines = [...text.matchAll(/^stored_secrets\{key_id="[0-9a-f]{16}",key="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, key = '', count]) => [key, Number(count)]));
}

const keyInUse = async (service: TestService): Promise<unknown> =>
  (await service.call('GET', '/', { key: null })).body.secrets_key;

describe('rotation of SECRETS_KEY', () => {
  it('encrypts stored values with the new key, and counts those that still need the former one', async () => {
    const [first, second, third, database] = [newKey(), newKey(), newKey(), newDatabase()];
    let service = await start(database, first);
    expect(await keyInUse(service)).toBe('current');
    const one = await createIntegration(service, { secret, headers: { 'X-Kitchen': 'ground-floor' } });
    await createIntegration(service, { secret });
    const rotation = { body: { secret: nextSecret } };
    expect((await service.call('POST', `${one.path}/secret/rotation`, rotation)).status).toBe(200);

    // With the new key as a former one, nothing changes: processes with and without it run side by side.
    service = await start(database, `${first},${second}`);
    expect([await keyInUse(service), await storedSecrets(service)]).toEqual(['current', { current: 4 }]);

    service = await start(database, `${second},${first}`);
    expect(printed.join('\n')).toContain('4 stored secrets are encrypted with a former key of SECRETS_KEY');
    await until(
      () => keyInUse(service),
      (use) => use === 'current',
    );
    expect(await storedSecrets(service)).toEqual({ current: 4 });

    // The first key is not needed any more.
    service = await start(database, `${third},${second}`);
    await until(
      () => keyInUse(service),
      (use) => use === 'current',
    );
    const { status, body } = await service.call('GET', one.path);
    expect([status, body.headers]).toEqual([200, { 'X-Kitchen': 'ground-floor' }]);
    expect(body.warning).toBeUndefined();
  });

  it('does not change an integration for its callers', async () => {
    const [first, second, database] = [newKey(), newKey(), newDatabase()];
    const created = await createIntegration(await start(database, first), { secret });
    const service = await start(database, `${second},${first}`);
    await until(
      () => keyInUse(service),
      (use) => use === 'current',
    );
    const { body } = await service.call('GET', created.path);
    expect(body).toEqual(created.body);
  });
});

describe('a start with a key that decrypts nothing', () => {
  it('is refused, and names the keys and what to do', async () => {
    const database = newDatabase();
    await createIntegration(await start(database, newKey()), { secret });
    await expect(start(database, newKey())).rejects.toThrow(
      /^SECRETS_KEY \(key id [0-9a-f]{16}\) decrypts none of the 1 stored secrets.* key id [0-9a-f]{16}\..*SECRETS_KEY_CHECK=off/s,
    );
    // Without stored secrets every key is good.
    await start(newDatabase(), newKey());
  });

  it('is a warning if the key decrypts some', async () => {
    const [first, second, database] = [newKey(), newKey(), newDatabase()];
    await createIntegration(await start(database, first), { secret });
    await createIntegration(await start(database, second, { SECRETS_KEY_CHECK: 'off' }), { secret });
    const service = await start(database, second);
    expect(printed.join('\n')).toContain('Warning: 1 of 2 stored secrets cannot be decrypted');
    expect([await keyInUse(service), await storedSecrets(service)]).toEqual(['missing', { current: 1, missing: 1 }]);
  });
});

describe('a secret that cannot be decrypted', () => {
  const receiver = startReceiver();
  afterAll(async () => {
    await (await receiver).close();
  });

  it('is never answered 200, is sent nowhere, and can be replaced', async () => {
    const database = newDatabase();
    const { url } = await receiver;
    let service = await start(database, newKey());
    const idempotency = {
      headers: { 'Idempotency-Key': randomUUID() },
      body: integrationBody(),
    };
    expect((await service.call('POST', path, idempotency)).status).toBe(201);
    const { id, path: own } = await createIntegration(service, {
      url,
      secret,
      headers: { 'X-Kitchen': 'ground-floor' },
    });

    service = await start(database, newKey(), { SECRETS_KEY_CHECK: 'off' });
    const unreadable = [500, problem('secret-unreadable')];
    const refusalOf = async (method: string, target: string, options = {}): Promise<unknown[]> => {
      const { status, body } = await service.call(method, target, options);
      return [status, body.type];
    };
    expect(await refusalOf('GET', own)).toEqual(unreadable);
    expect(await refusalOf('POST', `${own}/enable`)).toEqual(unreadable);
    expect(await refusalOf('POST', `${own}/test`)).toEqual(unreadable);
    expect(await refusalOf('POST', path, idempotency)).toEqual(unreadable);
    const { body: explained } = await service.call('GET', own);
    expect(explained.detail).toMatch(/secret and the header X-Kitchen .*SECRETS_KEY/);

    const warningOf = async (): Promise<unknown> => {
      const { data } = (await service.call('GET', path)).body as { data: { id: string; warning?: object }[] };
      return data.find((each) => each.id === id)?.warning;
    };
    expect(await warningOf()).toMatchObject({
      type: 'secret-unreadable',
      detail: expect.stringContaining('secret and the header X-Kitchen') as unknown,
    });

    // A masked value means the stored one, which is lost.
    const masked = await service.call('PUT', own, { body: { headers: { 'X-Kitchen': '********' } } });
    expect([masked.status, masked.body.type]).toEqual([422, problem('header-not-allowed')]);
    const changed = await service.call('PUT', own, { body: { headers: { 'X-Kitchen': 'first-floor' } } });
    expect([changed.status, changed.body.warning.type]).toEqual([200, 'secret-unreadable']);
    const begun = await service.call('POST', `${own}/secret/rotation`, { body: { secret: nextSecret } });
    const finish = { body: { rotation_id: begun.body.secret_rotation.id as string } };
    const finished = await service.call('POST', `${own}/secret/rotation/finish`, finish);
    expect([finished.status, finished.body.warning]).toEqual([200, undefined]);

    expect((await service.call('GET', own)).status).toBe(200);
    expect((await service.call('POST', `${own}/test`)).status).toBe(202);
    const { requests } = await receiver;
    await until(() => requests.length === 1);
    expect(requests[0]?.headers['x-kitchen']).toBe('first-floor');
  });
});
