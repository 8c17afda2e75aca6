import { access } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { create } from '../prompts-harness.ts';
import { openDatabaseOf, type Setup } from '../../support/per-operation.ts';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { until } from '../../support/until.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';

/** The tools of a test of runs. */
export interface TestBody {
  providers: { provider: string; model?: string }[];
  variables?: Record<string, unknown>;
  version?: number;
  label?: string;
  unsupported?: 'refuse' | 'ignore';
}

/** A service with a provider `mock`, which is a server of the test, and `openai` without credentials. */
export interface Harness extends Setup {
  readonly mock: MockProvider;
}

/** The environment in which a service calls the mock provider as `mock`, with the default model `model-a`. */
function withMock(mock: MockProvider): Record<string, string> {
  const provider = { id: 'mock', base_url: mock.url, api_key: 'sk-not-secret-here', models: ['model-a', 'model-b'] };
  return { OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) };
}

/** Starts service and provider for the tests of a file. */
export function setUpTestRuns(environment: () => Promise<Record<string, string>> = async () => ({})): Harness {
  let started: { mock: MockProvider; service: TestService; database: PagedDatabase } | undefined;
  const get = (): NonNullable<typeof started> => {
    if (started === undefined) throw new Error('only after beforeAll');
    return started;
  };
  beforeAll(async () => {
    const mock = await startMockProvider();
    const service = await startTestService({ environment: { ...withMock(mock), ...(await environment()) } });
    started = { mock, service, database: await openDatabaseOf(service) };
  });
  afterEach(() => {
    started?.mock.reset();
  });
  afterAll(async () => {
    await started?.database.close();
    await started?.mock.close();
    await started?.service.close();
  });
  return {
    get mock() {
      return get().mock;
    },
    get service() {
      return get().service;
    },
    get database() {
      return get().database;
    },
  };
}

/** Creates a prompt that says "Hello {{name|world}}". @returns its id */
export async function createPrompt(service: TestService, members: Record<string, unknown> = {}): Promise<string> {
  const messages = [{ role: 'user', content: 'Hello {{name|world}}' }];
  return (await create(service, { messages, ...members })).id;
}

export const testPath = (prompt: string): string => `/api/v1/prompts/${prompt}/test`;
export const runPath = (id: string): string => `/api/v1/test-runs/${id}`;
export const resultsPath = (id: string): string => `/api/v1/test-runs/${id}/results`;

/** Targets of the mock provider, one for each model. */
export function onMock(...models: string[]): TestBody {
  return { providers: models.map((model) => ({ provider: 'mock', model })) };
}

export const onEcho: TestBody = { providers: [{ provider: 'echo' }] };

export function createTestRun(
  service: TestService,
  prompt: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return service.call('POST', testPath(prompt), { body, headers });
}

/** Starts a run that continues after the answer. @returns its id */
export async function startRun(service: TestService, prompt: string, body: TestBody): Promise<string> {
  const answer = await createTestRun(service, prompt, body, { Prefer: 'respond-async' });
  if (answer.status !== 202) throw new Error(`The test run was not started: ${answer.text}`);
  return (answer.body as { id: string }).id;
}

/** Polls a run until it has ended, as a caller does. */
export function ended(service: TestService, id: string): Promise<Answer> {
  return until(
    () => service.call('GET', runPath(id)),
    ({ body }) => body.status !== 'running',
  );
}

/** Whether the files of a service contain the results of a run. */
export function hasResults(service: TestService, id: string): Promise<boolean> {
  const file = path.join(service.environment['DATA_DIR'] ?? '', 'files', 'test-runs', `${id}.json`);
  return access(file).then(
    () => true,
    () => false,
  );
}

/** The problem type without its prefix. */
export function problemOf({ body }: Answer): string {
  return String((body as { type?: unknown }).type).replace('urn:prompt-gateway:problem:', '');
}
