import { retryLostRaces } from '../../base/editing/lost-races.ts';
import { mostOfBudget, showMoney } from '../../base/runtime/money.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { PeriodStore, PeriodTerms, SliceChange } from './period-store.ts';
import type { Claim, Shares } from './shares.ts';

export interface AllowanceOptions {
  /** The journal that has the calls. */
  readonly journal: string;
  readonly store: Pick<PeriodStore, 'ensure' | 'find' | 'change'>;
  /** Those of all journals of the process. */
  readonly shares: Shares;
  readonly monotonic: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** How often `tick` is called, in milliseconds: it returns what is not used. */
export const tickMs = 1_000;
/** How long a call waits, once, for what other processes return, and for what calls in progress do not use. */
export const patienceMs = 1_500;
/** How long a refusal holds for others that want as much or more. */
const refusedMs = 1_000;
/** What is taken for later calls is at most this part of what is left. */
const partOfLeft = 8;
/** What the last ten seconds used is kept for the next calls. */
const fading = 0.9;

interface Part {
  readonly terms: PeriodTerms;
  /** As in the database. */
  seq: number | undefined;
  amount: number;
  /** Of `settled`, what the database has in `spent`. */
  reported: number;
  /** Costs that the journal's document has. */
  settled: number;
  /** Costs of all records that are stored; of them, those in `settled`. At most {@link mostOfBudget}. */
  counted: number;
  /** The most that calls in progress can cost, and the costs that the journal's document does not have yet. */
  held: number;
  /** On its way back. */
  returning: number;
  /** A change whose outcome is unknown, and the changes that were to decide it. */
  unknown: { readonly change: SliceChange; readonly fences: Set<number> } | undefined;
  /** The revision of the limit under which `amount` was taken. */
  revision: number;
  turn: Promise<unknown>;
  /** What those want who wait for their turn. */
  wanted: number;
  recent: number;
  isUsed: boolean;
  refused: { readonly until: number; readonly amount: number; readonly left: number } | undefined;
  /** Resolves when less is held. */
  freed: PromiseWithResolvers<false>;
}

/**
 * What the calls of a journal may cost: a slice of each period, taken from the database before it is needed, so that
 * most calls reserve in memory. A call reserves the most that it can cost; its slices contain that until its record is
 * stored. So the sum of all slices and of what is spent, which never exceeds the limit, covers whatever a provider can
 * bill, also if the process is killed at any point: then whoever recovers the journal counts what is in it.
 *
 * One change of a slice is in progress at a time. After one whose outcome is unknown, a further change from the same
 * `seq` decides it: only one of both is ever applied.
 */
export class Allowance {
  readonly #options: AllowanceOptions;
  readonly #parts = new Map<string, Part>();
  #lastSeq = 0;
  #isOver = false;

  constructor(options: AllowanceOptions) {
    this.#options = options;
  }

  /** Nothing can be reserved any more, because the journal is closed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Of periods. */
  get size(): number {
    return this.#parts.size;
  }

