import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { PagedDatabase } from '../../../../src/storage/db/pages.ts';
import { startMockProvider, type MockProvider } from '../../../support/mock-provider.ts';
import { openDatabaseOf, type Setup } from '../../../support/per-operation.ts';
import { startTestService, type Answer, type TestService, type TestServiceOptions } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';
import { create } from '../../prompts-harness.ts';
import { setDataset } from '../datasets/datasets-harness.ts';

export { problemOf } from '../../test-runs/test-runs-harness.ts';

/** A service with a provider `mock`, which is a server of the test. */
export interface Harness extends Setup {
  readonly mock: MockProvider;
}

/** The environment in which a service calls the mock provider as `mock`, whose default is the first of the models. */
export function withMock({ url }: Pick<MockProvider, 'url'>, models = ['model-a']): Record<string, string> {
  const provider = {
    id: 'mock',
    base_url: url,
    api_key: 'sk-not-secret-here',
    models,
    structured_outputs: true,
  };
  return { OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) };
}

/** Starts service and provider for the tests of a file. */
export function setUpEvaluations({
  models,
  ...options
}: TestServiceOptions & { readonly models?: string[] } = {}): Harness {
  let started: { mock: MockProvider; service: TestService; database: PagedDatabase } | undefined;
  const get = (): NonNullable<typeof started> => {
    if (started === undefined) throw new Error('only after beforeAll');
    return started;
  };
  beforeAll(async () => {
    const mock = await startMockProvider();
    const environment = { ...withMock(mock, models), ...options.environment };
    const service = await startTestService({ evaluationTimes: { pausesMs: [1, 1] }, ...options, environment });
    started = { mock, service, database: await openDatabaseOf(service) };
  });
  afterEach(() => {
    started?.mock.reset();
  });
  afterAll(async () => {
    started?.mock.release();
    await started?.service.close();
    await started?.database.close();
    await started?.mock.close();
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

export const evaluationsPath = (prompt: string): string => `/api/v1/prompts/${prompt}/evaluations`;
export const evaluationPath = (id: string): string => `/api/v1/evaluations/${id}`;

/**
 * Creates a prompt on echo that answers with the variable `say`. Its second version answers with `also` after it.
 * @returns its id
 */
export async function createEchoPrompt(service: TestService): Promise<string> {
  const saying = (content: string): object => ({ messages: [{ role: 'user', content }], selected_provider: 'echo' });
  const { id } = await create(service, saying('{{say}}') as Record<string, unknown>);
  await service.call('PUT', `/api/v1/prompts/${id}`, { body: saying('{{say}}{{also|}}') });
  return id;
}

/** A case whose answer has to be `good`. */
export function sayCase(id: string, say: string, members: object = {}): string {
  return JSON.stringify({ id, variables: { say }, checks: [{ type: 'equals', value: 'good' }], ...members });
}

/** Sets a data set, and returns its name. */
export async function createDataset(service: TestService, name: string, lines: readonly string[]): Promise<string> {
  const { status, text } = await setDataset(service, name, lines);
  if (status >= 300) throw new Error(text);
  return name;
}

export function createEvaluation(
  service: TestService,
  prompt: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return service.call('POST', evaluationsPath(prompt), { body, headers });
}

/** Starts an evaluation. @returns its id */
export async function startEvaluation(service: TestService, prompt: string, body: object): Promise<string> {
  const { status, body: started, text } = await createEvaluation(service, prompt, body);
  if (status !== 202) throw new Error(text);
  return (started as { id: string }).id;
}

/** Polls an evaluation until it has one of these statuses. */
export async function reached(
  service: TestService,
  id: string,
  ...statuses: readonly string[]
): Promise<Answer['body']> {
  const { body } = await until(
    () => service.call('GET', evaluationPath(id)),
    (answer) => statuses.includes((answer.body as { status: string }).status),
  );
  return body;
}

export const ended = (service: TestService, id: string): Promise<Answer['body']> =>
  reached(service, id, 'ended', 'canceled', 'refused');

/** The lines of results, with these outcomes only if one is named. */
export async function resultsOf(service: TestService, id: string, outcome?: string): Promise<Answer['body'][]> {
  const query = outcome === undefined ? '' : `?outcome=${outcome}`;
  const { status, text } = await service.call('GET', `${evaluationPath(id)}/results${query}`);
  if (status !== 200) throw new Error(text);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}
