import { request, Agent } from 'node:http';
import { percentile } from '../../faults/webhooks/percentile.ts';
import { startProbe } from '../probe.ts';
import { monitorLoop, type LoopFigures } from '../loop-monitor.ts';
import { longestStop } from './large-bodies.ts';
import { figuresOf, type Figure, type Scenario, type Target, type World } from '../hostile-world.ts';

/** The size of each answer, in characters. */
const size = 900_000;

/** Repeats a part, with a comma in between, up to the size of an answer. */
function list(part: (index: number) => string): string[] {
  const parts: string[] = [];
  for (let length = 0; length < size; length += (parts.at(-1)?.length ?? 0) + 1) parts.push(part(parts.length));
  return parts;
}

/** Answers in JSON that are slow to read, and texts that only begin like JSON. */
const answers: Readonly<Record<string, string>> = {
  'empty objects': `[${list(() => '{}').join(',')}]`,
  'different names': `{${list((index) => `"x${index}":1`).join(',')}}`,
  'numbers that JavaScript changes': `[${list(() => '12345678901234567890').join(',')}]`,
  'lines with blanks': `[\n${list((index) => `  { "id" : ${index} , "a b c" : [ 1.50 , null ] }`).join(',\n')}\n]`,
  escapes: `["${'\\u0041\\n\\"'.repeat(size / 10)}"]`,
  'an end that is missing': `[${list(() => '{}').join(',')}`,
};

/** A key that can only invoke, and a prompt that echoes what the caller sends as JSON. */
async function stage(
  world: World,
): Promise<{ target: Target; key: string; path: string; loop: () => Promise<LoopFigures> }> {
  const { environment, read: loop } = monitorLoop();
  const target = await world.startTarget(environment);
  const { body: made } = await target.call('POST', '/api/v1/api-keys', {
    body: { name: 'Hostile', scopes: ['prompts:invoke'] },
  });
  const { body: prompt } = await target.call('POST', '/api/v1/prompts', {
    body: {
      name: 'Any',
      messages: [{ role: 'user', content: '{{text}}' }],
      selected_provider: 'echo',
      response_format: { type: 'json', schema: { type: ['object', 'array'], items: { not: { const: 1 } } } },
    },
  });
  return {
    target,
    loop,
    key: (made as { key: string }).key,
    path: `/api/v1/prompts/${(prompt as { id: string }).id}/invoke`,
  };
}

/** Sends the same request over all connections for some seconds, and reads the answers without parsing them. */
async function attack(
  { target, key, path }: Awaited<ReturnType<typeof stage>>,
  body: object,
  { connections, milliseconds }: { connections: number; milliseconds: number },
): Promise<{ answered: number; other: number }> {
  const text = JSON.stringify(body);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const agent = new Agent({ keepAlive: true });
  const end = performance.now() + milliseconds;
  let [answered, other] = [0, 0];
  const once = (): Promise<void> =>
    new Promise((resolve) => {
      const asked = request(`${target.url}${path}`, { method: 'POST', headers, agent }, (response) => {
        if (response.statusCode === 200 || response.statusCode === 502) answered += 1;
        else other += 1;
        response.resume().once('close', resolve);
      });
      asked.once('error', () => {
        other += 1;
        resolve();
      });
      asked.end(text);
    });
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) await once();
    }),
  );
  agent.destroy();
  return { answered, other };
}

const jsonAnswers: Scenario = {
  name: 'json-answers',
  about: '32 connections of a key that can only invoke let echo answer 0.9 MB of JSON, whole and streamed',
  async run(world) {
    const attacked = await stage(world);
    const watching = await world.watch(attacked.target);
    const figures: Figure[] = [];
    let [answered, other] = [0, 0];
    for (const [name, text] of Object.entries(answers)) {
      for (const stream of [false, true]) {
        const body = { variables: { text }, stream };
        await attacked.loop();
        await attack(attacked, body, { connections: 1, milliseconds: 300 });
        const { longestMs: stop } = await attacked.loop();
        const endProbe = startProbe({ url: `${attacked.target.url}/health/live`, pauseMs: 2 });
        const seen = await attack(attacked, body, { connections: 32, milliseconds: 3_000 });
        const times = (await endProbe()).map(({ ms }) => ms);
        answered += seen.answered;
        other += seen.other;
        const what = `${name}${stream ? ', streamed' : ''}`;
        figures.push(
          { name: `longest stop of the event loop by one, ${what}`, value: stop, unit: 'ms', atMost: longestStop },
          {
            name: `p95 of a small request beside 32, ${what}`,
            value: percentile(times, 0.95),
            unit: 'ms',
            atMost: 100,
          },
          { name: `the longest of them, ${what}`, value: Math.max(...times), unit: 'ms' },
        );
      }
    }
    const limits = { serviceMebibytes: 1_536 };
    return [
      ...figures,
      ...figuresOf(await watching.stop(), limits),
      { name: 'answers', value: answered, atLeast: 100 },
      { name: 'other answers than 200 and 502', value: other },
    ];
  },
};

export const scenarios: readonly Scenario[] = [jsonAnswers];
