import type { OperationId } from '../../generated/operations.ts';
import { checkAnswer } from '../support/contract-check.ts';
import type { CallOptions, TestService } from '../support/service.ts';

/** A call that succeeds while everything works. */
export interface Call extends CallOptions {
  readonly method: string;
  readonly path: string;
}

/** What the calls are about: made beforehand, so that they find it. */
interface Fixture {
  readonly prompt: string;
  readonly doomed: string;
  readonly run: string;
  readonly key: string;
}

async function createFixture(service: TestService): Promise<Fixture> {
  const create = async (path: string, body: unknown): Promise<string> => {
    const answer = await service.call('POST', path, { body });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.text}`);
    return (answer.body as { id: string }).id;
  };
  const body = { name: 'Outage', messages: [{ role: 'user', content: 'Hello' }], selected_provider: 'echo' };
  const prompt = await create('/api/v1/prompts', body);
  return {
    prompt,
    doomed: await create('/api/v1/prompts', body),
    run: await create(`/api/v1/prompts/${prompt}/test`, { providers: [{ provider: 'echo' }] }),
    key: await create('/api/v1/api-keys', { name: 'doomed', scopes: ['prompts:read'] }),
  };
}

/** A call of every operation of the contract. The compiler misses one that is left out. */
export async function callEveryOperation(service: TestService): Promise<Record<OperationId, Call>> {
  const { prompt, doomed, run, key } = await createFixture(service);
  const prompts = '/api/v1/prompts';
  const messages = [{ role: 'user', content: 'Hello again' }];
  return {
    createPrompt: { method: 'POST', path: prompts, body: { name: 'New', messages } },
    listPrompts: { method: 'GET', path: prompts },
    getPrompt: { method: 'GET', path: `${prompts}/${prompt}` },
    updatePrompt: { method: 'PUT', path: `${prompts}/${prompt}`, body: { messages } },
    deletePrompt: { method: 'DELETE', path: `${prompts}/${doomed}` },
    invokePrompt: { method: 'POST', path: `${prompts}/${prompt}/invoke`, body: {} },
    listPromptVersions: { method: 'GET', path: `${prompts}/${prompt}/versions` },
    getPromptVersion: { method: 'GET', path: `${prompts}/${prompt}/versions/1` },
    restorePromptVersion: { method: 'POST', path: `${prompts}/${prompt}/versions/1/restore` },
    runTest: { method: 'POST', path: `${prompts}/${prompt}/test`, body: { providers: [{ provider: 'echo' }] } },
    listTestRuns: { method: 'GET', path: `${prompts}/${prompt}/test-runs` },
    getTestRun: { method: 'GET', path: `/api/v1/test-runs/${run}` },
    getTestRunResults: { method: 'GET', path: `/api/v1/test-runs/${run}/results` },
    listProviders: { method: 'GET', path: '/api/v1/providers' },
    createApiKey: { method: 'POST', path: '/api/v1/api-keys', body: { name: 'new', scopes: ['prompts:read'] } },
    listApiKeys: { method: 'GET', path: '/api/v1/api-keys' },
    getApiKey: { method: 'GET', path: `/api/v1/api-keys/${key}` },
    revokeApiKey: { method: 'POST', path: `/api/v1/api-keys/${key}/revoke` },
    getMetrics: { method: 'GET', path: '/metrics' },
    getLiveness: { method: 'GET', path: '/health/live' },
    getReadiness: { method: 'GET', path: '/health/ready' },
    getOpenApi: { method: 'GET', path: '/openapi.json' },
  };
}

/** What came of a call. */
export interface TimedAnswer {
  readonly operation: OperationId;
  readonly status: number;
  /** The problem's type without its prefix; undefined for a success. */
  readonly problem: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly milliseconds: number;
}

/**
 * Sends calls all at once and takes the time of each. The answers are checked against the contract afterwards: the
 * checks run in this process and would be measured along with the service.
 */
export async function sendTimed(
  service: TestService,
  calls: Readonly<Record<OperationId, Call>>,
): Promise<TimedAnswer[]> {
  const answers = await Promise.all(
    (Object.entries(calls) as [OperationId, Call][]).map(async ([operation, { method, path, body }]) => {
      const started = performance.now();
      const answer = await fetch(service.url + path, {
        method,
        headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      const milliseconds = performance.now() - started;
      return { operation, status: answer.status, headers: Object.fromEntries(answer.headers), text, milliseconds };
    }),
  );
  for (const { operation, ...answer } of answers) {
    const wrong = checkAnswer(operation, answer);
    if (wrong.length > 0) throw new Error(`${operation} answered ${answer.status}: ${wrong.join(', ')}`);
  }
  return answers.map(({ text, ...answer }) => ({ ...answer, problem: problemIn(text) }));
}

function problemIn(text: string): string | undefined {
  return /"type":"urn:prompt-gateway:problem:([a-z-]+)"/.exec(text)?.[1];
}
