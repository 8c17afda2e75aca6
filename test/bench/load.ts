import { createHistogram } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { Client } from 'undici';

/** The measurements of the load generator. Latencies are in milliseconds. */
export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
  /** Failed requests, and answers with an unexpected status. */
  readonly failures: number;
}

export interface LoadOptions {
  /** In its path, `{i}` stands for a random number from 0 to below `spread`, chosen for each request. */
  readonly url: string;
  readonly spread?: number;
  /** The body of a `POST`. Without it, the method is `GET`. */
  readonly body?: string;
  /** In the values, `{n}` stands for 32 digits, different in each request. */
  readonly headers: Record<string, string>;
  readonly connections: number;
  readonly seconds: number;
  readonly status: number;
}

/** Sends requests over `connections` connections for `seconds` seconds, one after the other on each connection. */
async function applyLoad({
  url,
  spread = 1,
  headers,
  body,
  connections,
  seconds,
  status,
}: LoadOptions): Promise<LoadResult> {
  const { origin } = new URL(url);
  const paths = Array.from({ length: spread }, (_, index) => new URL(url.replace('{i}', String(index))).pathname);
  const histogram = createHistogram();
  let failures = 0;
  const started = performance.now();
  const end = started + seconds * 1000;
  const fields = Object.entries(headers);
  const isNumbered = fields.some(([, value]) => value.includes('{n}'));
  let sent = 0;
  const numbered = (): Record<string, string> => {
    const n = String((sent += 1)).padStart(32, '0');
    return Object.fromEntries(fields.map(([name, value]) => [name, value.replace('{n}', n)]));
  };
  const request = body === undefined ? { method: 'GET' } : { method: 'POST', body };
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new Client(origin, { pipelining: 1 });
      while (performance.now() < end) {
        const before = process.hrtime.bigint();
        try {
          const path = paths[Math.floor(Math.random() * spread)] ?? '/';
          const response = await client.request({ ...request, path, headers: isNumbered ? numbered() : headers });
          await response.body.dump();
          if (response.statusCode !== status) failures += 1;
        } catch {
          failures += 1;
        }
        histogram.record(process.hrtime.bigint() - before);
      }
      await client.close();
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  return {
    requests: histogram.count,
    requestsPerSecond: histogram.count / elapsed,
    p50: histogram.percentile(50) / 1e6,
    p99: histogram.percentile(99) / 1e6,
    failures,
  };
}

// Runs as a process of its own, so that it does not slow down what it measures. Options and result are JSON.
if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  process.stdout.write(JSON.stringify(await applyLoad(JSON.parse(positionals[0] ?? '') as LoadOptions)));
}
