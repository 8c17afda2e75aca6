import { authorOf, type Principal } from '../../base/limits/principal.ts';
import { isDeepStrictEqual } from 'node:util';
import { auditEntry, type AuditedKind, type Author } from '../../access/audit/author.ts';
import { createEditQueue } from '../../base/editing/edit-queue.ts';
import { changeTime } from '../../base/editing/edits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { listingOf, type Listing } from '../../base/lists/listing.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { budgetTerms, continues, periodOf, scopeName, type Budget, type BudgetTerms, type Period } from './budget.ts';
import type { BudgetStore } from './budget-store.ts';
import type { Account, PeriodStore, PeriodTerms, Refused } from './period-store.ts';
import type { Claim } from './shares.ts';

/** What a call is charged to. */
export interface Charged {
  readonly principal: Principal;
  readonly promptId: string | undefined;
}

/** A budget, and its current period. */
export interface BudgetState {
  readonly budget: Budget;
  readonly period: Period;
  /** In nano-dollars. */
  readonly spent: number;
  /** Taken by processes for calls in progress, and for those that begin soon. */
  readonly held: number;
  /** In this period, since the budget was set last. */
  readonly refused: Refused | undefined;
}

/** Which budgets hold for a call. Found in memory. */
export interface Budgeting {
  /** Reads what other processes have set, if that was long ago. @throws {ProblemError} database-unavailable */
  refreshed(): Promise<void> | undefined;
  /**
   * What a call has to reserve.
   * @param most that it can cost, in nano-dollars, or why that is unknown
   * @returns undefined without budgets
   * @throws {ProblemError} cost-unknown
   */
  claim(charged: Charged, called: Called, most: number | UnknownCost): Claim | undefined;
  /** A call was refused because of a budget. @param budget its name */
  refused(budget: string, began: Date): void;
  /** A call has cost more than the most that it could cost: its model is blocked from now on. */
  exceeded(excess: Excess): void;
  /** The limit of output tokens for a provider that would get none; undefined if no budget has one. */
  assumedOutputTokens(charged: Charged): number | undefined;
  /** The same text for calls with the same budgets; empty without budgets. */
  payersOf(charged: Charged): string;
}

/** What a call is made of. */
export interface Called {
  readonly provider: string;
  readonly model: string;
}

/** Why the most that a call can cost is unknown. */
export type UnknownCost = 'no-price' | 'priced-option' | 'no-output-limit' | 'output-limit-not-kept' | 'unknown-input';

/** A call under budgets that has cost more than the most that it could cost. Amounts are nano-dollars. */
export interface Excess extends Called {
  readonly invocationId: string;
  readonly most: number;
  readonly cost: number;
}

export interface Budgets extends Budgeting {
  get(name: string): Promise<BudgetState>;
  list(): Promise<Listing<BudgetState>>;
  /**
   * Creates a budget, or changes the present one. Setting it again trusts its blocked models again.
   * @throws {ProblemError} too-many-budgets, edit-conflict, and what the choice of the terms throws
   */
  set(name: string, choose: ChooseTerms, author: Author): Promise<BudgetState & { readonly isNew: boolean }>;
  /** @throws {ProblemError} budget-not-found, edit-conflict, and what the precondition throws */
  remove(name: string, precondition: BudgetPrecondition, author: Author): Promise<void>;
  /** Reads what other processes have set. @throws {ProblemError} database-unavailable */
  refresh(): Promise<void>;
  /** All, as they were read last. */
  known(): readonly Budget[];
}

/** Checks whether a budget is as the caller expects, and says what it shall be. */
export type ChooseTerms = (present: Budget | undefined) => BudgetTerms;
/** Checks whether a budget is as the caller expects. @throws {ProblemError} precondition-failed */
export type BudgetPrecondition = (present: Budget) => void;

export interface BudgetsOptions {
  readonly store: BudgetStore;
  readonly periods: Pick<PeriodStore, 'ensure' | 'findAll' | 'expire'>;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  /** Called for each excess, with the error if its model could not be blocked. */
  readonly onExcess: (excess: Excess, error?: unknown) => void;
  /** Called for each call that is refused. */
  readonly onRefused: (budget: Budget, terms: PeriodTerms, began: Date) => void;
}

/** How often each process reads the budgets that others have set, in milliseconds. */
export const refreshEveryMs = 3_000;
/** Every process keeps all of them in memory. */
const mostBudgets = 1_000;
/** After which a call waits for it. */
const staleAfterMs = 4_500;
/** A clock that goes back by more was wrong before. */
const correctionMs = 3_600_000;

const audited: AuditedKind<Budget> = { type: 'budget', show: budgetTerms.show };

/** A budget in memory, with its current period. */
interface Current {
  readonly budget: Budget;
  terms: PeriodTerms;
}

