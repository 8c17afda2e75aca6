import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { textOf, type GenerateEvent } from '../../src/models/language-model.ts';
import type { ProviderRegistry } from '../../src/models/provider.ts';
import { createStreamWatch } from '../../src/models/call/stream-watch.ts';
import { createLookUp } from '../../src/base/outbound/look-up.ts';
import { createProviderHttp, type Fetch } from '../../src/models/transport/http.ts';
import { createMovableClock, type MovableClock } from '../support/clock.ts';
import type { RecordedRequest, Step } from '../support/mock-provider.ts';
import { findVendor } from '../support/mock-vendors.ts';
import { until } from '../support/until.ts';
import { collect, provider, request, startHarness, streamOf, type Call, type Harness } from './providers-harness.ts';

let harness: Harness;
let registry: ProviderRegistry;
let clock: MovableClock;
let watch: ReturnType<typeof createStreamWatch>;

beforeAll(async () => {
  harness = await startHarness();
  clock = createMovableClock();
  clock.hold();
  watch = createStreamWatch({ clock });
  registry = harness.with({ streamWatch: watch });
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

const formats = ['openai', 'xai', 'anthropic', 'google'];
/** The clock has fractions, so tests advance it by 1 ms more or less than a limit. */
const minute = 60_000;
const mebibyte = 1024 * 1024;

/** A stream that the test reads, and the call that the mock got. */
async function open(
  id: string,
  steps: readonly Step[],
  changes: Partial<Call> = {},
): Promise<{ events: AsyncIterator<GenerateEvent>; upstream: RecordedRequest }> {
  harness.mock.behave('gpt', { kind: 'stream', steps });
  const events = streamOf(registry, id, request('gpt', changes))[Symbol.asyncIterator]();
  expect(await events.next()).toMatchObject({ value: { type: 'text' } });
  const upstream = harness.mock.requests.at(-1);
  if (upstream === undefined) throw new Error('Nothing was called.');
  return { events, upstream };
}

/** Steps that continue when the test says so. */
function gate(): { step: Step; pass: () => void } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  return {
    step: { wait: promise },
    pass: () => {
      resolve(undefined);
    },
  };
}

/** Waits for the end of a call, and says whether the service ended it. */
async function wasCanceled(upstream: RecordedRequest | undefined): Promise<boolean> {
  await upstream?.ended;
  return upstream?.aborted ?? false;
}

describe.each(formats)('a stream of %s', (id) => {
  it('ends when the provider sends nothing for a minute', async () => {
    const { step, pass } = gate();
    const { events, upstream } = await open(id, [{ text: 'Hello' }, step, 'ping', { text: ' you' }, 'hang']);
    const second = events.next();
    clock.advance(minute - 1);
    watch.check();
    pass();
    expect(await second).toMatchObject({ value: { delta: ' you' } });

    const third = events.next();
    clock.advance(minute + 1);
    watch.check();
    await expect(third).rejects.toMatchObject({ type: 'provider-timeout', extensions: { retryable: false } });
    expect(await wasCanceled(upstream)).toBe(true);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('does not end because its reader is slow', async () => {
    const { events } = await open(id, [{ text: 'Hello' }, { text: ' you' }, { finish: 'stop' }]);
    clock.advance(5 * minute);
    watch.check();
    expect(await events.next()).toMatchObject({ value: { delta: ' you' } });
    clock.advance(5 * minute);
    watch.check();
    expect(await events.next()).toMatchObject({ value: { type: 'finish' } });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it('ends after 15 minutes, even while nobody reads', async () => {
    const { events, upstream } = await open(id, [{ text: 'Hello' }, { text: ' you' }, 'hang']);
    clock.advance(15 * minute + 1);
    watch.check();
    expect(await wasCanceled(upstream)).toBe(true);
    await expect(events.next()).rejects.toMatchObject({ type: 'provider-timeout' });
  });

  it('is canceled when its reader leaves', async () => {
    harness.mock.behave('gpt', { kind: 'stream', steps: [{ text: 'Hello' }, { text: ' you' }, 'hang'] });
    for await (const { type } of streamOf(registry, id, request('gpt'))) {
      expect(type).toBe('text');
      break;
    }
    expect(await wasCanceled(harness.mock.requests[0])).toBe(true);
  });

  it.each(['is waited for', 'nobody waits for'])('is canceled by the signal while an event %s', async (kind) => {
    const caller = new AbortController();
    const { events, upstream } = await open(id, [{ text: 'Hello' }, 'hang'], { signal: caller.signal });
    const reason = new Error('The caller left.');
    const outcome = kind === 'is waited for' ? expect(events.next()).rejects.toBe(reason) : undefined;
    caller.abort(reason);
    expect(await wasCanceled(upstream)).toBe(true);
    await (outcome ?? expect(events.next()).rejects.toBe(reason));
  });

  it('is canceled by the signal before the first content', async () => {
    const caller = new AbortController();
    const reason = new Error('The caller left.');
    const reading = collect(streamOf(registry, id, request('mock-quiet', { signal: caller.signal })));
    await until(() => harness.mock.requests.length === 1);
    caller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(await wasCanceled(harness.mock.requests[0])).toBe(true);
  });

  it('is read no faster than its reader reads', async () => {
    const passed = { bytes: 0 };
    const counting = harness.with({ streamFetch: countBytes(harness.http.streamFetch, passed) });
    const events = streamOf(counting, id, request('mock-endless'))[Symbol.asyncIterator]();
    for (let count = 0; count < 500; count += 1) await events.next();
    // The packages read on until their pipeline is full.
    let before = -1;
    let unchanged = 0;
    await until(() => {
      unchanged = passed.bytes === before ? unchanged + 1 : 0;
      before = passed.bytes;
      return unchanged >= 5;
    });
    const [upstream] = harness.mock.requests;
    const writer = findVendor(upstream?.path ?? '')?.stream('mock-endless', false);
    let read = writer?.start().length ?? 0;
    for (let count = 0; count < 500; count += 1) read += writer?.text(`word${count} `).length ?? 0;
    expect(passed.bytes).toBeGreaterThanOrEqual(read);
    expect(passed.bytes - read).toBeLessThan(32 * 1024);
    await events.return?.();
    expect(await wasCanceled(upstream)).toBe(true);
  });

  it('ends when the answer has more than 4 MiB', async () => {
    const text = { text: 'x'.repeat(mebibyte) };
    harness.mock.behave('gpt', { kind: 'stream', steps: [text, text, text, text, text, 'hang'] });
    const { texts, problem } = await collect(streamOf(registry, id, request('gpt')));
    expect(texts).toHaveLength(4);
    expect(problem).toMatchObject({ type: 'provider-bad-answer', extensions: { retryable: false } });
    expect(await wasCanceled(harness.mock.requests[0])).toBe(true);
  });

  it('ends when an event has more than 4 MiB', async () => {
    const piece = { raw: 'x'.repeat(mebibyte) };
    const steps: Step[] = [{ raw: 'data: ' }, piece, piece, { raw: '\ndata: ' }, piece, piece, piece, 'hang'];
    harness.mock.behave('gpt', { kind: 'stream', steps });
    const { problem } = await collect(streamOf(registry, id, request('gpt')));
    expect(problem).toMatchObject({ type: 'provider-bad-answer', extensions: { retryable: false } });
    expect(await wasCanceled(harness.mock.requests[0])).toBe(true);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('can have more than that in events of ordinary size', async () => {
    const steps: Step[] = Array.from({ length: 5 }, () => ({ raw: `: ${'x'.repeat(mebibyte)}\n\n` }));
    harness.mock.behave('gpt', { kind: 'stream', steps: [{ text: 'Hello' }, ...steps, { finish: 'stop' }] });
    const { texts, problem } = await collect(streamOf(registry, id, request('gpt')));
    expect(texts).toEqual(['Hello']);
    expect(problem).toBeUndefined();
  });
});

/** Counts the bytes that a provider package takes out of response bodies. */
function countBytes(fetch: Fetch, passed: { bytes: number }): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const reader = response.body?.getReader();
    const body = {
      getReader: () => ({
        async read() {
          const result = await reader?.read();
          passed.bytes += result?.value?.length ?? 0;
          return result;
        },
        cancel: (reason?: unknown) => reader?.cancel(reason),
        releaseLock() {
          reader?.releaseLock();
        },
      }),
    };
    const { status, ok, headers } = response;
    return { status, ok, headers, body } as unknown as Response;
  };
}

describe('streams', () => {
  it('do not hold up whole calls', async () => {
    const http = createProviderHttp({ connections: 1, lookUp: createLookUp() });
    const { fetch, streamFetch } = http;
    const narrow = harness.with({ fetch, streamFetch, settings: { concurrency: 1 } });
    const caller = new AbortController();
    const open = Array.from({ length: 20 }, async () => {
      const events = streamOf(narrow, 'openai', request('mock-stall', { signal: caller.signal }));
      return events[Symbol.asyncIterator]().next();
    });
    await Promise.all(open);
    expect(textOf(await provider(narrow, 'openai').generate(request('llama')))).toBe('Hello from llama.');
    caller.abort();
    await http.close();
  });
});
