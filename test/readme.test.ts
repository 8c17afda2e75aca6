import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from './support/service.ts';

const run = promisify(execFile);

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Every `sh` block with a curl call and the `json` block that follows it. */
async function readCalls(): Promise<{ command: string; answer: unknown }[]> {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, language, text = '']) => ({ language, text }));
  return blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1];
    if (language !== 'sh' || !text.startsWith('curl') || next?.language !== 'json') return [];
    return [{ command: text, answer: JSON.parse(next.text) as unknown }];
  });
}

/** Ids by order of appearance, times and latencies by their form: what differs from run to run. */
function normalise(answers: readonly unknown[]): unknown {
  const ids: string[] = [];
  return JSON.parse(
    JSON.stringify(answers)
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        if (!ids.includes(id)) ids.push(id);
        return `id ${ids.indexOf(id)}`;
      })
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
      .replaceAll(/"latency_ms":\d+/g, '"latency_ms":0'),
  );
}

describe('README', () => {
  it('shows calls and answers as they are', async () => {
    const calls = await readCalls();
    expect(calls.length).toBeGreaterThanOrEqual(5);
    const answers: unknown[] = [];
    for (const { command } of calls) {
      const script = command.replaceAll('http://127.0.0.1:8080', service.url);
      const { stdout } = await run('bash', ['-c', script], { env: { ...process.env, API_KEY: service.adminKey } });
      answers.push(JSON.parse(stdout));
    }
    expect(normalise(answers)).toEqual(normalise(calls.map(({ answer }) => answer)));
  });
});
