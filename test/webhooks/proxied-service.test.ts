import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address } from '../../src/base/outbound/look-up.ts';
import { readNoProxy } from '../../src/base/outbound/proxy.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createProviderHttp } from '../../src/models/transport/http.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { createAuthority, trust } from '../support/certificates.ts';
import { startConnectProxy, type ConnectProxy } from '../support/connect-proxy.ts';
import { startDnsServer, type DnsServer } from '../support/dns-server.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { problem } from '../support/per-operation.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import type { Answer } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createIntegration, eventually, sendTest } from './integrations/integrations-harness.ts';
import { quickTiming } from './webhooks-harness.ts';

const password = 'EXAMPLE-password-of-the-proxy';
const credentials = `gateway:${password}`;
const encoded = Buffer.from(credentials).toString('base64');
/** The refusal of the proxy, while it lasts. */
let refusal: number | undefined;
let proxy: ConnectProxy;
let dns: DnsServer;
let invoking: InvokeHarness;
let mock: MockProvider;
let receiver: Receiver;
/** Where names of the test are. The proxy connects to this machine instead. */
const publicAddress = '93.184.216.34';
/** Everything that operators and callers get to see. */
const seen: string[] = [];
const call = async (...parameters: Parameters<InvokeHarness['service']['call']>): Promise<Answer> => {
  const answer = await invoking.service.call(...parameters);
  seen.push(answer.text);
  return answer;
};

beforeAll(async () => {
  proxy = await startConnectProxy({
    credentials,
    refuse: () => refusal,
    route: (authority) => Number(authority.split(':')[1]),
  });
  dns = await startDnsServer((name) => [name === 'direct.test' ? '127.0.0.1' : publicAddress]);
  receiver = await startReceiver();
  mock = await startMockProvider();
  const provider = (id: string, host: string): object => {
    const base_url = mock.url.replace('127.0.0.1', host);
    return { id, base_url, api_key: 'x'.repeat(20), models: ['model-a'] };
  };
  const local = ['127.0.0.1', 'localhost', 'ollama.localhost', '[::1]'];
  const url = proxy.origin.replace('://', `://${credentials}@`);
  invoking = await startInvokeHarness({
    environment: {
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
      WEBHOOK_PROXY_URL: url,
      PROVIDER_PROXY_URL: url,
      NO_PROXY: 'direct.test',
      DNS_SERVERS: dns.address,
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
        provider('mock', 'models.test'),
        ...local.map((host, index) => provider(`local-${index}`, host)),
      ]),
    },
    log: createLogger('trace', { write: (line) => void seen.push(line) }),
    print: (line) => void seen.push(line),
    createWebhooks: (dependencies) =>
      createWebhooks({
        ...dependencies,
        // A receiver that fails twice is disabled, and its delivery has failed after two attempts.
        timing: {
          ...quickTiming,
          schedule: [0, 50],
          failing: { tellAfter: 300_000, warnAfter: 0, disableAfter: 0, leastNotice: 0 },
        },
      }),
  });
});
afterAll(async () => {
  await invoking.close();
  await receiver.close();
  await mock.close();
  await dns.close();
  await proxy.close();
});
beforeEach(() => {
  refusal = undefined;
  proxy.forget();
  receiver.forget();
});

const authorityOf = (url: string): string => `${publicAddress}:${new URL(url).port}`;
const at = (host: string): string => receiver.url.replace('127.0.0.1', host);
const createReceiver = (host = 'shop.test') => createIntegration(invoking.service, { url: at(host) });

describe('events', () => {
  it('go through the proxy, with its credentials and none for the receiver', async () => {
    const integration = await createReceiver();
    const { id } = await sendTest(invoking.service, integration);
    await eventually(invoking.service, `/api/v1/deliveries/${id}`, ({ status }) => status === 'delivered');
    expect(proxy.requests).toEqual([{ authority: authorityOf(receiver.url), authorization: `Basic ${encoded}` }]);
    expect(receiver.requests[0]?.rawHeaders.join()).not.toMatch(/proxy/i);
  });

  it.each(['direct.test', 'localhost', '127.0.0.1'])('go directly to what the proxy is not for: %s', async (host) => {
    const integration = await createReceiver(host);
    const { id } = await sendTest(invoking.service, integration);
    await eventually(invoking.service, `/api/v1/deliveries/${id}`, ({ status }) => status === 'delivered');
    expect(proxy.requests).toEqual([]);
  });

  it('that fail because of the proxy say so, wait, and do not disable the integration', async () => {
    const error = 'proxy-credentials';
    refusal = 407;
    const integration = await createReceiver();
    const { id } = await sendTest(invoking.service, integration);
    const attempts = `/api/v1/deliveries/${id}/attempts`;
    const { body } = await eventually(invoking.service, attempts, ({ data }) => data.length >= 4);
    for (const attempt of body.data) expect(attempt).toMatchObject({ succeeded: false, error });
    const { body: shown } = await call('GET', integration.path);
    expect(shown).toMatchObject({ status: 'active', last_error: { error }, failing_delivery: { error } });
    expect(shown).not.toHaveProperty('warning');
    const listed = await call('GET', `${integration.deliveries}&last_outcome=${error}`);
    expect(listed.body.data).toMatchObject([{ id, last_outcome: error }]);
    expect(receiver.requests).toEqual([]);
    refusal = undefined;
    await eventually(invoking.service, `/api/v1/deliveries/${id}`, (delivery) => delivery.status === 'delivered');
    await call('GET', attempts);
    await eventually(invoking.service, integration.path, (sound) => sound.consecutive_failures === 0);
  });

  it.each([
    [503, 'unreachable'],
    [403, 'proxy-refused'],
  ])('that the proxy answers with %d are failures of the receiver', async (answer, error) => {
    refusal = answer;
    const integration = await createReceiver();
    const { id } = await sendTest(invoking.service, integration);
    await eventually(invoking.service, integration.path, ({ status }) => status === 'disabled');
    const { body } = await call('GET', `/api/v1/deliveries/${id}/attempts`);
    expect(body.data[0]).toMatchObject({ error });
  });
});

