import { setTimeout as sleep } from 'node:timers/promises';
import { fromAmount } from '../../../src/base/runtime/money.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import type { CallResult, Figure, Scenario, Target, World } from '../hostile-world.ts';

const groupings = ['day', 'key', 'prompt', 'version', 'model', 'tag'];
const absurd = '9007199254740991';
const highestPrice = '999999.999999999';
const callers = 64;

interface Money {
  readonly amount: string;
}

interface LoggedInvocation {
  readonly cost: Money;
  readonly attempts: readonly { readonly cost: Money }[];
}

/** A service whose only provider says any numbers of tokens. */
async function stage(world: World): Promise<{ target: Target; close: () => Promise<void> }> {
  const mock = await startMockProvider({ record: false });
  const provider = { id: 'liar', base_url: mock.url, models: ['model-a'], enforces_max_output: true };
  const target = await world.startTarget({ OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) });
  return { target, close: () => mock.close() };
}

/** Invokes models at the same time, in all ways. @returns what is wrong with their answers and records */
async function invoke(
  target: Target,
  { models, price, output }: { models: readonly string[]; price: string; output: number },
): Promise<{ answers: number; refused: number; wrong: number; sum: bigint }> {
  const priced = new Set(models);
  for (const model of priced) {
    const body = { rates: [{ input: price, output: price }] };
    await target.call('PUT', `/api/v1/prices/liar/${model}`, { body });
  }
  const made = await target.call('POST', '/api/v1/prompts', {
    body: {
      ...{ name: 'Priced', selected_provider: 'liar', selected_model: 'model-a' },
      ...{ messages: [{ role: 'user', content: 'Hello' }], parameters: { max_output_tokens: output } },
    },
  });
  const { slug } = made.body as { slug: string };
  const messages = [{ role: 'user', content: 'Hello' }];
  const headers = { 'X-Tags': 'team=a' };
  const ways: readonly ((model: string) => Promise<CallResult>)[] = [
    (model) => target.call('POST', `/api/v1/prompts/${slug}/invoke`, { body: { model }, headers }),
    (model) => target.call('POST', `/api/v1/prompts/${slug}/invoke`, { body: { model, stream: true }, headers }),
    (model) =>
      target.call('POST', '/v1/chat/completions', {
        body: { model: `liar/${model}`, messages, max_tokens: output, metadata: { team: 'a' } },
      }),
    (model) =>
      target.call('POST', '/v1/responses', {
        body: { model: `liar/${model}`, input: 'Hello', max_output_tokens: output, metadata: { team: 'a' } },
      }),
  ];
  let [answers, refused, wrong, sum] = [0, 0, 0, 0n];
  const waiting = [...models.entries()];
  const invokeNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, model] = next;
      const answer = await ways[index % ways.length]?.(model);
      if (answer === undefined) continue;
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      if (answer.status === 402) refused += 1;
      else if (answer.status === 200) answers += 1;
      else wrong += 1;
      if (text.replaceAll(model, '').includes(absurd)) wrong += 1;
      const { cost, attempts } = await recordOf(target, answer.headers.get('x-invocation-id') ?? '');
      const paid = attempts.reduce((all, one) => all + fromAmount(one.cost.amount), 0n);
      if (paid < 0n || fromAmount(cost.amount) !== paid) wrong += 1;
      // OpenAI's answers have no cost.
      const hasCost = answer.status === 200 && text.includes('"cost"');
      if (hasCost && !text.includes(`"amount":"${cost.amount}"`)) wrong += 1;
      sum += paid;
    }
  };
  await Promise.all(times(callers, undefined).map(invokeNext));
  return { answers, refused, wrong, sum };
}

async function recordOf(target: Target, id: string): Promise<LoggedInvocation> {
  for (;;) {
    const { status, body } = await target.call('GET', `/api/v1/invocations/${id}`);
    if (status === 200) return body as LoggedInvocation;
    await sleep(50);
  }
}

/** How many groupings of the costs have another sum, or a negative one. */
async function wrongGroupings(target: Target, sum: bigint): Promise<number> {
  let wrong = 0;
  for (const by of groupings) {
    const { body } = await target.call('GET', `/api/v1/costs?by=${by}`);
    const { total, groups } = body as { total: { cost: Money }; groups: readonly { sums: { cost: Money } }[] };
    const grouped = groups.reduce((all, { sums }) => all + fromAmount(sums.cost.amount), 0n);
    if (fromAmount(total.cost.amount) !== sum || grouped !== sum) wrong += 1;
  }
  return wrong;
}

