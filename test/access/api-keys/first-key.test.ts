import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ensureFirstKey } from '../../../src/access/api-keys/first-key.ts';
import { createApiKeyStore } from '../../../src/access/api-keys/api-key-store.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startService } from '../../../src/start.ts';
import { checkSetting, engineOfTests } from '../../support/database-server.ts';
import { createTestDatabase, testDatabaseUri, type TestDatabase } from '../../support/database.ts';
import { system } from '../../../src/base/runtime/system.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('the administrator key', () => {
  it('is printed at the first start, works, and is not printed again', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'first-key-'));
    const environment = {
      PORT: '0',
      DATA_DIR: dataDir,
      MONGODB_URI: testDatabaseUri(),
      MONGODB_DATABASE: `test_${randomUUID().slice(0, 8)}`,
      ...checkSetting(engineOfTests()),
    };
    const start = async (): Promise<{ lines: string[]; status: (key: string) => Promise<number> }> => {
      const lines: string[] = [];
      const service = await startService({
        config: loadConfig(environment),
        environment: {},
        log: createLogger('silent'),
        print: (line) => lines.push(line),
      });
      const status = async (key: string): Promise<number> => {
        const answer = await fetch(`${service.url}/api/v1/api-keys`, { headers: { authorization: `Bearer ${key}` } });
        await service.stop();
        return answer.status;
      };
      return { lines, status };
    };
    const first = await start();
    const key = first.lines.map((line) => /pgw_\S+/.exec(line)?.[0]).find((found) => found !== undefined) ?? '';
    expect(await first.status(key)).toBe(200);
    const second = await start();
    expect(second.lines.join()).not.toContain('pgw_');
    expect(await second.status(key)).toBe(200);
    await rm(dataDir, { recursive: true });
  });

  it('is created once, even if several processes start first', async () => {
    const store = createApiKeyStore(database);
    // Both processes have read before either of them has written.
    const blind = { ...store, isEmpty: () => Promise.resolve(true) };
    const printed = await Promise.all(
      [1, 2, 3].map(async () => {
        const lines: string[] = [];
        await ensureFirstKey({
          clock: system.clock,
          store: blind,
          allScopes: ['keys:manage'],
          print: (line) => lines.push(line),
        });
        return lines;
      }),
    );
    expect(printed.filter((lines) => lines.length === 1)).toHaveLength(1);
    expect(printed.filter((lines) => lines[1]?.includes('not valid') === true)).toHaveLength(2);
    expect(await store.list({ status: undefined, authorId: undefined }, new Date()).total()).toBe(1);
  });
});
