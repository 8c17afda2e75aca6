import { fork, type ChildProcess } from 'node:child_process';
import type { LoadResult } from './load.ts';
import { cpuTime, loadFromOutside } from './processes.ts';
import { median, warmUpSeconds } from './statistics.ts';

const here = import.meta.dirname;

/** A prompt of about 1 KB, such as a helpdesk would send. */
const body = JSON.stringify({
  name: 'Support ticket summariser',
  description: 'Summarises a support ticket for the next agent.',
  messages: [
    { role: 'system', content: `You summarise support tickets. ${'Keep to the facts of the ticket. '.repeat(15)}` },
    { role: 'user', content: 'Summarise this ticket in {{sentences|three}} sentences for {{audience}}:\n\n{{ticket}}' },
  ],
  variables: { audience: { default: 'the next agent', description: 'Who reads it.' }, ticket: { required: true } },
  selected_provider: 'openai',
  selected_model: 'gpt-5-mini',
});

interface Contestant {
  readonly name: string;
  readonly process: ChildProcess;
  readonly port: number;
  readonly key: string;
  readonly results: LoadResult[];
  /** Microseconds of CPU per request, by round. */
  readonly cpu: number[];
}

async function start(kind: string, name: string): Promise<Contestant> {
  const child = fork(`${here}/request-path-server.ts`, [kind]);
  const { port, key } = await new Promise<{ port: number; key: string }>((resolve, reject) => {
    child.once('message', (message) => {
      resolve(message as { port: number; key: string });
    });
    child.once('error', reject);
  });
  return { name, process: child, port, key, results: [], cpu: [] };
}

function load({ port, key }: Contestant, seconds: number): Promise<LoadResult> {
  return loadFromOutside({
    url: `http://127.0.0.1:${port}/api/v1/prompts`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body,
    connections: 32,
    seconds,
    status: 201,
  });
}

/**
 * Measures the request path of createPrompt without a database, beside bare node:http and a plain set-up of
 * express-openapi-validator.
 */
export async function benchRequestPath(rounds: number, seconds: number): Promise<void> {
  const contestants = [
    await start('bare', 'bare node:http'),
    await start('service', 'prompt-gateway'),
    await start('validator', 'express-openapi-validator'),
  ];
  try {
    for (const contestant of contestants) await load(contestant, warmUpSeconds);
    for (let round = 0; round < rounds; round += 1) {
      for (const contestant of contestants) {
        const before = await cpuTime(contestant.process.pid);
        const result = await load(contestant, seconds);
        contestant.results.push(result);
        contestant.cpu.push(((await cpuTime(contestant.process.pid)) - before) * (1000 / result.requests));
      }
    }
  } finally {
    for (const contestant of contestants) contestant.process.kill();
  }
  const rate = (contestant: Contestant): number => median(contestant.results.map((result) => result.requestsPerSecond));
  const first = contestants[0];
  console.log(
    `createPrompt request path, ${Buffer.byteLength(body)}-byte body, 32 connections, median of ${rounds} rounds`,
  );
  console.table(
    Object.fromEntries(
      contestants.map((contestant) => [
        contestant.name,
        {
          'requests/s': Math.round(rate(contestant)),
          'of bare': first === undefined ? 1 : Number((rate(contestant) / rate(first)).toFixed(2)),
          'CPU µs a request': Math.round(median(contestant.cpu)),
          'p50 ms': Number(median(contestant.results.map(({ p50 }) => p50)).toFixed(2)),
          'p99 ms': Number(median(contestant.results.map(({ p99 }) => p99)).toFixed(2)),
          failures: contestant.results.reduce((sum, { failures }) => sum + failures, 0),
        },
      ]),
    ),
  );
}
