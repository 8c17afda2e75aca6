import { describe, expect, it } from '@jest/globals';
import { ProblemError } from '../../../src/base/errors/problem-error.ts';
import { systemRandom } from '../../../src/base/runtime/random.ts';
import { createCollector, type Collector } from '../../../src/accounting/statistics/collector.ts';
import { sumOf } from '../../../src/accounting/statistics/counts.ts';
import type { OwnTally } from '../../../src/accounting/statistics/statistics-store.ts';
import { createStandingClock, type StandingClock } from './statistics-harness.ts';

interface Collecting {
  readonly collector: Collector;
  readonly clock: StandingClock;
  /** The writes of each command, with the counts of that time. */
  readonly written: OwnTally[][];
  /** If it is set, every command throws it. */
  fail: Error | undefined;
  /** Called after every command. */
  afterWrite: () => void;
}

function collect(): Collecting {
  const clock = createStandingClock('2026-11-06T12:00:00Z');
  const collecting: Omit<Collecting, 'collector'> = {
    clock,
    written: [],
    fail: undefined,
    afterWrite: () => undefined,
  };
  const store = {
    write: (tallies: readonly OwnTally[]) => {
      if (collecting.fail !== undefined) return Promise.reject(collecting.fail);
      collecting.written.push(tallies.map((tally) => ({ ...tally, counts: [...tally.counts] })));
      collecting.afterWrite();
      return Promise.resolve();
    },
  };
  return Object.assign(collecting, { collector: createCollector({ store, clock, random: systemRandom }) });
}

const away = new ProblemError('database-unavailable', { detail: 'The database is away.' });

describe('the collector', () => {
  it('writes only changed counts', async () => {
    const { collector, written } = collect();
    collector.count('integration', 'a', { succeeded: 1 });
    collector.count('integration', 'b', { succeeded: 1 });
    await collector.flush();
    await collector.flush();
    collector.count('integration', 'b', { failed: 1 });
    await collector.flush();
    expect(written.map((tallies) => tallies.map(({ subject, grain }) => `${subject.id} ${grain}`))).toEqual([
      ['a minute', 'a quarter', 'b minute', 'b quarter'],
      ['b minute', 'b quarter'],
    ]);
    expect(written[1]?.map(({ counts }) => counts.slice(0, 2))).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it('keeps sums at the largest exact number', async () => {
    const { collector, written } = collect();
    const most = Number.MAX_SAFE_INTEGER;
    for (const nanodollars of [most - 1, 8_000_000_000_000_001, 3]) collector.count('service', '', { nanodollars });
    await collector.flush();
    const lists = (written[0] ?? []).map(({ counts }) => counts);
    expect(lists.map((counts) => Math.max(...counts))).toEqual([most, most]);
    expect(sumOf('service', lists).nanodollars).toBe(most);
  });

  it('writes many subjects in small commands', async () => {
    const { collector, written } = collect();
    for (let count = 0; count < 1_000; count += 1)
      collector.count('prompt', `p${count}`, { invocations: 1 }, { version: 1 });
    await collector.flush();
    expect(written.length).toBe(40);
    expect(Math.max(...written.map((tallies) => tallies.length))).toBe(50);
  });

  it('writes the counts of the service with every command', async () => {
    const collecting = collect();
    const { collector, written } = collecting;
    for (let count = 0; count < 60; count += 1)
      collector.count('prompt', `p${count}`, { invocations: 1 }, { version: 1 });
    collector.count('service', '', { requests: 1 });
    collecting.afterWrite = () => {
      collector.count('service', '', { requests: 1 });
    };
    await collector.flush();
    const requests = written.map((tallies) => tallies.find(({ subject }) => subject.kind === 'service')?.counts[0]);
    expect(requests).toEqual([1, 2, 3]);
  });

  it('removes subjects when their quarter of an hour has ended and is written', async () => {
    const { collector, written, clock } = collect();
    for (const time of ['12:00', '12:14', '12:15'] as const) {
      clock.set(`2026-11-06T${time}:00Z`);
      for (let count = 0; count < 10_001; count += 1)
        collector.count('prompt', `p${count}`, { invocations: 1 }, { version: 1 });
      collector.count('service', '', { requests: 1 });
    }
    await collector.close();
    const tallies = written.flat();
    const sum = (kind: string, grain: string, start: string): number[] => {
      const interval = Date.parse(`2026-11-06T${start}:00Z`) / (grain === 'minute' ? 60_000 : 900_000);
      const some = tallies.filter((tally) => tally.subject.kind === kind && tally.grain === grain);
      return some.filter((tally) => tally.interval === interval).map(({ counts }) => counts[0] ?? 0);
    };
    // With more than 10,000 subjects, or more than 30,000 unwritten tallies, only the service is counted.
    expect(sum('prompt', 'quarter', '12:00')).toEqual(Array.from({ length: 10_000 }, () => 2));
    expect(tallies.filter(({ subject }) => subject.kind !== 'service').length).toBeLessThanOrEqual(30_000);
    expect(sum('prompt', 'minute', '12:14').length).toBeGreaterThan(9_900);
    expect(sum('prompt', 'quarter', '12:15')).toEqual([]);
    expect(sum('service', 'quarter', '12:00')).toEqual([2]);
    expect(sum('service', 'quarter', '12:15')).toEqual([1]);
    // There is room for other subjects again.
    collector.count('prompt', 'another', { invocations: 1 }, { version: 1 });
    await collector.flush();
    expect(written.at(-1)?.map(({ subject }) => subject.id)).toEqual(['another', 'another']);
  });

  it('keeps counts that could not be written, as long as they are shown', async () => {
    const collecting = collect();
    const { collector, written, clock } = collecting;
    collecting.fail = away;
    collector.count('integration', 'a', { succeeded: 1 });
    await expect(collector.flush()).rejects.toBe(away);
    collector.count('integration', 'a', { succeeded: 1 });
    await expect(collector.flush()).rejects.toBe(away);
    clock.set('2026-11-06T13:00:00Z');
    collecting.fail = undefined;
    await collector.flush();
    expect(written).toEqual([[expect.objectContaining({ grain: 'quarter', counts: [2, 0, 0, 0, 0] })]]);
  });

  it('does not keep counts that can never be written', async () => {
    const collecting = collect();
    collecting.fail = new Error('The document is too large.');
    collecting.collector.count('integration', 'a', { succeeded: 1 });
    await expect(collecting.collector.flush()).rejects.toThrow('too large');
    collecting.fail = undefined;
    await collecting.collector.flush();
    expect(collecting.written).toEqual([]);
  });
});
