import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { NotFoundError, ProviderError, UnexpectedAnswerError } from '../../clients/typescript/src/index.ts';
import type { GatewayOptions } from '../../clients/typescript/src/gateway-options.ts';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { mockUsage } from '../support/mock-vendors.ts';
import { problem } from '../support/per-operation.ts';
import { createImpatientGateway, type ImpatientGateway } from './harness.ts';

let harness: InvokeHarness;
let slug: string;
beforeAll(async () => {
  harness = await startInvokeHarness();
  slug = await harness.createPrompt();
});
afterAll(async () => {
  await harness.close();
});
afterEach(() => {
  harness.mock.reset();
});

const connect = (options: Partial<GatewayOptions> = {}, timing = {}): ImpatientGateway =>
  createImpatientGateway({ baseUrl: harness.service.url, apiKey: harness.service.adminKey, ...options }, timing);

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('an invocation', () => {
  it('that takes longer than an attempt is called once, and waited for', async () => {
    const pauses: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      pauses.push(ms);
      // The first attempt is in progress for more pauses than there are retries.
      if (pauses.length > 25) harness.mock.release();
      await setImmediate();
    };
    const gateway = connect({ timeout: 300, maxRetries: 20 }, { sleep });
    const { text } = await gateway.prompts.invoke(slug, { model: 'mock-held' });
    expect(text).toBe('Hello from mock-held.');
    expect(harness.mock.requests).toHaveLength(1);
    expect(pauses.slice(0, 2)).toEqual([500, 1_000]);
  });

  it('whose answers break the schema is paid once, and the error has all its tokens', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const prompt = await harness.createPrompt({ response_format: { type: 'json', schema } });
    const error = await failureOf(connect().prompts.invoke(prompt));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({
      attempts: 1,
      type: problem('provider-bad-answer'),
      problem: { usage: { inputTokens: mockUsage.input, outputTokens: mockUsage.output } },
    });
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('that is aborted ends the call of the provider', async () => {
    const controller = new AbortController();
    const reason = new Error('the user left');
    const call = failureOf(connect().prompts.invoke(slug, { model: 'mock-hang' }, { signal: controller.signal }));
    const request = await harness.received(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
    await request.ended;
    expect(request.aborted).toBe(true);
    // The deadline of the service would end the call after a minute.
  }, 20_000);
});

describe('a wrong base URL', () => {
  it.each([
    ['/api', 404, 'route-not-found'],
    ['/dashboard', 405, 'method-not-allowed'],
  ])('with the path %s is not a prompt that is not found', async (path, status, type) => {
    const baseUrl = harness.service.url + path;
    const error = await failureOf(connect({ baseUrl }).prompts.invoke(slug, { variables: {} }));
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).not.toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({
      attempts: 1,
      mayHaveBeenApplied: false,
      status,
      problem: { type: problem(type) },
      message: expect.stringContaining(`of ${baseUrl}/api/v1/prompts/${slug}/invoke says that`),
    });
    expect((error as Error).message).toContain('Check baseUrl');
  });
});
