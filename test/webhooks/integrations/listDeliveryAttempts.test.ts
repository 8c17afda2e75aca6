import { describe, expect, it } from '@jest/globals';
import { unknownId } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { startReceiver, type Reaction } from '../../support/receiver.ts';
import type { Answer } from '../../support/service.ts';
import { createIntegration, eventually, mask, secret, sendTest, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();

/** Sends an event to a receiver with this reaction. @returns the first attempt from the list */
const firstAttempt = async (
  reaction: Reaction,
  url = setup.receiver.url,
): Promise<{ attempt: Answer['body']; path: string }> => {
  setup.receiver.next(reaction);
  const integration = await createIntegration(setup.service, { url });
  const { id } = await sendTest(setup.service, integration);
  const path = `/api/v1/deliveries/${id}/attempts`;
  const { body } = await eventually(setup.service, path, ({ data }) => data.length > 0);
  setup.receiver.forget();
  return { attempt: body.data[0], path };
};

describe('200', () => {
  it('shows the answer of the receiver', async () => {
    const { attempt } = await firstAttempt({
      kind: 'answer',
      status: 202,
      headers: { 'X-Seen': 'yes' },
      body: 'thanks',
    });
    expect(attempt).toEqual({
      number: 1,
      started_at: expect.any(String),
      latency_ms: expect.any(Number),
      succeeded: true,
      status_code: 202,
      request_headers: expect.any(Object),
      response_headers: expect.objectContaining({ 'x-seen': 'yes' }),
      response_body: 'thanks',
      response_body_truncated: false,
    });
  });

  it('shows the headers as the receiver got them, without credentials', async () => {
    const headers = { 'X-Kitchen': 'ground-floor', Authorization: 'Bearer EXAMPLE-1', traceparent: 'own' };
    const integration = await createIntegration(setup.service, { url: setup.receiver.url, headers, secret });
    const { id } = await sendTest(setup.service, integration);
    const path = `/api/v1/deliveries/${id}/attempts`;
    const { body } = await eventually(setup.service, path, ({ data }) => data.length > 0);
    const [request] = await setup.receiver.received(1);
    const { rawHeaders = [] } = request ?? {};
    const got = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]]] : []));
    const framing = /^(host|connection|content-length)$/i;
    const expected = Object.fromEntries(got.filter(([name = '']) => !framing.test(name)));
    expect(body.data[0].request_headers).toEqual({ ...expected, Authorization: mask });
    expect(expected).toMatchObject({ 'webhook-signature': expect.any(String), traceparent: 'own' });
  });

  it.each([
    [{ kind: 'answer', status: 302, headers: { Location: 'http://10.0.0.1/' } }, { status_code: 302 }],
    [
      { kind: 'answer', status: 500, body: 'oops' },
      { status_code: 500, response_body: 'oops' },
    ],
    [{ kind: 'cut' }, { error: 'connection-lost' }],
    [{ kind: 'garbage' }, { error: 'not-http' }],
  ] as [Reaction, object][])('shows a failure: %j', async (reaction, expected) => {
    const { attempt } = await firstAttempt(reaction);
    expect(attempt).toMatchObject({ succeeded: false, ...expected });
    expect('status_code' in attempt).toBe('response_body' in attempt);
  });

  it('hides credentials of the URL that a redirect repeats', async () => {
    const query = '?shop=4&token=EXAMPLE-1';
    const redirect = { kind: 'answer', status: 308, headers: { Location: `/hook/${query}` } } as const;
    const { attempt } = await firstAttempt(redirect, setup.receiver.url + query);
    expect(attempt.response_headers.location).toBe('/hook/?shop=4&token=********');
  });

  it('shows a success whose answer is incomplete, and why', async () => {
    const { attempt, path } = await firstAttempt({ kind: 'cut-body' });
    expect(attempt).toMatchObject({ succeeded: true, status_code: 200, error: 'connection-lost' });
    const { body } = await eventually(
      setup.service,
      path.replace('/attempts', ''),
      ({ status }) => status !== 'pending',
    );
    expect(body.status).toBe('delivered');
  });

  it('shows that no server listens', async () => {
    const closed = await startReceiver();
    await closed.close();
    const { attempt } = await firstAttempt({ kind: 'answer' }, closed.url);
    expect(attempt).toMatchObject({ succeeded: false, error: 'connection-refused' });
  });

  it('shortens a long answer without cutting a character in half', async () => {
    const { attempt } = await firstAttempt({ kind: 'answer', body: `x${'é'.repeat(10_000)}` });
    expect(attempt.response_body).toBe(`x${'é'.repeat(8_191)}`);
    expect(attempt.response_body_truncated).toBe(true);
  });

  it('shows no attempts before the first one', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    await setup.service.call('POST', `${integration.path}/pause`);
    const { id } = await sendTest(setup.service, integration);
    const { body } = await setup.service.call('GET', `/api/v1/deliveries/${id}/attempts`);
    expect(body).toEqual({ data: [], pagination: { total: 0, limit: 20, offset: 0, next: null } });
  });
});

describe('400', () => {
  it.each(['limit=0', 'limit=101', 'offset=-1', 'status=200'])('refuses %s', async (query) => {
    const { status } = await setup.service.call('GET', `/api/v1/deliveries/${unknownId}/attempts?${query}`);
    expect(status).toBe(400);
  });
});

describe('404', () => {
  it('says that the delivery does not exist', async () => {
    const { status, body } = await setup.service.call('GET', `/api/v1/deliveries/${unknownId}/attempts`);
    expect([status, body.type]).toEqual([404, problem('delivery-not-found')]);
  });
});
