import { setTimeout as sleep } from 'node:timers/promises';
import { fromAmount } from '../../../src/base/runtime/money.ts';
import { findTablePrice } from '../../../src/accounting/prices/price-table.ts';
import { vendors } from '../../../src/models/vendors/index.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import type { Scenario, Target } from '../hostile-world.ts';

/** In dollars. */
const limit = 200;
const most = 1_000_000;

const values: Readonly<Record<string, string>> = { apiKey: 'sk-mock', region: 'eu-central-1' };

/** The settings of all vendors, behind one server. */
function settingsFor(url: string): Record<string, string> {
  const all: Readonly<Record<string, string>> = { ...values, baseUrl: url };
  const named = vendors.flatMap(({ variables }) => variables.map(({ name, setting }) => [name, all[setting]] as const));
  return Object.fromEntries(named.filter((one): one is readonly [string, string] => one[1] !== undefined));
}

/** The models whose output costs most, one of each vendor that has prices. */
const dearest = vendors.flatMap(({ id, models }) => {
  const priced = models.flatMap((model) => {
    const rate = findTablePrice(id, model)?.rates.at(-1)?.output;
    return rate === undefined ? [] : [{ provider: id, model, rate }];
  });
  return priced.sort((one, other) => Number(other.rate - one.rate)).slice(0, 1);
});

async function createPrompt(target: Target, provider: string, model: string): Promise<string> {
  const { body } = await target.call('POST', '/api/v1/prompts', {
    body: {
      ...{ name: 'Any', messages: [{ role: 'user', content: 'Hello' }], parameters: { max_output_tokens: 4_000 } },
      ...{ selected_provider: provider, selected_model: model },
    },
  });
  return `/api/v1/prompts/${(body as { id: string }).id}/invoke`;
}

async function createKey(target: Target, name: string): Promise<string> {
  const { body } = await target.call('POST', '/api/v1/api-keys', { body: { name, scopes: ['prompts:invoke'] } });
  return (body as { key: string }).key;
}

const hungUp: Scenario = {
  name: 'hung-up-calls',
  about: `a key that can only invoke hangs up on the largest calls of ${dearest.length} vendors, then lets 20 hang, under a budget of ${limit} dollars that others share`,
  async run(world) {
    const mock = await startMockProvider();
    try {
      const target = await world.startTarget(settingsFor(mock.url));
      await target.call('PUT', '/api/v1/budgets/shared', {
        body: {
          ...{ limit: { amount: String(limit), currency: 'USD' }, period: 'month', assume_max_output_tokens: 8_192 },
        },
      });
      const [greedy, modest] = [await createKey(target, 'Greedy'), await createKey(target, 'Modest')];
      const usual = await createPrompt(target, 'openai', 'gpt-5.4');
      const served: number[] = [];
      let isOver = false;
      const others = (async () => {
        while (!isOver) {
          served.push((await target.call('POST', usual, { key: modest, body: {} })).status);
          await sleep(100);
        }
      })();

      /** The status of a streamed call, and what ends it. */
      const begin = async (path: string, model: string, tokens: number) => {
        mock.behave(model, { kind: 'stream', steps: [{ text: 'Hello' }, 'hang'] });
        const leaving = new AbortController();
        const response = await fetch(target.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${greedy}`, 'content-type': 'application/json' },
          body: JSON.stringify({ stream: true, parameters: { max_output_tokens: tokens } }),
          signal: leaving.signal,
        });
        if (response.status === 200) await response.body?.getReader().read();
        return { status: response.status, leave: () => leaving.abort() };
      };
      let taken = 0;
      for (const { provider, model } of dearest) {
        const path = await createPrompt(target, provider, model);
        for (let tokens = most; tokens >= 1; tokens = Math.floor(tokens / 2)) {
          const { status, leave } = await begin(path, model, tokens);
          leave();
          // The budget does not have room for it, or the provider does not take it.
          if (status === 402 || status === 422) continue;
          if (status === 200) taken += 1;
          else console.log(`    ${provider}/${model}: ${status}`);
          break;
        }
      }
      const [first] = dearest;
      const hanging = await createPrompt(target, first?.provider ?? '', first?.model ?? '');
      const calls = await Promise.all(Array.from({ length: 20 }, () => begin(hanging, first?.model ?? '', most)));
      await sleep(3_000);
      const { body } = await target.call('GET', '/api/v1/budgets/shared');
      const { spent, held } = body.current as { readonly spent: { amount: string }; readonly held: { amount: string } };
      const dollars = (amount: string): number => Number(fromAmount(amount)) / 1e9;
      isOver = true;
      await others;
      for (const { leave } of calls) leave();
      return [
        { name: 'calls that the caller left', value: taken, atLeast: dearest.length },
        { name: 'counted for them', value: dollars(spent.amount), unit: 'dollars', atMost: limit / 2 },
        { name: 'calls that hang', value: calls.filter(({ status }) => status === 200).length, atLeast: 1 },
        // With what the process keeps for the next calls.
        { name: 'held', value: dollars(held.amount), unit: 'dollars', atMost: limit / 4 + limit / 8 },
        { name: "others' calls", value: served.length, atLeast: 20 },
        { name: "others' calls that were refused", value: served.filter((status) => status !== 200).length, atMost: 0 },
      ];
    } finally {
      await mock.close();
    }
  },
};

export const scenarios: readonly Scenario[] = [hungUp];