describe('calls of providers', () => {
  it('go through the proxy', async () => {
    const prompt = await invoking.createPrompt();
    const { status } = await call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: {} });
    expect(status).toBe(200);
    expect(proxy.requests).toEqual([{ authority: authorityOf(mock.url), authorization: `Basic ${encoded}` }]);
  });

  it('are streamed through the proxy', async () => {
    const prompt = await invoking.createPrompt();
    const { status, text } = await call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: { stream: true } });
    expect(status).toBe(200);
    expect(text).toMatch(/Hello/);
    expect(proxy.requests.map((request) => request.authority)).toEqual([authorityOf(mock.url)]);
  });

  it.each([0, 1, 2, 3])('go directly to this machine: local-%d', async (index) => {
    const prompt = await invoking.createPrompt({ selected_provider: `local-${index}` });
    const { status } = await call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: {} });
    // The provider of the test does not listen at [::1].
    expect(status).toBe(index === 3 ? 502 : 200);
    expect(proxy.requests).toEqual([]);
  });

  it.each([
    [407, 'the proxy does not accept the credentials in PROVIDER_PROXY_URL'],
    [403, 'the proxy does not connect to it'],
    [504, 'could not be reached (ETIMEDOUT'],
  ])('that the proxy refuses with %d say so', async (status, words) => {
    const prompt = await invoking.createPrompt();
    refusal = status;
    // Open connections would be used again.
    proxy.cut();
    const answer = await until(
      () => call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: {} }),
      ({ text }) => text.includes(words),
    );
    expect(answer.body).toMatchObject({ status: 502, type: problem('provider-failed') });
  });
});

describe('a provider with TLS', () => {
  const trusted = trust(createAuthority('Example authority'));
  let server: Server;
  let release: (() => void) | undefined;
  beforeAll(async () => {
    server = createServer(trusted.issue(['models.test']), (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`data: ${request.headers.host ?? ''}\n\n`);
      release = () => response.end(`data: ${'x'.repeat(100_000)}\n\n`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it.each([false, true])('streams through the proxy; the proxy looks up names: %s', async (resolves) => {
    const { port } = server.address() as AddressInfo;
    const through = await startConnectProxy({ route: () => port });
    const looked: string[] = [];
    const http = createProviderHttp({
      lookUp: async (name) => {
        looked.push(name);
        return [{ address: '93.84.116.34', family: 4 }];
      },
      proxy: { origin: through.origin, authorization: undefined, resolves, isBypassed: () => false },
    });
    const response = await http.streamFetch('https://models.test/v1', { method: 'POST', body: '{}' });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    // The first event comes before the answer is complete.
    expect(Buffer.from(first?.value ?? '').toString()).toContain('data: models.test');
    release?.();
    let rest = 0;
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      rest += value?.length ?? 0;
    }
    expect(rest).toBeGreaterThanOrEqual(100_000);
    expect(through.requests.map((request) => request.authority)).toEqual([
      resolves ? 'models.test:443' : '93.84.116.34:443',
    ]);
    expect(looked).toEqual(resolves ? [] : ['models.test']);
    await http.close();
    await through.close();
  });

  it('is called directly if NO_PROXY names it', async () => {
    const through = await startConnectProxy();
    const proxy = { origin: through.origin, authorization: undefined, resolves: true };
    const lookUp = async (): Promise<Address[]> => [{ address: '127.0.0.1', family: 4 }];
    const { port } = server.address() as AddressInfo;
    const http = createProviderHttp({ lookUp, proxy: { ...proxy, isBypassed: readNoProxy('.test') } });
    const response = await http.streamFetch(`https://models.test:${port}/v1`, { method: 'POST', body: '{}' });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? '').toString()).toContain(`data: models.test:${port}`);
    await reader?.cancel();
    expect(through.requests).toEqual([]);
    await http.close();
    await through.close();
  });
});

it('shows the credentials of the proxy nowhere', async () => {
  await call('GET', '/metrics');
  await call('GET', '/health/ready');
  await call('GET', '/api/v1/providers');
  await call('GET', '/api/v1/attention');
  const all = seen.join('\n');
  expect(all).toContain(`Events are sent through the proxy ${proxy.origin}`);
  expect(all).toContain('proxy-credentials');
  for (const secret of [password, encoded, credentials]) expect(all).not.toContain(secret);
});
