import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { casesInOrder, drawn } from '../../../../src/prompts/evaluations/runs/case-order.ts';
import { inOrder } from '../../../../src/prompts/evaluations/runs/in-order.ts';
import { OutcomeSums } from '../../../../src/prompts/evaluations/runs/outcomes.ts';

describe('the order of cases', () => {
  const parts = [3, 1, 4];
  const read: number[] = [];
  const datasets = {
    async part(_version: object, part: number) {
      read.push(part);
      return Array.from({ length: parts[part] ?? 0 }, (_, index) => ({ id: `${part}-${index}` }));
    },
  };
  const ordered = async (id: string, from = 0): Promise<string[]> => {
    const dataset = { name: 'cases', version: 1, cases: 8, versionId: 'v', parts };
    return (await Array.fromAsync(casesInOrder({ id, dataset }, from, datasets))).map((one) => one.id);
  };

  it('follows from the id of the evaluation, has each case once, and goes on behind any of them', async () => {
    const all = await ordered('an evaluation');
    expect(all.toSorted()).toEqual(['0-0', '0-1', '0-2', '1-0', '2-0', '2-1', '2-2', '2-3']);
    expect(await ordered('an evaluation')).toEqual(all);
    expect(await ordered('another evaluation')).not.toEqual(all);
    for (let from = 0; from <= all.length; from += 1)
      expect(await ordered('an evaluation', from)).toEqual(all.slice(from));
  });

  it('needs one part of the data set at a time, and none that is done', async () => {
    read.length = 0;
    await ordered('an evaluation', 8);
    expect(read).toEqual([]);
    await ordered('an evaluation');
    expect(read).toEqual(drawn(3, 'an evaluation'));
  });

  it('has every place equally often', () => {
    const first = [0, 0, 0, 0];
    for (let count = 0; count < 4_000; count += 1) {
      const place = drawn(4, `${count}`)[0] ?? 0;
      first[place] = (first[place] ?? 0) + 1;
    }
    for (const times of first) expect(Math.abs(times - 1_000)).toBeLessThan(150);
  });
});

describe('work in order', () => {
  async function* numbers(count: number): AsyncGenerator<number> {
    for (let number = 0; number < count; number += 1) yield number;
  }

  it('gives results in the order of the things, with so many in progress at most', async () => {
    let open = 0;
    let most = 0;
    const work = async (number: number): Promise<number> => {
      open += 1;
      most = Math.max(most, open);
      await sleep((number * 7) % 5);
      open -= 1;
      return number;
    };
    expect(await Array.fromAsync(inOrder(numbers(50), work, 4))).toEqual(
      Array.from({ length: 50 }, (_, index) => index),
    );
    expect(most).toBe(4);
  });

  it('ends with the first failure, after the work in progress', async () => {
    const ended: number[] = [];
    const results: number[] = [];
    const work = async (number: number): Promise<number> => {
      await sleep(number === 3 ? 1 : 5);
      if (number === 3) throw new Error('failed');
      ended.push(number);
      return number;
    };
    await expect(
      (async () => {
        for await (const result of inOrder(numbers(10), work, 6)) results.push(result);
      })(),
    ).rejects.toThrow('failed');
    // Three were taken, and so as many more had begun.
    expect([results, ended.toSorted()]).toEqual([
      [0, 1, 2],
      [0, 1, 2, 4, 5, 6, 7, 8],
    ]);
  });
});

describe('sums of outcomes', () => {
  it('count a group once: each side passes if it passes all of its cases, and one error is enough', () => {
    const sums = new OutcomeSums();
    for (const [code, group] of [
      ...[['3', 'both'] as const, ['3', 'both'] as const],
      ...[['1', 'neither'] as const, ['2', 'neither'] as const],
      ...[['3', 'regressed'] as const, ['2', 'regressed'] as const],
      ...[['3', 'error'] as const, ['e', 'error'] as const],
      ...[['1', undefined] as const, ['0', undefined] as const, ['e', undefined] as const],
    ]) {
      sums.add(code, group);
    }
    expect(sums.counts(true)).toEqual({ cases: 7, errors: 2, passed: 2, regressed: 1, improved: 1 });
    expect(sums.counts(false)).toEqual({ cases: 7, errors: 2, passed: 2, regressed: 0, improved: 0 });
  });
});
