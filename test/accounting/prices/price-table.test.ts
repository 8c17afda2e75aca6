/** What calls cost by the table, against the package that the table is made from. */
import { describe, expect, it } from '@jest/globals';
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { findTablePrice } from '../../../src/accounting/prices/price-table.ts';
import { priceIds } from '../../../src/codegen/prices.ts';
import { costOf } from '../../../src/accounting/prices/rates.ts';
import type { Usage } from '../../../src/models/language-model.ts';

const noon = new Date('2026-11-23T12:00:00Z');

function cost(provider: string, model: string, usage: Usage, at = noon): bigint | undefined {
  return costOf(findTablePrice(provider, model)?.rates ?? [], usage, at)?.amount;
}

/** With cached tokens, below and above the usual thresholds. */
const usages: Usage[] = [
  { inputTokens: 1_234, outputTokens: 567 },
  { inputTokens: 100_000, outputTokens: 1, cachedInputTokens: 99_999, cacheWriteInputTokens: 1 },
  { inputTokens: 128_001, outputTokens: 8_192, cachedInputTokens: 20_000 },
  { inputTokens: 999_999, outputTokens: 64_000, cachedInputTokens: 7, cacheWriteInputTokens: 300_000 },
];
const times = ['2024-06-01T02:00:00Z', '2026-11-23T00:29:59Z', '2026-11-23T07:00:00Z', '2027-03-01T23:00:00Z'];

describe.each(priceIds)('%s', (id, providerId) => {
  it('has the prices of the package, to the nano-dollar', () => {
    const all = findProvider({ providerId })?.models.map((model) => model.id) ?? [];
    // The package takes a while to find each of the 700 of OpenRouter.
    const models = all.filter((_, index) => all.length < 200 || index % 10 === 0);
    const different: unknown[] = [];
    let compared = 0;
    for (const model of models) {
      for (const usage of usages) {
        for (const time of times) {
          const at = new Date(time);
          const own = cost(id, model, usage, at);
          if (own === undefined) continue;
          const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, cacheWriteInputTokens = 0 } = usage;
          const counts = {
            input_tokens: inputTokens,
            output_tokens: outputTokens,
            cache_read_tokens: cachedInputTokens,
            cache_write_tokens: cacheWriteInputTokens,
          };
          const theirs = (calcPrice(counts, model, { providerId, timestamp: at })?.total_price ?? NaN) * 1e9;
          // They compute with doubles, and one has periodic fractions.
          if (!(Math.abs(Number(own) - theirs) <= 1 + theirs * 1e-9)) different.push([model, time, usage, own, theirs]);
          compared += 1;
        }
      }
    }
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(models.length * usages.length);
  });
});

