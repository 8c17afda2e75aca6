import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { presentNames, withPresentNames } from '../../../src/prompts/generation/earlier-results.ts';

const usd = { amount: '0.0001', currency: 'USD' };
const calls = [{ id: 'call_1', name: 'get', arguments: '{"toolCalls":[{"id":"a"}]}' }];
const results = (name: string): string =>
  [null, usd, { ...usd, price_match: 'prefix' }, { ...usd, price_match: 'prefix', basis: 'ceiling' }]
    .map((cost) => ({
      text: 'ä "toolCalls":[{"id":',
      finishReason: 'tool-calls',
      usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 3, cacheWriteInputTokens: 4, reasoningTokens: 5 },
      cost,
      [name]: calls,
      object: { cost, toolCalls: [{ id: 'b' }], usage: {}, finishReason: 'stop' },
    }))
    .map((result) => JSON.stringify(result))
    .join('\n');
const earlier = Buffer.from(results('toolCalls'));

describe('results of an earlier release', () => {
  it('get the present name, wherever their pieces end, and nothing else changes', async () => {
    expect(withPresentNames(earlier).toString()).toBe(results('tool_calls'));
    for (const size of [1, 7, 100, 801, earlier.length]) {
      const pieces = Array.from({ length: Math.ceil(earlier.length / size) }, (_, index) =>
        earlier.subarray(index * size, (index + 1) * size),
      );
      expect(await text(Readable.from(pieces).pipe(presentNames(earlier.length)))).toBe(results('tool_calls'));
    }
  });

  it('that have the present name stay as they are', () => {
    const present = Buffer.from(results('tool_calls'));
    expect(withPresentNames(present)).toEqual(present);
  });

  it('fail if they are incomplete', async () => {
    await expect(text(Readable.from([earlier]).pipe(presentNames(earlier.length + 1)))).rejects.toThrow('are stored');
  });
});