  /** Whether no call is in progress, and every cost is in the journal's document. */
  get isIdle(): boolean {
    for (const { held, wanted } of this.#parts.values()) if (held !== 0 || wanted !== 0) return false;
    return true;
  }

  /**
   * Reserves what a call may cost, in all of its periods or in none.
   * @returns false if the journal is closed
   * @throws {ProblemError} budget-exceeded; database-unavailable
   */
  async reserve(claim: Claim): Promise<boolean> {
    const { shares } = this.#options;
    await shares.take(claim);
    let isReserved = false;
    try {
      isReserved = await this.#reserve(claim);
      return isReserved;
    } finally {
      if (!isReserved) shares.release(claim, claim.amount);
    }
  }

  async #reserve({ periods, amount }: Claim): Promise<boolean> {
    const held: Part[] = [];
    try {
      for (const terms of periods) {
        const part = this.#partOf(terms);
        if (!this.#isOver && hasFree(part, terms, amount)) hold(part, amount);
        else if (!(await this.#obtain(part, terms, amount))) break;
        held.push(part);
      }
      if (held.length === periods.length && !this.#isOver) return true;
    } catch (error) {
      for (const part of held) part.held -= amount;
      throw error;
    }
    for (const part of held) part.held -= amount;
    return false;
  }

  /** Ends what was reserved, or a part of it. */
  release(claim: Pick<Claim, 'periods' | 'payer'>, amount: number): void {
    this.#options.shares.release(claim, amount);
    for (const { id } of claim.periods) {
      const part = this.#parts.get(id);
      if (part === undefined) continue;
      part.held -= amount;
      part.refused = undefined;
      part.freed.resolve(false);
      part.freed = Promise.withResolvers();
    }
  }

  /**
   * Counts the cost of a record that is stored. It is released when the journal's document has it.
   * @returns what is counted: all of it, until {@link mostOfBudget} is reached
   */
  count(period: string, cost: number): number {
    const part = this.#parts.get(period);
    if (part === undefined) return cost;
    const counted = Math.min(cost, mostOfBudget - part.counted);
    part.counted += counted;
    part.held += counted;
    return counted;
  }

  /** The journal's document has these costs. */
  settled(costs: ReadonlyMap<string, number>): void {
    for (const [period, cost] of costs) {
      const part = this.#parts.get(period);
      if (part === undefined) continue;
      part.held -= cost;
      part.settled += cost;
    }
  }

  /** Another process has closed the journal, and counts what is in it. */
  end(): void {
    this.#isOver = true;
  }

  /** Reports what was spent, and returns what is not used. Call it every {@link tickMs}. */
  async tick(): Promise<void> {
    const work = [...this.#parts.values()].map(async (part) => {
      if (this.#isOver || (part.unknown === undefined && !isDue(part))) {
        fade(part);
        return;
      }
      await this.#inTurn(part, async () => {
        if (await this.#decide(part)) await this.#report(part, idleOf(part));
        fade(part);
      });
    });
    await Promise.allSettled(work);
  }

  /**
   * Returns everything, when no call is in progress. The slices stay until the journal is removed, as for any other.
   * @returns false if something is left, which another process returns
   */
  async close(): Promise<boolean> {
    const wasOver = this.#isOver;
    this.#isOver = true;
    if (wasOver) return false;
    const closed = [...this.#parts.values()].map((part) =>
      this.#inTurn(part, async () => {
        if (!(await this.#decide(part, true)) || part.held !== 0) return false;
        return part.seq === undefined || (await this.#report(part, freeOf(part)));
      }),
    );
    const outcomes = await Promise.allSettled(closed);
    return outcomes.every((outcome) => outcome.status === 'fulfilled' && outcome.value);
  }

  #partOf(terms: PeriodTerms): Part {
    let part = this.#parts.get(terms.id);
    if (part === undefined) {
      part = {
        terms,
        ...{
          seq: undefined,
          amount: 0,
          reported: 0,
          settled: 0,
          counted: 0,
          held: 0,
          returning: 0,
          unknown: undefined,
        },
        ...{ revision: terms.revision, turn: Promise.resolve(), wanted: 0, recent: 0, isUsed: false },
        ...{ refused: undefined, freed: Promise.withResolvers() },
      };
      this.#parts.set(terms.id, part);
    }
    return part;
  }

  async #inTurn<Result>(part: Part, work: () => Promise<Result>): Promise<Result> {
    const result = part.turn.then(work);
    part.turn = result.catch(() => undefined);
    return await result;
  }

  /** Holds an amount that is taken from the database first. @returns false if the journal is closed */
  async #obtain(part: Part, terms: PeriodTerms, amount: number): Promise<boolean> {
    const { refused } = part;
    const isNew = terms.revision > part.revision;
    if (refused !== undefined && !isNew && this.#options.monotonic() < refused.until && amount >= refused.amount) {
      throw exceeded(terms, refused.left);
    }
    part.wanted += amount;
    try {
      let patience: Promise<boolean> | undefined;
      for (let isLast = false; ;) {
        const { freed } = part;
        const outcome = await this.#inTurn(part, () => this.#take(part, terms, amount));
        if (typeof outcome === 'boolean') return outcome;
        const { left, mayFree } = outcome;
        if (isLast || !mayFree) {
          const until = this.#options.monotonic() + refusedMs;
          part.refused = { until, amount, left };
          throw exceeded(terms, left);
        }
        patience ??= this.#options.sleep(patienceMs).then(() => true);
        isLast = await Promise.race([patience, freed.promise]);
      }
    } finally {
      part.wanted -= amount;
    }
  }

