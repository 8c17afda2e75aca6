import { setTimeout as sleep } from 'node:timers/promises';
import { startMockProvider } from '../support/mock-provider.ts';
import { send } from '../support/send.ts';
import { startServiceProcess, underTest } from '../support/service-process.ts';
import type { DataFolder } from './data-folder.ts';

/** The work and the memory of a service under traffic. */
export interface SoakReport {
  readonly requests: number;
  /** Answers with status 500 and above, and requests without an answer. */
  readonly faults: number;
  /** Resident memory of the service process, sampled once a second. */
  readonly residentMebibytes: readonly number[];
  /** Its JavaScript heap, at the same times. */
  readonly heapMebibytes: readonly number[];
}

const clients = 8;
/**
 * V8 does not collect garbage while it has room, so memory would only grow within a minute. With a small heap, a leak
 * shows within seconds: it fills the heap and ends the process.
 */
const heapLimitMebibytes = 96;

/** Sends valid and invalid requests of all kinds from several clients at once. */
export async function soak(folder: DataFolder, seconds: number): Promise<SoakReport> {
  const mock = await startMockProvider({ record: false });
  const provider = { id: 'mock', base_url: mock.url, api_key: 'sk-not-secret-here', models: ['model-a'] };
  const service = await startServiceProcess({
    ...underTest,
    DATA_DIR: folder.path,
    OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]),
    INVOKE_CACHE_MAX_MB: '8',
    NODE_OPTIONS: `--max-old-space-size=${heapLimitMebibytes}`,
  });
  let requests = 0;
  let faults = 0;
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    requests += 1;
    try {
      const answer = await send(service, method, `/api/v1${path}`, body, headers);
      const text = await answer.text();
      if (answer.status >= 500) faults += 1;
      return answer.status < 300 ? (JSON.parse(text) as { id: string }) : undefined;
    } catch {
      faults += 1;
      return undefined;
    }
  };
  const content = (text: string): unknown => [{ role: 'user', content: `Hello {{name|world}}, ${text}` }];
  const session = async (number: number): Promise<void> => {
    const filler = 'text '.repeat(400);
    const body = { name: `Soak ${number}`, selected_provider: 'mock', messages: content(filler) };
    const made = await call('POST', '/prompts', body, { 'Idempotency-Key': `create-${number}` });
    const prompt = `/prompts/${made?.id ?? 'none'}`;
    await call('PUT', prompt, { messages: content(`${filler}${number}`) });
    await call('POST', `${prompt}/invoke`, { variables: { name: 'Ada' } });
    await call('POST', `${prompt}/invoke`, { version: 1 }, { 'Cache-Control': 'max-age=60' });
    await call('POST', `${prompt}/invoke`, {}, { 'Idempotency-Key': `invoke-${number}` });
    await call('POST', `${prompt}/test`, { providers: [{ provider: 'mock' }, { provider: 'echo' }] });
    await call('GET', `${prompt}/versions`);
    await call('GET', '/prompts?limit=20');
    await call('POST', '/prompts', '{"name":');
    await call('POST', '/prompts', { name: 1, [`unknown_${number}`]: true });
    await call('GET', `/no-such-path-${number}`);
    await call('DELETE', prompt);
  };

  const end = performance.now() + seconds * 1_000;
  let sessions = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) await session((sessions += 1));
  };
  const residentMebibytes: number[] = [];
  const heapMebibytes: number[] = [];
  const watch = async (): Promise<void> => {
    while (performance.now() < end) {
      await sleep(1_000);
      const metrics = await (await send(service, 'GET', '/metrics')).text();
      residentMebibytes.push(mebibytesIn(metrics, 'process_resident_memory_bytes'));
      heapMebibytes.push(mebibytesIn(metrics, 'nodejs_heap_size_used_bytes'));
    }
  };
  await Promise.all([watch(), ...Array.from({ length: clients }, client)]);
  await service.stop();
  await mock.close();
  return { requests, faults, residentMebibytes, heapMebibytes };
}

function mebibytesIn(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1]) / 1024 / 1024;
}

/** Whether the mean of the last third of a series is at most `factor` times that of the second third. */
export function hasLevelledOff(samples: readonly number[], factor: number): boolean {
  const third = Math.floor(samples.length / 3);
  const mean = (part: readonly number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
  return mean(samples.slice(-third)) <= mean(samples.slice(third, 2 * third)) * factor;
}
