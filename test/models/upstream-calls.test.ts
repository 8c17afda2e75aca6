import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { PromptGateway } from '../../clients/typescript/src/index.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Calls to the provider for one request, by how they fail. The names are those of the mock provider. */
const expected: Readonly<Record<string, number>> = {
  'mock-400': 1,
  'mock-401': 1,
  'mock-403': 1,
  'mock-404': 1,
  // Surely not billed: repeated by the service, unless the wait would be longer than the deadline.
  'mock-429': 3,
  'mock-429-1': 3,
  'mock-429-300': 1,
  'mock-503': 3,
  'mock-529': 3,
  'refused connection': 3,
  'reset before the request': 3,
  // Perhaps billed.
  'mock-500': 1,
  'mock-502': 1,
  'mock-reset': 1,
  'mock-hang': 1,
  'mock-cut': 1,
  'mock-garbage': 1,
};
/** Who sends the request, each with its own retries. */
const paths = [
  'service',
  'service, streamed',
  'client',
  'client, streamed',
  'chat',
  'chat, streamed',
  'responses',
] as const;
type Path = (typeof paths)[number];

let mock: MockProvider;
let service: TestService;
let gateway: PromptGateway;
let openai: OpenAI;
let slug: string;
const resetting = createServer((socket) => {
  socket.resetAndDestroy();
}).listen(0, '127.0.0.1');

beforeAll(async () => {
  await once(resetting, 'listening');
  const addresses = {
    'refused connection': 'http://127.0.0.1:1',
    // The handshake breaks off, so the request is not sent.
    'reset before the request': `https://127.0.0.1:${(resetting.address() as AddressInfo).port}`,
  };
  mock = await startMockProvider();
  const providers = [
    { id: 'mock', base_url: mock.url, models: ['model-a'] },
    ...Object.entries(addresses).flatMap(([name, base_url]) =>
      paths.map((path) => ({ id: idOf(name, path), base_url, models: ['model-a'] })),
    ),
  ];
  const environment = { INVOKE_TIMEOUT_MS: '8000', OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(providers) };
  service = await startTestService({ environment });
  const { url, adminKey } = service;
  gateway = new PromptGateway({ baseUrl: url, apiKey: adminKey });
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: adminKey });
  const body = { name: 'Hi', messages: [{ role: 'user', content: 'Hi' }] };
  slug = (await service.call('POST', '/api/v1/prompts', { body })).body.slug as string;
});
afterAll(async () => {
  await service.close();
  await mock.close();
  resetting.close();
});

function idOf(failure: string, path: Path): string {
  return `${failure} ${path}`.replaceAll(/[^a-z]+/g, '-');
}

/** Sends a request that fails. */
async function send(path: Path, provider: string, model: string): Promise<void> {
  const target = { provider, model };
  const name = `${provider}/${model}`;
  const invocation = `/api/v1/prompts/${slug}/invoke`;
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hi' }];
  switch (path) {
    case 'service':
      expect((await service.call('POST', invocation, { body: target })).headers['x-should-retry']).toBe('false');
      return;
    case 'service, streamed':
      await service.call('POST', invocation, { body: { ...target, stream: true } });
      return;
    case 'client':
      await expect(gateway.prompts.invoke(slug, target)).rejects.toThrow();
      return;
    case 'client, streamed':
      await expect(gateway.prompts.stream(slug, target).text()).rejects.toThrow();
      return;
    case 'chat':
      await expect(openai.chat.completions.create({ model: name, messages })).rejects.toThrow();
      return;
    case 'chat, streamed':
      await expect(
        openai.chat.completions.create({ model: name, messages, stream: true }).then(async (stream) => {
          for await (const _ of stream);
        }),
      ).rejects.toThrow();
      return;
    case 'responses':
      await expect(openai.responses.create({ model: name, input: 'Hi' })).rejects.toThrow();
  }
}

/** The calls that a request led to. */
async function count(failure: string, path: Path): Promise<number> {
  if (!failure.startsWith('mock-')) {
    const id = idOf(failure, path);
    await send(path, id, 'model-a');
    const { text } = await service.call('GET', '/metrics');
    const series = `provider_attempts_total{provider="${id}",outcome="provider-failed"} `;
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(series))
        ?.slice(series.length) ?? 0,
    );
  }
  const model = `${failure}_${idOf('', path)}`;
  await send(path, 'mock', model);
  return mock.requests.filter((request) => request.model === model).length;
}

it('are as many as the service makes, whoever sends the request, and whatever retries they make', async () => {
  const rows = await Promise.all(
    Object.entries(expected).map(async ([failure]) => {
      const counts = await Promise.all(paths.map(async (path) => [path, await count(failure, path)] as const));
      return [failure, Object.fromEntries(counts)] as const;
    }),
  );
  const table = Object.fromEntries(rows);
  if (process.env['PRINT_TABLES'] === 'on') console.table(table);
  const same = (calls: number): object => Object.fromEntries(paths.map((path) => [path, calls]));
  expect(table).toEqual(Object.fromEntries(Object.entries(expected).map(([name, calls]) => [name, same(calls)])));
}, 60_000);
