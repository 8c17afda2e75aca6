import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import type { StreamEnd } from '../../src/http/answer-stream.ts';
import {
  createEventStreams,
  type EventSource,
  type EventStreams,
  type StartedStream,
  type StreamTerms,
} from '../../src/http/event-streams.ts';
import { problemDetails } from '../../src/http/problem-response.ts';
import { heartbeat, serverSentEvent } from '../../src/http/server-sent-events.ts';
import { createMemoryBudget } from '../../src/base/limits/memory-budget.ts';
import { until } from '../support/until.ts';

/** Texts, of which the last is `end`. */
type Text = string;
/** Without a limit, and with heartbeats that no test waits for. */
const never = { commit: 2 ** 30, heartbeat: 2 ** 30 };
const often = { commit: 1, heartbeat: 5 };
const failure = new ProblemError('provider-failed', { detail: 'The provider failed.' });
const plenty = createMemoryBudget({ perKey: Infinity, perProcess: Infinity });

function streamsWith(times = never, memory = plenty): EventStreams {
  return createEventStreams({ times, memory });
}

function sourceOf(open: EventSource<Text>['open']): EventSource<Text> {
  return {
    open,
    isLast: (text) => text === 'end',
    encoder: () => ({
      encode: (text) => serverSentEvent({ text }),
      fail: (_problem, { type }) => serverSentEvent({ type }, 'error'),
    }),
    merge: (one, next) => (next === 'end' ? undefined : one + next),
  };
}

function termsWith(changes: Partial<StreamTerms> = {}): StreamTerms {
  return {
    family: 'key',
    signal: new AbortController().signal,
    isKept: false,
    describe: (problem) => problemDetails(problem, '/', 'id'),
    ...changes,
  };
}

/** Events that a test sends one by one; a failure is thrown. It ends with its signal. */
function tap(): { open: EventSource<Text>['open']; send: (event: Text | Error) => void; ended: Promise<unknown> } {
  const waiting: (Text | Error)[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
  let wake = Promise.withResolvers<undefined>();
  return {
    ended,
    send(event) {
      waiting.push(event);
      wake.resolve(undefined);
    },
    async *open(signal) {
      signal.addEventListener('abort', () => {
        wake.reject(signal.reason as Error);
      });
      try {
        for (;;) {
          const next = waiting.shift();
          if (next instanceof Error) throw next;
          if (next !== undefined) yield next;
          else await wake.promise.finally(() => (wake = Promise.withResolvers()));
        }
      } catch (error) {
        end(error);
        throw error;
      } finally {
        end(undefined);
      }
    },
  };
}

async function* all(...texts: (Text | Error)[]): AsyncGenerator<Text> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield await Promise.resolve(text);
  }
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Connected {
  /** The body so far, with the framing of HTTP removed. */
  readonly text: () => string;
  readonly isWhole: () => boolean;
  readonly socket: Socket;
  readonly response: ServerResponse;
  readonly end: Promise<StreamEnd>;
  readonly closed: Promise<unknown>;
}