  /** @returns true if the amount is held; whether others, or calls in progress, may free as much if there is no room */
  async #take(
    part: Part,
    terms: PeriodTerms,
    amount: number,
  ): Promise<boolean | { readonly left: number; readonly mayFree: boolean }> {
    const { store, journal } = this.#options;
    if (!(await this.#decide(part))) return false;
    if (terms.revision > part.revision) {
      // What was taken under the former limit may be beyond the new one.
      if (part.seq !== undefined && !(await this.#report(part, Math.max(0, freeOf(part))))) return false;
      await store.ensure(terms);
      part.revision = terms.revision;
    }
    if (hasFree(part, terms, amount)) {
      hold(part, amount);
      return true;
    }
    let account = await store.find(terms.id);
    if (account === undefined || account.revision < terms.revision) {
      await store.ensure(terms);
      account = await store.find(terms.id);
    }
    let isFirst = true;
    const taken = await retryLostRaces(async () => {
      if (!isFirst) account = await store.find(terms.id);
      // The journal was closed, and its slices were settled.
      if (account?.slices.get(journal)?.seq !== part.seq || account === undefined) return false;
      const free = freeOf(part);
      if (part.seq !== undefined && free >= amount) {
        hold(part, amount);
        return true;
      }
      const needed = Math.max(0, amount - free);
      const left = account.limit - account.taken;
      if (left < needed) {
        const most = part.held + heldByOthers(account.slices, journal);
        return { left: Math.max(0, left), mayFree: most > 0 && most >= needed - left };
      }
      const more = Math.min(Math.floor(left / partOfLeft), Math.max(part.wanted - free, Math.ceil(part.recent)));
      const taking = isFirst ? Math.max(needed, more) : needed;
      isFirst = false;
      const within = { revision: account.revision, taken: account.limit - taking };
      const change = {
        from: part.seq,
        to: ++this.#lastSeq,
        amount: taking,
        settled: 0,
        taken: taking,
        spent: 0,
        within,
      };
      // Others may have used what was free meanwhile.
      if (!(await this.#change(part, change, 0)) || !hasFree(part, terms, amount)) return undefined;
      hold(part, amount);
      return true;
    });
    if (taken === false) this.#isOver = true;
    return taken;
  }

  /** Reports what was spent, and returns an amount. Negative if more was spent than was taken. */
  async #report(part: Part, returned: number): Promise<boolean> {
    const spent = part.settled - part.reported;
    if (spent === 0 && returned === 0) return true;
    const { seq: from } = part;
    const change = { from, to: ++this.#lastSeq, amount: -spent - returned, settled: spent, taken: -returned, spent };
    if (await this.#change(part, change, returned)) return true;
    this.#isOver = true;
    return false;
  }

  async #change(part: Part, change: SliceChange, returning: number): Promise<boolean> {
    part.returning = Math.max(0, returning);
    part.unknown = { change, fences: new Set() };
    const isDone = await this.#options.store.change(part.terms.id, this.#options.journal, change);
    part.unknown = undefined;
    part.returning = 0;
    if (isDone) apply(part, change);
    return isDone;
  }

  /** Decides a change whose outcome is unknown. @returns false if the journal is closed */
  async #decide(part: Part, isClosing = false): Promise<boolean> {
    if (this.#isOver && !isClosing) return false;
    const { unknown } = part;
    if (unknown === undefined) return true;
    const { store, journal } = this.#options;
    const { change, fences } = unknown;
    const to = ++this.#lastSeq;
    fences.add(to);
    await store.change(part.terms.id, journal, {
      from: change.from,
      to,
      ...{ amount: 0, settled: 0, taken: 0, spent: 0 },
    });
    const seq = (await store.find(part.terms.id))?.slices.get(journal)?.seq;
    part.unknown = undefined;
    part.returning = 0;
    if (seq !== undefined && fences.has(seq)) part.seq = seq;
    else if (seq !== undefined && seq === change.to) apply(part, change);
    else {
      this.#isOver = true;
      return false;
    }
    return isClosing || !this.#isOver;
  }
}

function apply(part: Part, { to, amount, settled }: SliceChange): void {
  part.seq = to;
  part.amount += amount;
  part.reported += settled;
}

function freeOf({ amount, returning, settled, reported, held }: Part): number {
  return amount - returning - (settled - reported) - held;
}

function hasFree(part: Part, { revision }: PeriodTerms, amount: number): boolean {
  return part.seq !== undefined && revision <= part.revision && freeOf(part) >= amount;
}

function hold(part: Part, amount: number): void {
  part.held += amount;
  part.recent += amount;
  part.isUsed = true;
}

function fade(part: Part): void {
  part.recent *= fading;
  part.isUsed = false;
}

/** What nobody has used since the last time, except what is probably needed soon. */
function idleOf(part: Part): number {
  if (part.seq === undefined) return 0;
  const free = freeOf(part);
  if (free < 0 || !part.isUsed) return free;
  return Math.max(0, free - Math.ceil(part.recent));
}

function isDue(part: Part): boolean {
  return part.settled !== part.reported || idleOf(part) !== 0;
}

/** What other journals have taken. */
function heldByOthers(slices: ReadonlyMap<string, { readonly amount: number }>, own: string): number {
  let sum = 0;
  for (const [journal, { amount }] of slices) if (journal !== own) sum += Math.max(0, amount);
  return sum;
}

/** The problem of a call that does not fit into a budget. @param left in nano-dollars */
function exceeded({ budget, resetsAt }: PeriodTerms, left: number): ProblemError {
  return new ProblemError('budget-exceeded', {
    detail: `The call could cost more than what is left of the budget "${budget}". Use a smaller max_output_tokens or a cheaper model, ${resetsAt ? 'wait until resets_at, ' : ''}or raise the limit.`,
    headers: { 'x-should-retry': 'false' },
    extensions: {
      budget,
      cause: 'budget-left',
      left: showMoney(BigInt(Math.max(0, Math.trunc(left)))),
      ...(resetsAt && { resets_at: resetsAt.toISOString() }),
    },
  });
}