export function createBudgets({ store, periods, clock, random, onExcess, onRefused }: BudgetsOptions): Budgets {
  const editQueue = createEditQueue();
  let all: readonly Current[] = [];
  let byScope: ReadonlyMap<string, readonly Current[]> = new Map();
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;

  const readAll = async (): Promise<void> => {
    const began = clock.monotonic();
    const found = await store.all(mostBudgets);
    const known = new Map(all.map((current) => [current.budget.id, current]));
    all = found
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map((budget) => {
        const before = known.get(budget.id);
        if (before !== undefined && before.budget.revision >= budget.revision) return before;
        return { budget, terms: termsOf(budget, before?.terms ?? periodOf(budget, clock.now())) };
      });
    byScope = Map.groupBy(all, ({ budget: { scope } }) => scopeName(scope));
    readAt = Math.max(readAt, began);
  };
  const refresh = (): Promise<void> =>
    (reading ??= readAll().finally(() => {
      reading = undefined;
    }));

  /**
   * A period is left for an earlier one only if the clock was wrong for long: small corrections of it would make calls
   * go back and forth between both.
   */
  const currentTerms = (current: Current): PeriodTerms => {
    const { since, resetsAt } = current.terms;
    if (resetsAt !== undefined) {
      const now = clock.now();
      if (now >= resetsAt || now.getTime() < since.getTime() - correctionMs) {
        current.terms = termsOf(current.budget, periodOf(current.budget, now));
      }
    }
    return current.terms;
  };
  /** A call asks for the budgets of what it is charged to: there may be a thousand others. */
  const under = (charged: Charged): readonly Current[] =>
    all.length === 0 ? all : scopesOf(charged).flatMap((scope) => byScope.get(scope) ?? []);

  const withStates = async (budgets: readonly Budget[]): Promise<BudgetState[]> => {
    const now = clock.now();
    const placed = budgets.map((budget) => ({ budget, period: periodOf(budget, now) }));
    const accounts = await periods.findAll(placed.map(({ period }) => period.id));
    return placed.map(({ budget, period }) => stateOf(budget, period, accounts.get(period.id)));
  };
  const stateNow = async (budget: Budget): Promise<BudgetState> => {
    const [state] = await withStates([budget]);
    return state ?? stateOf(budget, periodOf(budget, clock.now()), undefined);
  };

  /** @returns the present budget if nothing changes; undefined if another writer was first */
  const write = async (
    name: string,
    present: Budget | undefined,
    terms: BudgetTerms,
    now: Date,
    author: Author,
  ): Promise<Budget | undefined> => {
    const kept = present !== undefined && continues(present, terms) ? present : undefined;
    if (kept?.blocked === undefined && isDeepStrictEqual(kept && budgetTerms.pick(kept), terms)) return kept;
    const updatedAt = present === undefined ? now : changeTime(present.updatedAt, now);
    const { id = random.uuid(), createdAt = updatedAt } = kept ?? {};
    const next = { id, name, ...terms, blocked: undefined, createdAt, updatedAt, author: authorOf(author.principal) };
    const entry = auditEntry(author, audited, {
      at: updatedAt,
      after: named({ ...next, revision: 0 }),
      ...(present && { before: named(present) }),
    });
    return await store.put(next, present, entry);
  };

  return {
    refresh,
    known: () => all.map(({ budget }) => budget),
    refreshed: () => (clock.monotonic() - readAt < staleAfterMs ? undefined : refresh()),
    claim(charged, called, most) {
      const payers = under(charged);
      if (payers.length === 0) return undefined;
      for (const { budget } of payers) {
        if (budget.unpriced !== 'refuse') continue;
        const isBlocked = budget.blocked?.some(({ model }) => model === nameOf(called)) === true;
        if (isBlocked) throw costUnknown(budget, called, 'model-blocked');
        if (typeof most === 'string') throw costUnknown(budget, called, most);
      }
      return {
        periods: payers.map(currentTerms),
        amount: typeof most === 'string' ? 0 : most,
        payer: charged.principal.family,
      };
    },
    refused(name, began) {
      const current = all.find(({ budget }) => budget.name === name);
      if (current !== undefined) onRefused(current.budget, currentTerms(current), began);
    },
    exceeded(excess) {
      onExcess(excess);
      store
        .block({ model: nameOf(excess), since: clock.now(), invocationId: excess.invocationId })
        .then(async () => {
          // A read in progress may have begun before.
          await reading?.catch(() => undefined);
          await refresh();
        })
        .catch((error: unknown) => {
          onExcess(excess, error);
        });
    },
    assumedOutputTokens(charged) {
      const assumed = under(charged).flatMap(({ budget }) => budget.assumedOutputTokens ?? []);
      return assumed.length === 0 ? undefined : Math.min(...assumed);
    },
    payersOf: (charged) =>
      under(charged)
        .map(({ budget }) => budget.id)
        .join(),
    async get(name) {
      const found = await store.find(name);
      if (found === undefined) throw notFound(name);
      return await stateNow(found);
    },
    async list() {
      const found = (await store.all(mostBudgets)).sort((one, other) => (one.name < other.name ? -1 : 1));
      return listingOf(await withStates(found), ({ budget }) => ({ at: 0, id: budget.name }));
    },
    set: (name, choose, author) =>
      editQueue.contend(name, async () => {
        const present = await store.find(name);
        const terms = choose(present);
        if (present === undefined && (await store.all(mostBudgets)).length >= mostBudgets) throw tooMany();
        const now = clock.now();
        const stored = await write(name, present, terms, now, author);
        if (stored === undefined) return undefined;
        // The processes that hold a part of it find the new limit there, before they have read the budget again.
        await periods.ensure(termsOf(stored, periodOf(stored, now)));
        await reading?.catch(() => undefined);
        await refresh();
        return { ...(await stateNow(stored)), isNew: present === undefined };
      }),
    async remove(name, precondition, author) {
      await editQueue.contend(name, async () => {
        const found = await store.find(name);
        if (found === undefined) throw notFound(name);
        precondition(found);
        const at = clock.now();
        if (!(await store.remove(found, auditEntry(author, audited, { at, before: named(found) })))) return undefined;
        if (found.period === 'once') await periods.expire(periodOf(found, at).id, at);
        return true;
      });
      await reading?.catch(() => undefined);
      await refresh();
    },
  };
}

