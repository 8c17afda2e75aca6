import { describe, expect, it } from '@jest/globals';
import { compareAnswers } from './compare-answers.ts';
import { declaredAnswers } from './declared-answers.ts';

const everything = Object.fromEntries(declaredAnswers().map(({ name }) => [name, 1]));
const except = (...names: string[]): Record<string, number> =>
  Object.fromEntries(Object.entries(everything).filter(([name]) => !names.includes(name)));

describe('the comparison of recorded answers with the contract', () => {
  it('finds nothing when every declared answer was recorded', () => {
    expect(declaredAnswers().length).toBeGreaterThan(1_000);
    expect(compareAnswers(new Map([['one.test.ts', everything]])).missing).toEqual([]);
  });

  it.each(['createPrompt 201', 'createPrompt 409 slug-taken', 'getOrder 500 internal-error'])('finds %s', (name) => {
    const { missing, table } = compareAnswers(new Map([['one.test.ts', except(name)]]));
    expect(missing).toEqual([name]);
    expect(table.match(/\*\*missing\*\*/g)).toHaveLength(1);
  });

  it('adds up the records of the test files, and names the files', () => {
    const recorded = new Map(['a', 'b', 'c', 'd'].map((file) => [`${file}.test.ts`, { 'createPrompt 201': 2 }]));
    recorded.set('e.test.ts', except('createPrompt 201') as never);
    const { table } = compareAnswers(recorded);
    expect(table).toContain('| createPrompt | 201 |  | 8 | a.test.ts, b.test.ts, c.test.ts and 1 more |');
  });

  it('accepts a reason instead of an answer, but not for all answers of a status', () => {
    const { missing, table } = compareAnswers(new Map([['one.test.ts', {}]]));
    expect(missing).not.toContain('getOrder 503 shutting-down');
    expect(table).toContain('| getOrder | 503 | shutting-down | 0 | Only getReadiness');
    const excused = Object.groupBy(declaredAnswers(), ({ operation, status }) => `${operation} ${status}`);
    const statuses = Object.entries(excused).map(([status, answers = []]) => ({ status, answers }));
    expect(statuses.filter(({ answers }) => answers.every(({ name }) => !missing.includes(name)))).toEqual([]);
  });
});
