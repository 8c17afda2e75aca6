/**
 * A simulation of several processes that spend from the same periods, without a database: every step of a process (a
 * command to the database, a call of the provider, a pause) waits until the world takes it. So the world decides, by a
 * seed, in which order everything happens, which processes are killed or stopped, and which answers are lost.
 */
import { Allowance } from '../../../src/accounting/budgets/allowance.ts';
import { createShares } from '../../../src/accounting/budgets/shares.ts';
import type { PeriodStore, PeriodTerms } from '../../../src/accounting/budgets/period-store.ts';
import { databaseUnavailable } from '../../../src/storage/db/database-errors.ts';
import { ProblemError } from '../../../src/base/errors/problem-error.ts';
import {
  checkPeriod,
  insertRecord,
  simulatePeriodStore,
  simulateRecovery,
  type Command,
  type SimulatedDatabase,
  type SimulatedJournal,
  type SimulatedPeriod,
  type SimulatedRecord,
} from './simulated-stores.ts';

/** How likely what goes wrong is, of each step. */
export interface Trouble {
  readonly lostAnswers: number;
  readonly kills: number;
  readonly stops: number;
}

/** A step that waits for the world. */
interface Step {
  readonly process: SimulatedProcess | undefined;
  readonly run: () => void;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class World implements SimulatedDatabase {
  readonly random: () => number;
  readonly trouble: Trouble;
  readonly periods = new Map<string, SimulatedPeriod>();
  readonly journals = new Map<string, SimulatedJournal>();
  readonly records = new Map<string, SimulatedRecord>();
  /** What the provider bills, by period. */
  readonly bills = new Map<string, number>();
  /** The highest limit that each period ever had. */
  readonly highest = new Map<string, number>();
  readonly processes: SimulatedProcess[] = [];
  terms: PeriodTerms[];
  now = 0;
  answers = { made: 0, refused: 0, lost: 0 };
  #steps: Step[] = [];
  /** Commands that the database gets later than their sender believes. */
  #late: (() => void)[] = [];
  #ids = 0;

  constructor(seed: number, trouble: Trouble, terms: readonly PeriodTerms[]) {
    this.random = randomOf(seed);
    this.trouble = trouble;
    this.terms = [...terms];
    for (const { id, limit } of terms) this.highest.set(id, limit);
  }

  nextId(prefix: string): string {
    return `${prefix}${(this.#ids += 1)}`;
  }

  /** Waits until the world takes this step, for ever if the process is killed. */
  step(process: SimulatedProcess | undefined): Promise<void> {
    return new Promise((resolve) => {
      this.#steps.push({ process, run: resolve });
    });
  }

  /** A command to the database: it can get lost before or after it is applied, or be applied later. */
  async command<Result>(process: SimulatedProcess | undefined, apply: () => Result): Promise<Result> {
    await this.step(process);
    const isLost = process !== undefined && this.random() < this.trouble.lostAnswers;
    if (isLost) {
      const fate = this.random();
      if (fate < 0.4) apply();
      else if (fate < 0.7) this.#late.push(apply);
      await this.step(process);
      throw databaseUnavailable(new Error('lost'));
    }
    const result = apply();
    await this.step(process);
    return result;
  }

  /** Takes steps in a random order. @returns false if none is left */
  async run(steps: number): Promise<boolean> {
    for (let count = 0; count < steps; count += 1) {
      // All that follows from the last step.
      await new Promise((resolve) => setImmediate(resolve));
      this.#steps = this.#steps.filter(({ process }) => process?.state !== 'killed');
      this.now += 1 + Math.floor(this.random() * 20);
      if (this.#late.length > 0 && this.random() < 0.1) this.#take(this.#late)?.();
      const running = this.processes.filter(({ state }) => state === 'running');
      const victim = running[Math.floor(this.random() * running.length)];
      if (victim !== undefined && this.random() < this.trouble.kills) victim.kill();
      else if (victim !== undefined && this.random() < this.trouble.stops) victim.state = 'stopped';
      const stopped = this.processes.filter(({ state }) => state === 'stopped');
      if (this.random() < 0.01) for (const process of stopped) process.state = 'running';
      const ready = this.#steps.filter(({ process }) => process?.state !== 'stopped');
      const next = ready[Math.floor(this.random() * ready.length)];
      if (next === undefined) {
        if (stopped.length === 0 && this.#late.length === 0) return false;
        for (const process of stopped) process.state = 'running';
        continue;
      }
      this.#steps.splice(this.#steps.indexOf(next), 1);
      next.run();
    }
    return true;
  }

  #take<Item>(items: Item[]): Item | undefined {
    return items.splice(Math.floor(this.random() * items.length), 1)[0];
  }

  store(process: SimulatedProcess | undefined): Omit<PeriodStore, 'spending' | 'announce'> {
    const command: Command = (apply) => this.command(process, apply);
    return simulatePeriodStore(this, command, (id) => {
      this.checkPeriod(id);
    });
  }

  /** What holds at every moment. */
  checkPeriod(id: string): void {
    const period = this.periods.get(id);
    if (period === undefined) return;
    const highest = this.highest.get(id) ?? 0;
    checkPeriod(period, highest);
    const logged = [...this.records.values()].reduce((sum, one) => sum + (one.period === id ? one.cost : 0), 0);
    if (period.spent > logged) throw new Error(`spent ${period.spent} is more than the log, ${logged}`);
    if (logged > highest) throw new Error(`the log, ${logged}, is more than ${highest}`);
    if ((this.bills.get(id) ?? 0) > highest) throw new Error('the bills are more than the limit');
  }

  /** What another process does with journals whose process is dead, or stopped for too long. */
  async recover(process: SimulatedProcess | undefined, isDead: (journal: string) => boolean): Promise<void> {
    const command: Command = (apply) => this.command(process, apply);
    await simulateRecovery(this, command, this.store(process), isDead)();
  }
}

/** A process with a journal at a time, and callers. */
export class SimulatedProcess {
  state: 'running' | 'stopped' | 'killed' = 'running';
  journal = '';
  #seq = 0;
  #allowance: Allowance;
  #terms: readonly PeriodTerms[];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.#terms = world.terms;
    this.#allowance = this.#begin();
    world.processes.push(this);
  }

  kill(): void {
    this.state = 'killed';
  }

  #begin(): Allowance {
    this.journal = this.#world.nextId('journal-');
    this.#seq = -1;
    const store = this.#world.store(this);
    return new Allowance({
      journal: this.journal,
      store,
      shares: createShares(() => this.#world.step(this)),
      monotonic: () => this.#world.now,
      sleep: () => this.#world.step(this),
    });
  }

  refresh(): void {
    this.#terms = this.#world.terms;
  }

  /** A write of the journal, repeated until its outcome is known. @returns false if the journal is closed */
  async #write(journal: string, allowance: Allowance, change: (stored: SimulatedJournal) => void): Promise<boolean> {
    const world = this.#world;
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#turn = promise;
    await before;
    try {
      if (allowance !== this.#allowance || allowance.isOver) return false;
      if (this.#seq === -1) {
        for (;;) {
          try {
            await world.command(this, () => {
              if (!world.journals.has(journal))
                world.journals.set(journal, { state: 'open', seq: 0, open: new Map(), settled: new Map() });
            });
            break;
          } catch (error) {
            if (!(error instanceof ProblemError)) throw error;
          }
        }
        this.#seq = 0;
      }
      const seq = this.#seq;
      for (;;) {
        try {
          const outcome = await world.command(this, () => {
            const stored = world.journals.get(journal);
            if (stored?.state !== 'open' || stored.seq !== seq)
              return stored?.seq === seq + 1 ? stored.state : undefined;
            stored.seq += 1;
            change(stored);
            return 'open';
          });
          this.#seq = seq + 1;
          if (outcome === 'open') return true;
          allowance.end();
          return false;
        } catch (error) {
          if (!(error instanceof ProblemError)) throw error;
        }
      }
    } finally {
      resolve(undefined);
    }
  }
  #turn: Promise<unknown> = Promise.resolve();

  /** One call to the provider. */
  async call(ceiling: number, cost: number): Promise<void> {
    const world = this.#world;
    for (;;) {
      if (this.#allowance.isOver) this.#allowance = this.#begin();
      const allowance = this.#allowance;
      const { journal } = this;
      const periods = this.#terms;
      const id = world.nextId('call-');
      const [{ id: period } = { id: '' }] = periods;
      // The journal exists before anything is taken for it.
      if (this.#seq === -1 && !(await this.#write(journal, allowance, () => undefined))) continue;
      try {
        if (!(await allowance.reserve({ periods, amount: ceiling, payer: '' }))) continue;
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        world.answers[error.type === 'budget-exceeded' ? 'refused' : 'lost'] += 1;
        return;
      }
      if (!(await this.#write(journal, allowance, ({ open }) => open.set(id, { period, ceiling })))) continue;
      await world.step(this);
      for (const one of periods) world.bills.set(one.id, (world.bills.get(one.id) ?? 0) + cost);
      world.answers.made += 1;
      await world.step(this);
      for (let isStored = false; !isStored;) {
        isStored = await world
          .command(this, () => insertRecord(world, id, { period, cost }))
          .then(
            () => true,
            () => false,
          );
      }
      allowance.release({ periods, payer: '' }, ceiling);
      for (const one of periods) allowance.count(one.id, cost);
      const costs = new Map(periods.map((one) => [one.id, cost]));
      const isWritten = await this.#write(journal, allowance, ({ open, settled }) => {
        open.delete(id);
        for (const [one, amount] of costs) settled.set(one, (settled.get(one) ?? 0) + amount);
      });
      if (isWritten) allowance.settled(costs);
      return;
    }
  }

  async tick(): Promise<void> {
    await this.#allowance.tick();
  }

  async close(): Promise<boolean> {
    const { journal } = this;
    if (!(await this.#allowance.close())) return false;
    await this.#world.command(this, () => this.#world.journals.delete(journal)).catch(() => undefined);
    return true;
  }
}
