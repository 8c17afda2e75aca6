import { startMockProvider, type MockProvider, type RecordedRequest } from '../../support/mock-provider.ts';
import { until } from '../../support/until.ts';
import { startTestService, type Answer, type TestService, type TestServiceOptions } from '../../support/service.ts';

/** The credential of the provider `mock`. It must never appear in an answer or in the log. */
export const providerKey = 'sk-do-not-show-0123456789';

export interface InvokeHarness {
  readonly service: TestService;
  /** The server behind `mock`, whose default model is `model-a`, and `spare`, whose default model is `spare-a`, and `plain`. */
  readonly mock: MockProvider;
  /** Creates a prompt that says "Hello {{name|world}}" to `mock` by default. @returns its slug */
  createPrompt(fields?: Record<string, unknown>): Promise<string>;
  /** Invokes a prompt by slug or id. */
  invoke(prompt: string, body?: unknown, headers?: Record<string, string>, key?: string | null): Promise<Answer>;
  /** Invokes a prompt over a connection that the test can close, without checking the answer. */
  invokeUntil(signal: AbortSignal, prompt: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Waits until the provider has received this number of requests since the last reset. @returns the last of them */
  received(count: number): Promise<RecordedRequest>;
  /** Value of a series of a metric, such as `invoke_cache_total{result="hit"}`; 0 if it does not exist. */
  metric(series: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Starts the service with three providers on the same server, and `openai` without credentials. `plain` does not
 * accept schemas; the others do.
 */
export async function startInvokeHarness(options: TestServiceOptions = {}): Promise<InvokeHarness> {
  const mock = await startMockProvider();
  const access = { base_url: mock.url, api_key: providerKey };
  const compatible = [
    { id: 'mock', ...access, models: ['model-a', 'model-b'], structured_outputs: true, enforces_max_output: true },
    { id: 'spare', ...access, models: ['spare-a'], structured_outputs: true },
    { id: 'plain', ...access, models: ['plain-a'] },
  ];
  const environment = { OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(compatible), ...options.environment };
  const service = await startTestService({ ...options, environment });
  const path = (prompt: string): string => `/api/v1/prompts/${prompt}/invoke`;
  return {
    service,
    mock,
    async createPrompt(fields = {}) {
      const { body, status, text } = await service.call('POST', '/api/v1/prompts', {
        body: {
          name: 'Greeting',
          messages: [{ role: 'user', content: 'Hello {{name|world}}' }],
          selected_provider: 'mock',
          ...fields,
        },
      });
      if (status !== 201) throw new Error(`The prompt was not created: ${text}`);
      return (body as { slug: string }).slug;
    },
    invoke: (prompt, body, headers = {}, key = service.adminKey) =>
      service.call('POST', path(prompt), { ...(body !== undefined && { body }), headers, key }),
    invokeUntil: (signal, prompt, body = {}, headers = {}) =>
      fetch(service.url + path(prompt), {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json', ...headers },
        signal,
      }),
    received: (count) =>
      until(
        () => mock.requests[count - 1],
        (request) => request !== undefined,
      ) as Promise<RecordedRequest>,
    async metric(series) {
      const { text } = await service.call('GET', '/metrics');
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
      return line === undefined ? 0 : Number(line.slice(series.length));
    },
    async close() {
      await service.close();
      await mock.close();
    },
  };
}

/** The problem type without its prefix. */
export function problemOf({ body }: Answer): string {
  return String((body as { type?: unknown }).type).replace('urn:prompt-gateway:problem:', '');
}
