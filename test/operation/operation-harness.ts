import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { testDatabaseUri } from '../support/database.ts';
import { checkSetting, engineOfTests } from '../support/database-server.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { adminKey, send } from '../support/send.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';

/**
 * Starts service processes on the database server of the test run, with a mock provider. All of them end after the
 * test.
 */
export interface Processes {
  readonly mock: MockProvider;
  /** The environment of the services. */
  readonly environment: Readonly<Record<string, string>>;
  start(more?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
}

/** @param providerKey the credentials for the mock provider */
export function setUpProcesses(providerKey = 'sk-not-secret-here'): Processes {
  const started: ServiceProcess[] = [];
  let dataDir = '';
  let mock: MockProvider | undefined;
  beforeAll(async () => {
    mock = await startMockProvider();
    dataDir = await mkdtemp(path.join(tmpdir(), 'prompt-gateway-operation-'));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((service) => service.kill()));
    mock?.reset();
  });
  afterAll(async () => {
    await mock?.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const database = `test_${randomUUID().slice(0, 8)}`;
  const running = (): MockProvider => {
    if (mock === undefined) throw new Error('only after beforeAll');
    return mock;
  };
  const environment = (): Record<string, string> => ({
    PORT: '0',
    DATA_DIR: dataDir,
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: database,
    ADMIN_API_KEY: adminKey,
    ...checkSetting(engineOfTests()),
    SHUTDOWN_GRACE_MS: '0',
    OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
      { id: 'mock', base_url: running().url, api_key: providerKey, models: ['model-a'] },
    ]),
  });
  return {
    get mock() {
      return running();
    },
    get environment() {
      return environment();
    },
    async start(more = {}) {
      const service = await startServiceProcess({ ...environment(), ...more });
      started.push(service);
      return service;
    },
  };
}

/** Creates a prompt for the mock provider. @returns its path */
export async function createPrompt(
  service: Pick<ServiceProcess, 'url'>,
  members: Record<string, unknown> = {},
): Promise<string> {
  const messages = [{ role: 'user', content: 'Hello {{name|world}}' }];
  const answer = await send(service, 'POST', '/api/v1/prompts', {
    name: 'Operated',
    messages,
    selected_provider: 'mock',
    ...members,
  });
  if (answer.status !== 201) throw new Error(`The prompt was not created: ${await answer.text()}`);
  return `/api/v1/prompts/${((await answer.json()) as { id: string }).id}`;
}
