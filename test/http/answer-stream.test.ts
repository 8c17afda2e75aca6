import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sendBody, sendStream, type AnswerStream, type StreamEnd } from '../../src/http/answer-stream.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface Received {
  readonly text: string;
  /** The error of the connection. */
  readonly error: string | undefined;
  readonly end: StreamEnd;
}

/** Sends a stream in an answer of this HTTP version, and records the bytes that arrive. */
async function send({ length, content }: Omit<AnswerStream, 'mediaType'>, version = '1.1'): Promise<Received> {
  const { promise: ended, resolve } = Promise.withResolvers<StreamEnd>();
  server = createServer((_request, response) => {
    response.writeHead(200, length === undefined ? {} : { 'content-length': length });
    void sendStream(response, { mediaType: 'text/plain', length, content }).then(resolve);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  let error: string | undefined;
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', ({ code }: NodeJS.ErrnoException) => (error = code));
  socket.write(`GET / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  return { text: text.slice(text.indexOf('\r\n\r\n') + 4), error, end: await ended };
}

async function* failing(...chunks: string[]): AsyncGenerator<string> {
  yield* chunks;
  await Promise.resolve();
  throw new Error('the source broke');
}

describe('a stream', () => {
  it('of unknown length ends when its source does', async () => {
    const { text, error, end } = await send({ content: Readable.from(['one ', '', 'twö']) });
    expect(text).toBe('4\r\none \r\n4\r\ntw\u00c3\u00b6\r\n0\r\n\r\n');
    expect([error, end]).toEqual([undefined, { bytes: 8, outcome: 'succeeded' }]);
  });

  it('may be empty', async () => {
    const { text, end } = await send({ length: 0, content: Readable.from([]) });
    expect([text, end]).toEqual(['', { bytes: 0, outcome: 'succeeded' }]);
  });

  it.each(['1.1', '1.0'])('of unknown length that fails does not end correctly in HTTP/%s', async (version) => {
    const { text, error, end } = await send({ content: Readable.from(failing('one ', 'two')) }, version);
    expect(text).not.toContain('0\r\n\r\n');
    expect(error).toBe('ECONNRESET');
    expect(end).toMatchObject({ outcome: 'failed', error: { message: 'the source broke' } });
  });

  it.each([
    ['shorter', ['one ']],
    ['longer', ['one ', 'two ', 'three']],
  ])('%s than announced is never whole', async (_name, chunks) => {
    const { text, end } = await send({ length: 8, content: Readable.from(chunks) });
    expect(text.length).toBeLessThan(8);
    expect(end).toMatchObject({ outcome: 'failed', error: { message: expect.stringContaining('another length') } });
  });

  it('is complete only after its source has ended without an error', async () => {
    const { text, end } = await send({ length: 8, content: Readable.from(failing('one ', 'two ')) });
    expect(text.length).toBeLessThan(8);
    expect(end).toMatchObject({ outcome: 'failed', error: { message: 'the source broke' } });
  });
});

describe('a large answer', () => {
  const text = 'Ünï'.repeat(100_000);
  it.each([
    ['body', (response: ServerResponse) => sendBody(response, text)],
    [
      'stream',
      (response: ServerResponse) => sendStream(response, { mediaType: 'text/plain', content: Readable.from([text]) }),
    ],
  ])('is written in pieces of at most 64 KiB: a whole %s', async (_kind, write) => {
    const sizes: number[] = [];
    server = createServer((_request, response) => {
      const whole = response.write.bind(response) as (chunk: Uint8Array) => boolean;
      Object.assign(response, {
        write(chunk: Uint8Array) {
          sizes.push(chunk.length);
          return whole(chunk);
        },
      });
      void write(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(await answer.text()).toBe(text);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(Buffer.byteLength(text));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
  });
});