describe('the price of a model', () => {
  it('is found by its name, else by that of its family', () => {
    const found = (provider: string, model: string): unknown => {
      const price = findTablePrice(provider, model);
      return price && [price.model, price.match];
    };
    expect(found('openai', 'gpt-4.1-mini')).toEqual(['gpt-4.1-mini', 'exact']);
    expect(found('anthropic', 'claude-3-5-haiku-20241022')).toEqual(['claude-3-5-haiku-latest', 'prefix']);
    expect(found('azure', 'gpt-4.1-mini')).toEqual(['gpt-4.1-mini', 'prefix']);
    expect(found('openai', 'my-model')).toBeUndefined();
    expect(found('openai', 'text-embedding-3-small')).toEqual(['text-embedding-3-small', 'exact']);
    expect(found('local', 'gpt-4.1-mini')).toBeUndefined();
    expect(found('constructor', 'gpt-4.1-mini')).toBeUndefined();
  });

  it('is twice the input for what Anthropic keeps for an hour', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheWriteInputTokens: 1_000_000 };
    expect(cost('anthropic', 'claude-sonnet-4-5', { ...usage, inputTokens: 200_000, cacheWriteInputTokens: 0 })).toBe(
      600_000_000n,
    );
    const hour = { ...usage, inputTokens: 100_000, cacheWriteInputTokens: 100_000, cacheWrite1hInputTokens: 100_000 };
    expect(cost('anthropic', 'claude-sonnet-4-5', hour)).toBe(600_000_000n);
  });

  it('depends on the hour with DeepSeek', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const at = (time: string): bigint | undefined =>
      cost('deepseek', 'deepseek-chat', usage, new Date(`2026-11-23T${time}Z`));
    expect([at('00:29:59'), at('00:30:00'), at('16:29:59'), at('16:30:00')]).toEqual([
      135_000_000n,
      270_000_000n,
      270_000_000n,
      135_000_000n,
    ]);
  });

  it('counts for all tokens of a long request', () => {
    const at = (inputTokens: number): bigint | undefined =>
      cost('google', 'gemini-2.5-pro', { inputTokens, outputTokens: 1_000 });
    expect(at(200_000)).toBe(200_000n * 1_250n + 1_000n * 10_000n);
    expect(at(200_001)).toBe(200_001n * 2_500n + 1_000n * 15_000n);
  });

  it('is unknown for models that charge for more than tokens, and known for those that could with tools', () => {
    const others = [
      'gpt-4o-search-preview',
      'gpt-4o-mini-search-preview',
      'gpt-5.4-image-2',
      'gpt-audio',
      'gpt-realtime',
    ];
    for (const model of others) expect([model, findTablePrice('openai', model)]).toEqual([model, undefined]);
    expect(findTablePrice('google', 'gemini-2.5-flash-image')).toBeUndefined();
    expect(findTablePrice('openrouter', 'perplexity/sonar-deep-research')).toBeUndefined();
    expect(findTablePrice('openrouter', 'openai/gpt-5.5:online')).toBeUndefined();
    for (const [provider, model] of [
      ['openai', 'gpt-5.4'],
      ['anthropic', 'claude-opus-5'],
      ['google', 'gemini-2.5-flash'],
      ['openrouter', 'nousresearch/hermes-4-70b'],
    ] as const) {
      expect([model, findTablePrice(provider, model)?.match]).toEqual([model, 'exact']);
    }
  });

  it('comes with the most tokens that the model writes, which is at most its context window', () => {
    const most = (provider: string, model: string): unknown => findTablePrice(provider, model)?.mostOutputTokens;
    expect([most('openai', 'gpt-4.1'), most('openai', 'gpt-5.4-mini'), most('google', 'gemini-2.5-pro')]).toEqual([
      ...[32_768, 128_000, 65_536],
    ]);
    expect([most('xai', 'grok-4.5'), most('together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo')]).toEqual([
      ...[500_000, undefined],
    ]);
  });

  it('is zero for echo, which calls nobody', () => {
    expect(cost('echo', 'echo-1', { inputTokens: 5, outputTokens: 5 })).toBe(0n);
  });
});

describe('a cost', () => {
  it('is unknown where the tokens are, or contradict each other', () => {
    const known = { inputTokens: 10, outputTokens: 5 };
    const of = (usage: Usage): bigint | undefined => cost('openai', 'gpt-4.1-mini', usage);
    expect(of(known)).toBe(12_000n);
    expect(of({ outputTokens: 5 })).toBeUndefined();
    expect(of({ inputTokens: 10 })).toBeUndefined();
    expect(of({ ...known, cachedInputTokens: 11 })).toBeUndefined();
    expect(of({ ...known, cachedInputTokens: 6, cacheWriteInputTokens: 5 })).toBeUndefined();
    expect(of({ ...known, cacheWriteInputTokens: 2, cacheWrite1hInputTokens: 3 })).toBeUndefined();
  });

  it('is rounded up, once', () => {
    // 37.5 nano-dollars a token.
    expect(cost('cohere', 'command-r7b-12-2024', { inputTokens: 1, outputTokens: 0 })).toBe(38n);
    expect(cost('cohere', 'command-r7b-12-2024', { inputTokens: 2, outputTokens: 0 })).toBe(75n);
  });

  it('stays exact beyond what doubles hold', () => {
    const inputTokens = Number.MAX_SAFE_INTEGER;
    expect(cost('openai', 'gpt-4.1-mini', { inputTokens, outputTokens: 0 })).toBe(BigInt(inputTokens) * 400n);
  });
});
