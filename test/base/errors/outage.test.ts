import { describe, expect, it } from '@jest/globals';
import { doForEach, doSteps, failuresOf, isolateFailures, isOutage } from '../../../src/base/errors/outage.ts';
import { ProblemError } from '../../../src/base/errors/problem-error.ts';

const away = new ProblemError('database-unavailable', { detail: 'away' });
const mistake = new TypeError('a mistake in the program');

describe('an outage', () => {
  it.each(['database-unavailable', 'storage-unavailable', 'storage-full'] as const)('is %s', (type) => {
    expect(isOutage(new ProblemError(type, { detail: 'away' }))).toBe(true);
  });

  it.each([new ProblemError('budget-not-found', { detail: 'none' }), mistake, undefined])('is not %s', (error) => {
    expect(isOutage(error)).toBe(false);
  });
});

describe('work for many items together', () => {
  /** What is done, and how often the work was begun. */
  const run = async (
    items: readonly number[],
    errorOf: (item: number) => Error | undefined,
  ): Promise<{ done: Set<number>; refused: [number, unknown][]; begun: number }> => {
    const result = { done: new Set<number>(), refused: [] as [number, unknown][], begun: 0 };
    const work = async (some: readonly number[]): Promise<void> => {
      result.begun += 1;
      for (const item of some) {
        const error = errorOf(item);
        if (error !== undefined) throw error;
      }
      for (const item of some) result.done.add(item);
    };
    await isolateFailures(items, work, (item, error) => result.refused.push([item, error]));
    return result;
  };
  const hundred = Array.from({ length: 100 }, (_, index) => index);

  it('is done once if nothing fails', async () => {
    expect(await run(hundred, () => undefined)).toEqual({ done: new Set(hundred), refused: [], begun: 1 });
  });

  it.each([[[0]], [[99]], [[3, 4, 70]], [hundred]])('is done for all but those that are refused: %j', async (bad) => {
    const { done, refused, begun } = await run(hundred, (item) => (bad.includes(item) ? mistake : undefined));
    expect(refused).toEqual(bad.map((item) => [item, mistake]));
    expect(done).toEqual(new Set(hundred.filter((item) => !bad.includes(item))));
    // Each that is refused takes two runs for each halving, at most.
    expect(begun).toBeLessThanOrEqual(Math.min(200, 1 + 14 * bad.length));
  });

  it('ends with an outage, at once, which refuses nothing', async () => {
    const refused: number[] = [];
    let begun = 0;
    const failing = isolateFailures(
      [1, 2, 3, 4],
      async () => {
        begun += 1;
        throw begun === 1 ? mistake : away;
      },
      (item) => refused.push(item),
    );
    await expect(failing).rejects.toBe(away);
    expect([begun, refused]).toEqual([2, []]);
  });
});

describe('work for one item after the other', () => {
  it('is done for all, and then throws each reason with its ids', async () => {
    const done: string[] = [];
    const working = doForEach(['a', { id: 'b' }, 'c', 'd', 'e'], async (item) => {
      if (item === 'a' || item === 'e') throw mistake;
      if (item === 'c') throw new Error('another');
      done.push(typeof item === 'string' ? item : item.id);
    });
    await expect(working).rejects.toMatchObject({
      message: 'a mistake in the program (a, e); another (c)',
      cause: mistake,
    });
    expect(done).toEqual(['b', 'd']);
  });

  it('ends with an outage, at once', async () => {
    const begun: string[] = [];
    const working = doForEach(['a', 'b', 'c'], async (item) => {
      begun.push(item);
      throw item === 'a' ? mistake : away;
    });
    await expect(working).rejects.toBe(away);
    expect(begun).toEqual(['a', 'b']);
  });

  it('keeps the failures before the items end with an error', async () => {
    const broken = new Error('the list broke');
    async function* items(): AsyncGenerator<string> {
      yield 'a';
      yield 'b';
      throw broken;
    }
    const failures = await failuresOf(items(), async (item) => {
      if (item === 'b') throw mistake;
    });
    expect(failures).toEqual([
      { id: 'b', error: mistake },
      { id: 'all that follow', error: broken },
    ]);
  });

  it('is done for each of some steps, which the error names', async () => {
    const done: string[] = [];
    const working = doSteps({
      stale: () => Promise.reject(mistake),
      orphans: async () => void done.push('orphans'),
    });
    await expect(working).rejects.toThrow('a mistake in the program (stale)');
    expect(done).toEqual(['orphans']);
  });

  it('names some of very many', async () => {
    const working = doForEach(
      Array.from({ length: 50 }, (_, index) => `id-${index}`),
      async () => {
        throw mistake;
      },
    );
    await expect(working).rejects.toThrow(/\(id-0, .*, id-9\) …$/);
  });
});
