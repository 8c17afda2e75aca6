import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openShop, orderBody } from '../../orders/orders-harness.ts';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number };
}
interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}
interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: { readonly dataPoints: readonly { readonly sum: number; readonly attributes: Attribute[] }[] };
  readonly sum?: { readonly dataPoints: readonly { readonly asDouble: number; readonly attributes: Attribute[] }[] };
}
/** What a collector gets, as JSON. */
interface Exported {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[] }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly ReceivedMetric[] }[];
  }[];
}

const given = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), tracestate: 'vendor=opaque' };
const headers = { traceparent: `00-${given.traceId}-${given.spanId}-01`, tracestate: given.tracestate };
const secret = 'a secret that no span contains';
const [server, client] = [2, 3];
/** A model that the provider does not list. */
const unlisted = 'any-name-that-a-caller-thinks-of';

let collector: Server;
let mock: MockProvider;
let receiver: Receiver;
let service: TestService;
let invocationId: string | undefined;
let sent = '';
const spans: ReceivedSpan[] = [];
const metrics: ReceivedMetric[] = [];

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]),
  );
const spansNamed = (name: string): (Omit<ReceivedSpan, 'attributes'> & { attributes: Record<string, unknown> })[] =>
  spans
    .filter((span) => span.name === name)
    .map(({ attributes, ...span }) => ({ ...span, attributes: valuesOf(attributes) }));

beforeAll(async () => {
  collector = createServer((request, response) => {
    void json(request).then((body) => {
      sent += JSON.stringify(body);
      const { resourceSpans = [], resourceMetrics = [] } = body as Exported;
      for (const { scopeSpans } of resourceSpans) spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      for (const { scopeMetrics } of resourceMetrics) metrics.push(...scopeMetrics.flatMap((scope) => scope.metrics));
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  mock = await startMockProvider();
  receiver = await startReceiver();
  service = await startTestService({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
        { id: 'mock', base_url: mock.url, models: ['model-a', 'mock-400'] },
      ]),
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    },
  });
  const message = { role: 'user', content: `{{word}} and ${secret}` };
  const prompt = await service.call('POST', '/api/v1/prompts', { body: { name: 'Traced', messages: [message] } });
  const invoke = (model: string, extra: object = {}) =>
    service.call('POST', `/api/v1/prompts/${String(prompt.body.slug)}/invoke`, {
      body: { provider: 'mock', model, variables: { word: secret }, ...extra },
      headers,
    });
  for (const model of ['model-a', unlisted]) {
    const body = { rates: [{ input: '0.1', output: '0.4' }] };
    await service.call('PUT', `/api/v1/prices/mock/${model}`, { body });
  }
  invocationId = (await invoke('model-a')).headers['x-invocation-id'];
  await invoke('model-a', { stream: true });
  await invoke('mock-400');
  await invoke(unlisted);
  const shop = await openShop(service);
  const integration = { name: 'Traced', url: receiver.url, event_types: ['ORDER_PLACED'] };
  await service.call('POST', '/api/v1/integrations', { body: integration });
  await service.call('POST', '/v1/orders', { body: orderBody(shop), headers });
  await receiver.received(1);
  await service.call('GET', '/health/live');
  await service.call('GET', '/api/v1/unknown');
  // Without a trace context of the caller.
  await service.call('GET', '/api/v1/providers');
  await service.close();
  await until(
    () => metrics.length,
    (length) => length > 0,
  );
});
afterAll(async () => {
  collector.closeAllConnections();
  collector.close();
  await Promise.all([mock.close(), receiver.close()]);
});

describe('spans', () => {
  it('of requests belong to the trace of the caller, or begin one', () => {
    const invoked = spansNamed('POST /api/v1/prompts/{slugOrId}/invoke');
    expect(invoked).toHaveLength(4);
    expect(invoked[0]).toMatchObject({
      kind: server,
      traceId: given.traceId,
      parentSpanId: given.spanId,
      traceState: given.tracestate,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/prompts/{slugOrId}/invoke',
        'http.response.status_code': 200,
        'prompt_gateway.prompt_version': 1,
        'prompt_gateway.invocation_id': invocationId,
      },
    });
    // A provider that refuses is the failure of this service for its callers.
    expect(invoked[2]).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': expect.any(String) } });
    const [own] = spansNamed('GET /api/v1/providers');
    expect(own?.parentSpanId ?? '').toBe('');
    expect(own?.traceId).not.toBe(given.traceId);
    expect(spansNamed('GET')).toMatchObject([{ attributes: { 'http.response.status_code': 404 } }]);
    expect(spansNamed('GET /health/live')).toEqual([]);
  });

  it('of calls to providers belong to that of their request, and the provider gets their trace context', () => {
    const invoked = spansNamed('POST /api/v1/prompts/{slugOrId}/invoke');
    const calls = spansNamed('chat model-a');
    expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual(invoked.slice(0, 2).map(({ spanId }) => spanId));
    for (const call of calls) {
      expect(call).toMatchObject({
        kind: client,
        traceId: given.traceId,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': 'mock',
          'gen_ai.request.model': 'model-a',
          'gen_ai.usage.input_tokens': expect.any(Number),
          'gen_ai.usage.output_tokens': expect.any(Number),
          'server.address': '127.0.0.1',
          'server.port': Number(new URL(mock.url).port),
        },
      });
    }
    expect(calls[0]?.attributes['prompt_gateway.invocation_id']).toBe(invocationId);
    expect(spansNamed('chat mock-400')).toMatchObject([
      { status: { code: 2 }, attributes: { 'error.type': expect.stringMatching(/^provider-/) } },
    ]);
    const got = mock.requests
      .slice(0, 2)
      .map((request) => [request.headers['traceparent'], request.headers['tracestate']]);
    expect(got).toEqual(calls.map(({ spanId }) => [`00-${given.traceId}-${spanId}-01`, given.tracestate]));
  });

  it('of deliveries are linked to the request that caused the event', () => {
    const [placed] = spansNamed('POST /v1/orders');
    expect(placed?.attributes['prompt_gateway.order_id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(spansNamed('deliver ORDER_PLACED')).toMatchObject([
      {
        kind: client,
        links: [{ traceId: given.traceId, spanId: placed?.spanId }],
        attributes: {
          'server.address': '127.0.0.1',
          'server.port': receiver.port,
          'http.response.status_code': 200,
          'prompt_gateway.attempt': 1,
        },
      },
    ]);
    expect(receiver.requests[0]?.headers['traceparent']).toBe(`00-${given.traceId}-${String(placed?.spanId)}-01`);
  });

  it('have no content', () => {
    expect(sent).toContain('/api/v1/prompts/{slugOrId}/invoke');
    expect(sent).not.toContain(secret);
    expect(sent).not.toContain(service.adminKey);
  });
});