function nameOf({ provider, model }: Called): string {
  return `${provider}/${model}`;
}

/** The names of the scopes that a call is in. */
function scopesOf({ principal: { id: keyId, makers = [], tags = {} }, promptId }: Charged): string[] {
  const scopes = [scopeName({})];
  for (const id of new Set([keyId, ...makers])) scopes.push(scopeName({ keyId: id }));
  if (promptId !== undefined) scopes.push(scopeName({ promptId }));
  for (const name of Object.keys(tags).sort()) scopes.push(scopeName({ tag: `${name}=${tags[name] ?? ''}` }));
  return scopes;
}

function termsOf(budget: Budget, { id: period, since, resetsAt }: Period): PeriodTerms {
  const { id, name, limit, revision, scope } = budget;
  const isShared = scope.keyId === undefined;
  return { id: period, since, resetsAt, budget: name, budgetId: id, limit, revision, isShared };
}

function stateOf(budget: Budget, period: Period, account: Account | undefined): BudgetState {
  const { spent = 0, taken = 0 } = account ?? {};
  return { budget, period, spent, held: taken - spent, refused: account?.refused };
}

/** For the audit log, where the name of a budget is its id. */
function named(budget: Budget): Budget {
  return { ...budget, id: budget.name };
}

/** Why a budget refuses a call whose most possible cost is unknown, and what to do. */
const remedies: Readonly<Record<UnknownCost | 'model-blocked', (called: Called) => string>> = {
  'no-price': ({ provider, model }) =>
    `${provider}/${model} has no price. Set one: PUT /api/v1/prices/${provider}/${model}.`,
  'priced-option': ({ provider, model }) =>
    `An option of the provider (serviceTier, speed) changes the price of ${provider}/${model}. Leave it out.`,
  'no-output-limit': ({ provider, model }) =>
    `${provider}/${model} would get no limit of output tokens. Set max_output_tokens, or assume_max_output_tokens of the budget.`,
  'output-limit-not-kept': ({ provider }) =>
    `The server ${provider} is not declared to keep the limit of output tokens. Set its enforces_max_output.`,
  'unknown-input': () =>
    'Nobody knows before how many tokens the documents of the request have. Send their text, or images of their pages.',
  'model-blocked': ({ provider, model }) =>
    `A call of ${provider}/${model} has cost more than it could cost at most. Set the budget again to lift this.`,
};

function costUnknown({ name }: Budget, called: Called, cause: UnknownCost | 'model-blocked'): ProblemError {
  return new ProblemError('cost-unknown', {
    detail: `The budget "${name}" refuses calls whose most possible cost is unknown. ${remedies[cause](called)} Or allow such calls: "unpriced": "allow".`,
    headers: { 'x-should-retry': 'false' },
    extensions: { budget: name, cause, provider: called.provider, model: called.model },
  });
}

function notFound(name: string): ProblemError {
  return new ProblemError('budget-not-found', { detail: `No budget has the name "${name}".` });
}

function tooMany(): ProblemError {
  return new ProblemError('too-many-budgets', { detail: `There are already ${mostBudgets} budgets.` });
}
