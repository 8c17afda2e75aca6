import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { parseArgs } from 'node:util';

/** The measurements of the reader of streams. */
export interface StreamLoadResult {
  readonly streams: number;
  readonly tokensPerSecond: number;
  /** From the request to the first token, in milliseconds. */
  readonly firstP50: number;
  readonly firstP99: number;
  /** Streams with another status than 200, or another number of tokens. */
  readonly failures: number;
  /** CPU time of the reader, as a share of one core. */
  readonly ownCpu: number;
}

export interface StreamLoadOptions {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
  /** Every token contains this text once, and nothing else in an answer does. */
  readonly mark: string;
  /** The tokens of each stream. */
  readonly tokens: number;
}

/** The end of a chunked body. */
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

/**
 * Reads streams over `connections` connections, one after the other on each connection. New ones begin for `seconds`
 * seconds. It searches the bytes of the socket for tokens, because a client that parses would cost more than a gateway.
 */
async function readStreams(options: StreamLoadOptions): Promise<StreamLoadResult> {
  const { url, headers, body, connections, seconds, tokens } = options;
  const { hostname, port, pathname, host } = new URL(url);
  const fields = { host, ...headers, 'content-length': String(Buffer.byteLength(body)) };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  const mark = Buffer.from(options.mark);
  const first = createHistogram();
  let streams = 0;
  let failures = 0;
  let allTokens = 0;
  const cpu = process.cpuUsage();
  const started = performance.now();
  const end = started + seconds * 1000;

  const readOne = (socket: Socket): Promise<void> =>
    new Promise((resolve) => {
      const asked = process.hrtime.bigint();
      let seen = 0;
      let isOk: boolean | undefined;
      /** The end of the previous bytes: a mark or the end can be divided. */
      let rest: Buffer = Buffer.alloc(0);
      const finish = (isComplete: boolean): void => {
        socket.off('data', take).off('close', cut);
        streams += 1;
        if (!isComplete || isOk !== true || seen !== tokens) failures += 1;
        resolve();
      };
      const cut = (): void => {
        finish(false);
      };
      const take = (chunk: Buffer): void => {
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        isOk ??= bytes.indexOf('HTTP/1.1 200') === 0;
        let after = 0;
        for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, after)) {
          if (seen === 0) first.record(process.hrtime.bigint() - asked);
          seen += 1;
          allTokens += 1;
          after = at + mark.length;
        }
        if (bytes.length >= lastChunk.length && bytes.subarray(-lastChunk.length).equals(lastChunk)) finish(true);
        else rest = bytes.subarray(Math.max(after, bytes.length - Math.max(mark.length, lastChunk.length) + 1));
      };
      socket.on('data', take).on('close', cut).write(request);
    });

  await Promise.all(
    Array.from({ length: connections }, async () => {
      let socket: Socket | undefined;
      while (performance.now() < end) {
        if (socket === undefined || socket.destroyed) {
          socket = connect(Number(port), hostname)
            .setNoDelay()
            .on('error', () => undefined);
        }
        await readOne(socket);
      }
      socket?.destroy();
    }),
  );
  const elapsedMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return {
    streams,
    failures,
    tokensPerSecond: (allTokens * 1000) / elapsedMs,
    firstP50: first.percentile(50) / 1e6,
    firstP99: first.percentile(99) / 1e6,
    ownCpu: (user + system) / 1000 / elapsedMs,
  };
}

// Runs as a process of its own, so that it does not slow down what it measures. Options and result are JSON.
if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  process.stdout.write(JSON.stringify(await readStreams(JSON.parse(positionals[0] ?? '') as StreamLoadOptions)));
}
