import { describe, expect, it } from '@jest/globals';
import type { PeriodTerms } from '../../../src/accounting/budgets/period-store.ts';
import { SimulatedProcess, World, type Trouble } from './simulated-world.ts';

function termsOf(limit: number, revision = 1): PeriodTerms {
  const id = 'a-budget|2026-11-23';
  const since = new Date('2026-11-23T00:00:00Z');
  return { id, since, resetsAt: undefined, budget: 'all', budgetId: 'a-budget', limit, revision, isShared: false };
}

const cheapest = 10;

/** Processes that spend until nothing is left, or for some time; then everything comes to rest. */
async function spend(seed: number, trouble: Trouble, limits: readonly number[] = [5_000]): Promise<World> {
  const [first = 0] = limits;
  const world = new World(seed, trouble, [termsOf(first)]);
  const start = (): SimulatedProcess => {
    const process = new SimulatedProcess(world);
    const callers = Array.from({ length: 5 }, async () => {
      for (let calls = 0; calls < 40; calls += 1) {
        const ceiling = cheapest + Math.floor(world.random() * 200);
        await process.call(ceiling, Math.floor(world.random() * (ceiling + 1)));
      }
    });
    const ticks = (async () => {
      for (let count = 0; count < 60; count += 1) {
        await world.step(process);
        await process.tick();
        process.refresh();
      }
    })();
    all.push(...callers, ticks);
    return process;
  };
  const all: Promise<void>[] = [];
  const failures: unknown[] = [];
  for (let count = 0; count < 4; count += 1) start();
  const term = (journal: string): boolean =>
    !world.processes.some(({ state, journal: own }) => state === 'running' && own === journal);
  for (let round = 0; round < 40; round += 1) {
    const isBusy = await world.run(150);
    const limit = limits[Math.floor((round / 40) * limits.length)] ?? first;
    const revision = 1 + Math.floor((round / 40) * limits.length);
    if (limit !== world.terms[0]?.limit) {
      world.terms = [termsOf(limit, revision)];
      const period = world.periods.get('a-budget|2026-11-23');
      if (period !== undefined) Object.assign(period, { limit, revision });
    }
    const killed = world.processes.filter(({ state }) => state === 'killed').length;
    if (world.processes.length - killed < 4) start();
    // One that lives, and one that watches from outside.
    world.recover(undefined, term).catch((error: unknown) => failures.push(error));
    if (round % 3 === 0) world.recover(undefined, term).catch((error: unknown) => failures.push(error));
    if (!isBusy) break;
  }
  Object.assign(world.trouble, { kills: 0, stops: 0, lostAnswers: 0 });
  for (const promise of all) promise.catch((error: unknown) => failures.push(error));
  while (await world.run(1_000));
  // Whoever was killed is found, whatever is not used comes back.
  for (const process of world.processes) if (process.state === 'running') void process.close();
  while (await world.run(1_000));
  for (let count = 0; count < 3; count += 1) {
    void world.recover(undefined, () => true).catch((error: unknown) => failures.push(error));
    while (await world.run(1_000));
  }
  if (failures.length > 0) throw failures[0];
  return world;
}

function expectRest(world: World): void {
  for (const [id, period] of world.periods) {
    world.checkPeriod(id);
    const logged = [...world.records.values()].reduce((sum, one) => sum + (one.period === id ? one.cost : 0), 0);
    expect([...period.slices.keys()]).toEqual([]);
    expect([period.taken, period.spent]).toEqual([logged, logged]);
    expect(world.bills.get(id) ?? 0).toBeLessThanOrEqual(logged);
  }
  expect(world.journals.size).toBe(0);
}

const seeds = Array.from({ length: Number(process.env['BUDGET_SEEDS'] ?? 12) }, (_, index) => index + 1);

describe('several processes that spend from one budget', () => {
  it('spend all of it, and never more', async () => {
    for (const seed of seeds.slice(0, 3)) {
      const world = await spend(seed, { lostAnswers: 0, kills: 0, stops: 0 });
      expectRest(world);
      expect(world.answers.refused).toBeGreaterThan(0);
      expect(world.answers.made).toBeGreaterThan(20);
    }
  });

  it('never spend more when answers of the database are lost', async () => {
    for (const seed of seeds) expectRest(await spend(seed, { lostAnswers: 0.05, kills: 0, stops: 0 }));
  });

  it('never spend more when they are killed, or stopped for longer than the term', async () => {
    for (const seed of seeds) expectRest(await spend(seed, { lostAnswers: 0.02, kills: 0.002, stops: 0.01 }));
  });

  it('never spend more than the highest limit when it is changed', async () => {
    for (const seed of seeds.slice(0, 4)) {
      expectRest(await spend(seed, { lostAnswers: 0.02, kills: 0.001, stops: 0.005 }, [5_000, 3_000, 4_000]));
    }
  });
});
