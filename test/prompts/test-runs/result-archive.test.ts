import { describe, expect, it } from '@jest/globals';
import type { JsonText } from '../../../src/base/runtime/json-text.ts';
import type { TestResult } from '../../../src/prompts/test-runs/call-targets.ts';
import { withinSize } from '../../../src/prompts/test-runs/result-archive.ts';

const usage = { inputTokens: 1, outputTokens: 1 };
const saying = (text: string): TestResult => ({
  status: 'succeeded',
  provider: 'mock',
  model: 'model-a',
  latency_ms: 1,
  result: { text, finishReason: 'stop', usage },
});
const parsed = (results: JsonText<TestResult[]>): TestResult[] => JSON.parse(results.text) as TestResult[];

describe('withinSize', () => {
  it('does not change results that fit together', () => {
    const results = [saying('x'.repeat(9_000)), saying('short')];
    expect(parsed(withinSize(results, 10_000))).toEqual(results);
  });

  it('replaces each result above its share by an error', () => {
    const results = [saying('x'.repeat(9_000)), saying('short'), saying('y'.repeat(2_000)), saying('ü'.repeat(4_000))];
    const written = withinSize(results, 12_000);
    const fitting = parsed(written);
    expect(
      fitting.map((result) => ('error' in result ? result.error.type.split(':').at(-1) : result.result.text.length)),
    ).toEqual(['provider-bad-answer', 5, 2_000, 'provider-bad-answer']);
    expect(fitting[0]).toMatchObject({
      provider: 'mock',
      model: 'model-a',
      latency_ms: 1,
      error: { retryable: false },
    });
    expect(Buffer.byteLength(written.text)).toBeLessThanOrEqual(12_000);
  });
});
