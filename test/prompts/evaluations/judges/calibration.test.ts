import { describe, expect, it } from '@jest/globals';
import { calibrationOf, seenMargin, shortfall } from '../../../../src/prompts/evaluations/judges/calibration.ts';
import { isSameFamily } from '../../../../src/prompts/evaluations/judges/judge-key.ts';

const of = (judgedPassed: number, passed: number, judgedFailed: number, failed: number) =>
  calibrationOf({
    passed: { marks: passed, judgedPassed },
    failed: { marks: failed, judgedPassed: failed - judgedFailed },
  });

describe('a calibration', () => {
  // Lower bounds by scipy: beta.ppf(0.025, x, n - x + 1).
  it.each([
    [25, 25, 25, 25, 0.8628, 0.8628, 0.7256],
    [39, 40, 19, 20, 0.8684, 0.7512, 0.6196],
    [40, 40, 10, 10, 0.9119, 0.6915, 0.6034],
    [45, 45, 5, 5, 0.9213, 0.4781, 0.3995],
    [25, 50, 25, 50, 0.3553, 0.3553, 0],
  ])('of %i of %i and %i of %i', (judgedPassed, passed, judgedFailed, failed, sensitivity, specificity, j) => {
    const found = of(judgedPassed, passed, judgedFailed, failed);
    expect(found.marks).toBe(passed + failed);
    expect(found.sensitivity.lower).toBeCloseTo(sensitivity, 3);
    expect(found.specificity.lower).toBeCloseTo(specificity, 3);
    expect(found.j).toBeCloseTo(j, 3);
  });

  it('knows nothing of what nobody marked', () => {
    expect(of(0, 0, 0, 0)).toEqual({ marks: 0, sensitivity: { lower: 0 }, specificity: { lower: 0 }, j: 0 });
    expect(shortfall(of(100, 100, 0, 0))).toContain('J is 0');
  });

  it('suffices from 50 marks and J 0.5 on', () => {
    expect(shortfall({ marks: 49, j: 0.9 })).toBe('has 49 marks of the 50 that it needs');
    expect(shortfall({ marks: 50, j: 0.4999 })).toContain('J is 0.4999');
    expect(shortfall({ marks: 50, j: 0.5 })).toBeUndefined();
  });

  it('makes a margin smaller, and never larger by rounding', () => {
    expect(seenMargin(0.05, 0.6196)).toBe(0.0309);
    expect(seenMargin(0.1, 1)).toBe(0.1);
  });
});

describe('the family of a model', () => {
  it.each([
    ['gpt-4.1-mini', 'openai/gpt-4.1', true],
    ['anthropic.claude-sonnet-4-5', 'claude-opus-4', true],
    ['us.anthropic.claude-3', 'claude-3-haiku', true],
    ['gpt-4.1', 'claude-sonnet-4-5', false],
    ['gemini-2.5-pro', 'gemma-3', false],
    ['', '1', false],
  ])('of %p and %p', (one, other, isSame) => {
    expect(isSameFamily(one, other)).toBe(isSame);
  });
});