/** Sends a stream over a real connection. */
async function sendOver({ stream }: StartedStream<Text>): Promise<Connected> {
  const { promise: answering, resolve } = Promise.withResolvers<ServerResponse>();
  const { promise: end, resolve: ended } = Promise.withResolvers<StreamEnd>();
  const server = createServer((_request, response) => {
    response.writeHead(200);
    void stream.sendTo(response).then(ended);
    resolve(response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const chunks: Buffer[] = [];
  const closed = new Promise((done) => socket.once('close', done));
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const received = (): string => {
    const raw = Buffer.concat(chunks);
    const parts: Buffer[] = [];
    let at = raw.indexOf('\r\n\r\n') + 4;
    while (at > 3 && at < raw.length) {
      const line = raw.indexOf('\r\n', at);
      if (line === -1) break;
      const size = parseInt(raw.toString('latin1', at, line), 16);
      parts.push(raw.subarray(line + 2, line + 2 + size));
      at = line + 2 + size + 2;
    }
    return Buffer.concat(parts).toString();
  };
  return {
    text: received,
    isWhole: () => Buffer.concat(chunks).toString('latin1').endsWith('0\r\n\r\n'),
    socket,
    response: await answering,
    end,
    closed,
  };
}

const event = (text: string): string => serverSentEvent({ text });
const lastProblem = (type: string): string => serverSentEvent({ type: `urn:prompt-gateway:problem:${type}` }, 'error');

describe('before the first event', () => {
  it('a failure is thrown', async () => {
    const start = streamsWith().start(
      sourceOf(() => all(failure)),
      termsWith(),
    );
    await expect(start).rejects.toBe(failure);
  });

  it('the caller who leaves stops the source', async () => {
    const source = tap();
    const caller = new AbortController();
    const start = streamsWith().start(sourceOf(source.open), termsWith({ signal: caller.signal }));
    caller.abort(new Error('left'));
    await expect(start).rejects.toThrow('left');
    expect(await source.ended).toEqual(new Error('left'));
  });

  it('nothing is opened for a key that has no memory left', async () => {
    let isOpen = false;
    const source = sourceOf(() => {
      isOpen = true;
      return all('end');
    });
    const memory = createMemoryBudget({ perKey: 1024, perProcess: 2048 });
    for (let count = 0; count < 2; count += 1) memory.reserve('key', 512);
    await expect(streamsWith(never, memory).start(source, termsWith())).rejects.toMatchObject({
      type: 'too-much-in-progress',
    });
    expect(isOpen).toBe(false);
  });

  it('the status is sent after some time, with heartbeats', async () => {
    const source = tap();
    const started = await streamsWith(often).start(sourceOf(source.open), termsWith());
    expect(started.first).toBeUndefined();
    const connected = await sendOver(started);
    await until(() => connected.text().startsWith(heartbeat + heartbeat));
    source.send('one');
    source.send('end');
    await connected.closed;
    expect(connected.text().replaceAll(heartbeat, '')).toBe(event('one') + event('end'));
    expect(await connected.end).toMatchObject({ outcome: 'succeeded' });
  });

  it('a failure after that time is the only event', async () => {
    const source = tap();
    const started = await streamsWith({ commit: 1, heartbeat: 2 ** 30 }).start(sourceOf(source.open), termsWith());
    const connected = await sendOver(started);
    source.send(failure);
    await connected.closed;
    expect(connected.text()).toBe(heartbeat + lastProblem('provider-failed'));
    expect(await connected.end).toMatchObject({ outcome: 'error', error: failure, firstMs: undefined });
  });
});

describe('a stream', () => {
  it('arrives whole, with its first event at hand', async () => {
    const started = await streamsWith().start(
      sourceOf(() => all('one', 'two', 'end', 'never sent')),
      termsWith(),
    );
    expect(started.first).toBe('one');
    const connected = await sendOver(started);
    await connected.closed;
    expect(connected.text()).toBe(event('one') + event('two') + event('end'));
    expect(connected.isWhole()).toBe(true);
    const bytes = Buffer.byteLength(connected.text());
    expect(await connected.end).toEqual({ outcome: 'succeeded', bytes, firstMs: expect.any(Number) });
  });

  it.each([
    ['fails', failure, 'provider-failed'],
    ['fails unexpectedly', new Error('a secret'), 'internal-error'],
    ['ends without its last event', undefined, 'internal-error'],
  ])('that %s ends with the problem', async (_name, error, type) => {
    const started = await streamsWith().start(
      sourceOf(() => all('one', ...(error === undefined ? [] : [error]))),
      termsWith(),
    );
    const connected = await sendOver(started);
    await connected.closed;
    expect(connected.text()).toBe(event('one') + lastProblem(type));
    expect(connected.isWhole()).toBe(true);
    expect(await connected.end).toMatchObject({ outcome: 'error' });
  });

  it('is cut where its encoder fails', async () => {
    const source = sourceOf(() => all('one', 'two', 'end'));
    const encoder: EventSource<Text>['encoder'] = () => ({
      encode: (text) => (text === 'one' ? event(text) : JSON.parse('{')),
      fail: () => JSON.parse('{'),
    });
    const connected = await sendOver(await streamsWith().start({ ...source, encoder }, termsWith()));
    await connected.closed;
    expect(connected.isWhole()).toBe(false);
    expect(await connected.end).toMatchObject({ outcome: 'failed', error: expect.any(SyntaxError) });
  });

  it('stops its source when the caller leaves', async () => {
    const source = tap();
    source.send('one');
    const connected = await sendOver(await streamsWith().start(sourceOf(source.open), termsWith()));
    await until(() => connected.text() === event('one'));
    connected.socket.destroy();
    expect(await source.ended).toMatchObject({ name: 'CallerGoneError' });
    expect(await connected.end).toMatchObject({ outcome: 'closed' });
  });

  it('writes long texts in pieces, none of them within a character', async () => {
    const long = `x${'😀'.repeat(50_000)}`;
    const connected = await sendOver(
      await streamsWith().start(
        sourceOf(() => all(long, 'end')),
        termsWith(),
      ),
    );
    await connected.closed;
    expect(connected.text()).toBe(event(long) + event('end'));
  });

  it('holds its source back while the caller reads nothing, and no other stream', async () => {
    let taken = 0;
    let most = 0;
    let undelivered = (): number => 0;
    const endless = async function* (): AsyncGenerator<Text> {
      for (;;) {
        taken += 1;
        yield await Promise.resolve('x'.repeat(20_000));
        most = Math.max(most, undelivered());
      }
    };
    const streams = streamsWith();
    const slow = await sendOver(await streams.start(sourceOf(endless), termsWith()));
    undelivered = () => slow.response.writableLength;
    slow.socket.pause();
    // The operating system takes some megabytes.
    let before = 0;
    await until(() => before === (before = taken) && undelivered() > 0);
    const connected = await sendOver(
      await streams.start(
        sourceOf(() => all('one', 'end')),
        termsWith(),
      ),
    );
    await connected.closed;
    expect(connected.text()).toBe(event('one') + event('end'));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(64 * 1024);
    slow.socket.destroy();
    expect(await slow.end).toMatchObject({ outcome: 'closed' });
  });
});

describe('a stream whose answer is kept', () => {
  const kept = termsWith({ isKept: true });

  it('goes on without its caller', async () => {
    const source = tap();
    source.send('one ');
    const started = await streamsWith().start(sourceOf(source.open), kept);
    const connected = await sendOver(started);
    await until(() => connected.text() !== '');
    connected.socket.destroy();
    expect(await connected.end).toMatchObject({ outcome: 'closed' });
    source.send('two');
    source.send('end');
    expect(await started.stream.whole).toBe(event('one two') + event('end'));
  });

  it.each([
    ['its last event', 'end', event('end')],
    ['the problem that ends it', failure, lastProblem('provider-failed')],
  ])('holds %s until the answer is stored', async (_name, last, end) => {
    const source = tap();
    source.send('one');
    const { first, stream } = await streamsWith().start(sourceOf(source.open), kept);
    const connected = await sendOver({ first, stream });
    source.send(last);
    expect(await stream.whole).toBe(event('one') + end);
    await until(() => connected.text() !== '');
    expect(connected.text()).toBe(event('one'));
    stream.stored();
    await connected.closed;
    expect(connected.text()).toBe(event('one') + end);
  });

  it('keeps the problem it ended with, because it was paid for', async () => {
    const { stream } = await streamsWith().start(
      sourceOf(() => all('one', failure)),
      kept,
    );
    stream.discard();
    expect(await stream.whole).toBe(event('one') + lastProblem('provider-failed'));
  });

  it('keeps nothing if nothing came', async () => {
    const source = tap();
    const { stream } = await streamsWith(often).start(sourceOf(source.open), kept);
    source.send(failure);
    await expect(stream.whole).rejects.toBe(failure);
  });
});

describe('a process that stops', () => {
  const stopping = new ProblemError('shutting-down', { detail: 'The service is stopping.' });

  it('ends its streams with a problem', async () => {
    const source = tap();
    source.send('one');
    const streams = streamsWith();
    const connected = await sendOver(await streams.start(sourceOf(source.open), termsWith()));
    await until(() => connected.text() === event('one'));
    streams.end(stopping);
    await connected.closed;
    expect(connected.text()).toBe(event('one') + lastProblem('shutting-down'));
    expect(await source.ended).toBe(stopping);
  });

  it('answers with the problem where no event came yet', async () => {
    const streams = streamsWith();
    const start = streams.start(sourceOf(tap().open), termsWith());
    streams.end(stopping);
    await expect(start).rejects.toBe(stopping);
  });

  it('cuts a stream within an event', async () => {
    const streams = streamsWith();
    const long = 'x'.repeat(50_000_000);
    const connected = await sendOver(
      await streams.start(
        sourceOf(() => all(long, 'end')),
        termsWith(),
      ),
    );
    connected.socket.pause();
    await until(() => connected.response.writableLength > 0);
    streams.end(stopping);
    expect(await connected.end).toMatchObject({ outcome: 'failed', error: stopping });
    connected.socket.resume();
    await connected.closed;
    expect(connected.isWhole()).toBe(false);
  });
});