/** The state of the budget over everything when nothing is held. */
async function spentAtRest(target: Target): Promise<{ spent: bigint; left: bigint }> {
  for (let reads = 0; ; reads += 1) {
    const { body } = await target.call('GET', '/api/v1/budgets/all');
    const { current } = body as { current: { spent: Money; held: Money; left: Money } };
    const [spent, left] = [fromAmount(current.spent.amount), fromAmount(current.left.amount)];
    // Costs are reported every second.
    if ((current.held.amount === '0' && reads > 20) || reads > 200) return { spent, left };
    await sleep(200);
  }
}

function setBudget(target: Target, amount: string): Promise<CallResult> {
  return target.call('PUT', '/api/v1/budgets/all', { body: { limit: { amount, currency: 'USD' }, period: 'once' } });
}

function times<One>(count: number, one: One): One[] {
  return Array.from({ length: count }, () => one);
}

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

const absurdUsage: Scenario = {
  name: 'absurd-usage',
  about: 'a provider says 2^53-1 tokens, once and often; then valid costs whose sum is more than an int64 holds',
  async run(world) {
    const { target, close } = await stage(world);
    const figures: Figure[] = [];
    const wrong = (name: string, value: number): void => {
      figures.push({ name, value, atMost: 0 });
    };
    try {
      await setBudget(target, '1000');
      const lie = `model-says-${absurd}`;
      let sum = 0n;
      for (const [name, models] of [
        ['once', [lie]],
        ['forty times', times(40, lie)],
        ['of input', times(8, `model-says-7-${absurd}`)],
        ['and true numbers', Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? lie : 'model-a'))],
      ] as const) {
        const seen = await invoke(target, { models, price: '8', output: 50 });
        sum += seen.sum;
        figures.push({ name: `answers, ${name}`, value: seen.answers, atLeast: models.length });
        wrong(`wrong answers and records, ${name}`, seen.wrong);
        wrong(`wrong groupings of costs, ${name}`, await wrongGroupings(target, sum));
        const { spent, left } = await spentAtRest(target);
        wrong(
          `the budget has spent anything else, ${name}`,
          spent === sum && left === fromAmount('1000') - sum ? 0 : 1,
        );
      }
      figures.push({ name: 'dollars of all that', value: Number(sum) / 1e9, atLeast: 0, atMost: 5 });

      // Each of these costs twenty million dollars: the most that a call can use at the highest price.
      await target.call('DELETE', '/api/v1/budgets/all');
      const dearest = { price: highestPrice, output: 10_000_000 };
      const unlimited = await invoke(target, { models: times(500, 'model-says-20000000'), ...dearest });
      sum += unlimited.sum;
      figures.push({ name: 'answers that cost twenty million dollars', value: unlimited.answers, atLeast: 500 });
      figures.push({ name: 'their sum, as a multiple of an int64', value: Number(sum) / 2 ** 63, atLeast: 1 });
      wrong('wrong answers and records of these', unlimited.wrong);
      wrong('wrong groupings of costs with these', await wrongGroupings(target, sum));

      await setBudget(target, highestPrice);
      const beyond = { price: highestPrice, output: 1 };
      const limited = await invoke(target, { models: times(64, 'model-says-2000000'), ...beyond });
      sum += limited.sum;
      figures.push({ name: 'answers under a budget', value: limited.answers, atLeast: 5 });
      wrong('wrong answers and records under a budget', limited.wrong);
      wrong('wrong groupings of costs under a budget', await wrongGroupings(target, sum));
      const { spent, left } = await spentAtRest(target);
      const counted = least(limited.sum, fromAmount('8000000'));
      wrong('a budget of the highest limit has spent anything else', spent === counted && left === 0n ? 0 : 1);
      const { status } = await target.call('POST', '/v1/chat/completions', {
        body: { model: 'liar/model-a', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 },
      });
      wrong('a call is made that does not fit', status === 402 ? 0 : 1);
    } finally {
      await close();
    }
    return figures;
  },
};

export const scenarios: readonly Scenario[] = [absurdUsage];