describe('metrics', () => {
  it('have the names of the conventions', () => {
    const pointsOf = (name: string) =>
      metrics
        .filter((metric) => metric.name === name)
        .flatMap(({ histogram, sum }) => [
          ...(histogram?.dataPoints ?? []),
          ...(sum?.dataPoints.map(({ asDouble, attributes }) => ({ sum: asDouble, attributes })) ?? []),
        ])
        .map(({ sum, attributes }) => ({ sum, ...valuesOf(attributes) }));
    expect(new Set(metrics.map(({ name, unit }) => `${name} ${unit}`))).toEqual(
      new Set([
        'http.server.request.duration s',
        'gen_ai.client.operation.duration s',
        'gen_ai.client.token.usage {token}',
        'prompt_gateway.cost USD',
      ]),
    );
    expect(pointsOf('gen_ai.client.token.usage')).toMatchObject([
      { 'gen_ai.token.type': 'input', 'gen_ai.request.model': 'model-a', sum: expect.any(Number) },
      { 'gen_ai.token.type': 'output', 'gen_ai.request.model': 'model-a', sum: expect.any(Number) },
      { 'gen_ai.token.type': 'input', 'gen_ai.request.model': '_OTHER', sum: 11 },
      { 'gen_ai.token.type': 'output', 'gen_ai.request.model': '_OTHER', sum: 7 },
    ]);
    const provider = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'mock' };
    expect(pointsOf('prompt_gateway.cost')).toEqual([
      { ...provider, 'gen_ai.request.model': 'model-a', sum: 0.0000078 },
      { ...provider, 'gen_ai.request.model': 'mock-400', sum: 0 },
      { ...provider, 'gen_ai.request.model': '_OTHER', sum: 0.0000039 },
    ]);
    expect(pointsOf('http.server.request.duration')).toContainEqual(
      expect.objectContaining({ 'http.route': '/v1/orders', 'http.response.status_code': 201 }),
    );
  });
});
