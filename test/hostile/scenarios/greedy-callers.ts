import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMemory } from '../../bench/processes.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { figuresOf, type CallResult, type Figure, type Scenario, type Target } from '../hostile-world.ts';

/** Creates a key that can only invoke. */
async function invokerOf(target: Target): Promise<string> {
  const { body } = await target.call('POST', '/api/v1/api-keys', {
    body: { name: 'Greedy', scopes: ['prompts:invoke'] },
  });
  return (body as { key: string }).key;
}

async function promptOf(target: Target, members: Record<string, unknown> = {}): Promise<string> {
  const { body } = await target.call('POST', '/api/v1/prompts', {
    body: { name: 'Any', messages: [{ role: 'user', content: '{{text}}' }], ...members },
  });
  return (body as { id: string }).id;
}

/** The number of answers for each status, as figures. */
function statuses(answers: readonly (CallResult | undefined)[]): Figure[] {
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const name = answer === undefined ? 'without an answer' : `answered ${answer.status}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort().map(([name, value]) => ({ name, value }));
}

const targets = Array.from({ length: 20 }, () => ({ provider: 'echo' }));

const runs: Scenario = {
  name: 'large-test-runs',
  about: '60 test runs at once with bodies of 1 MB and 20 targets each, by a key that can only invoke',
  async run(world) {
    const target = await world.startTarget();
    const key = await invokerOf(target);
    const path = `/api/v1/prompts/${await promptOf(target)}/test`;
    const body = { providers: targets, variables: { text: 'lorem '.repeat(170_000) } };
    const watching = await world.watch(target);
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => target.call('POST', path, { body, key }).catch(() => undefined)),
    );
    const left = residentMemory(target.pid);
    const figures = figuresOf(await watching.stop(), { serviceMebibytes: 1_024 });
    return [...figures, { name: 'memory afterwards', value: await left, unit: 'MiB' }, ...statuses(answers)];
  },
};

const largePrompts: Scenario = {
  name: 'invocations-of-large-prompts',
  about: '32 connections invoke 64 prompts of 900 KB each for 10 s, by a key that can only invoke',
  async run(world) {
    const target = await world.startTarget();
    const key = await invokerOf(target);
    const messages = [{ role: 'user', content: 'lorem '.repeat(150_000) }];
    const ids: string[] = [];
    while (ids.length < 64) ids.push(await promptOf(target, { messages }));
    const watching = await world.watch(target);
    const answers: (CallResult | undefined)[] = [];
    const end = performance.now() + 10_000;
    const work = async (): Promise<void> => {
      while (performance.now() < end) {
        const path = `/api/v1/prompts/${ids[answers.length % ids.length] ?? ''}/invoke`;
        const call = target.call('POST', path, { body: { provider: 'echo' }, key });
        answers.push(await call.catch(() => undefined));
      }
    };
    await Promise.all(Array.from({ length: 32 }, work));
    return [...figuresOf(await watching.stop(), { serviceMebibytes: 1_024 }), ...statuses(answers)];
  },
};

const kept: Scenario = {
  name: 'kept-answers',
  about: '400 large answers stored for Idempotency-Keys, by a key that can only invoke',
  async run(world) {
    const target = await world.startTarget({ KEPT_ANSWERS_MB: '256' });
    const key = await invokerOf(target);
    const path = `/api/v1/prompts/${await promptOf(target)}/invoke`;
    // Text that compression makes at most a quarter smaller.
    const body = { provider: 'echo', variables: { text: randomBytes(700_000).toString('base64') } };
    const watching = await world.watch(target);
    const answers: (CallResult | undefined)[] = [];
    const first = randomUUID();
    const send = async (idempotencyKey: string): Promise<CallResult | undefined> =>
      target.call('POST', path, { body, key, headers: { 'Idempotency-Key': idempotencyKey } }).catch(() => undefined);
    answers.push(await send(first));
    const work = async (): Promise<void> => {
      while (answers.length < 400) answers.push(await send(randomUUID()));
    };
    await Promise.all(Array.from({ length: 8 }, work));
    const figures = figuresOf(await watching.stop(), { serviceMebibytes: 1_024 });
    const done = answers.filter((answer) => answer?.status === 200).length;
    const replay = await send(first);
    return [
      ...figures,
      ...statuses(answers),
      { name: 'kept', value: (done * 700_000) / 1024 ** 2, unit: 'MiB', atMost: 160 },
      {
        name: 'replays of the first one',
        value: replay?.headers.get('idempotency-replayed') === 'true' ? 1 : 0,
        atLeast: 1,
      },
    ];
  },
};

const queue: Scenario = {
  name: 'full-provider',
  about: '200 test runs of 20 calls each on a slow provider, while another key invokes',
  async run(world) {
    const mock = await startMockProvider({ record: false, delay: 1_000 });
    try {
      const provider = { id: 'mock', base_url: mock.url, api_key: 'key', models: ['any'] };
      const target = await world.startTarget({ OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) });
      const key = await invokerOf(target);
      const prompt = await promptOf(target, {
        messages: [{ role: 'user', content: 'Hello' }],
        selected_provider: 'mock',
      });
      const watching = await world.watch(target);
      const body = { providers: Array.from({ length: 20 }, () => ({ provider: 'mock' })) };
      const started = await Promise.all(
        Array.from({ length: 200 }, () =>
          target
            .call('POST', `/api/v1/prompts/${prompt}/test`, { body, key, headers: { Prefer: 'respond-async' } })
            .catch(() => undefined),
        ),
      );
      const times: number[] = [];
      let failed = 0;
      for (let each = 0; each < 5; each += 1) {
        const before = performance.now();
        const { status } = await target.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: {} });
        times.push(performance.now() - before);
        if (status !== 200) failed += 1;
        await sleep(500);
      }
      const seen = await watching.stop();
      return [
        ...figuresOf(seen, { serviceMebibytes: 1_024 }),
        ...statuses(started),
        { name: 'failed invocations of another key', value: failed, atMost: 0 },
        // The provider takes a second for each call.
        { name: 'its longest invocation', value: Math.max(...times), unit: 'ms', atMost: 3_000 },
      ];
    } finally {
      await mock.close();
    }
  },
};

export const scenarios: readonly Scenario[] = [runs, largePrompts, kept, queue];
