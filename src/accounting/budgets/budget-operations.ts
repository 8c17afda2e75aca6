import type { components } from '../../../generated/types.ts';
import { showMoney } from '../../base/runtime/money.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { requireUnchanged } from '../../base/editing/read-only-fields.ts';
import { ifMatchRevision, preconditionRequired, requireConditions, type Conditions } from '../../http/conditional.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { timeZoneNamed } from '../../base/runtime/time-zones.ts';
import { budgetFields, budgetTerms, continues, type Budget, type BudgetTerms } from './budget.ts';
import type { Budgets, BudgetState, ChooseTerms } from './budgets.ts';
import type { Refused } from './period-store.ts';

type Schemas = components['schemas'];
type BudgetOperations = Pick<OperationHandlers, 'listBudgets' | 'getBudget' | 'setBudget' | 'deleteBudget'>;

export function budgetOperations(budgets: Budgets): BudgetOperations {
  return {
    async listBudgets(input) {
      return await answerPage(input, () => budgets.list(), showBudget);
    },
    async getBudget({ path: { name } }) {
      const state = await budgets.get(name);
      return { status: 200, headers: { ETag: tagOf(state) }, body: showBudget(state) };
    },
    async setBudget({ path: { name }, headers, body, context }) {
      const choose: ChooseTerms = (present) => termsOf(name, present, headers, body);
      const { isNew, ...state } = await budgets.set(name, choose, context);
      const answer = { headers: { ETag: tagOf(state) }, body: showBudget(state) };
      if (!isNew) return { status: 200, ...answer };
      return { status: 201, ...answer, headers: { ...answer.headers, Location: `/api/v1/budgets/${name}` } };
    },
    async deleteBudget({ path: { name }, headers, context }) {
      await budgets.remove(name, (present) => requireExpected(name, present, headers), context);
      return { status: 200, body: { ok: true } };
    },
  };
}

/** What is spent changes without edits, and no edit overwrites it. */
function tagOf({ budget: { id, revision }, period, spent, held }: BudgetState): string {
  return `"${id}.${revision}.${period.since.getTime()}.${spent}.${held}"`;
}

function requireExpected(name: string, present: Budget | undefined, conditions: Conditions): void {
  requireConditions(conditions, `budget "${name}"`, present && ((field) => ifMatchRevision(field, present)));
}

/**
 * What a budget shall be: what is sent, and the rest of the present one.
 * @throws {ProblemError} precondition-failed, precondition-required, read-only-field, invalid-request, unknown-time-zone
 */
function termsOf(
  name: string,
  present: Budget | undefined,
  conditions: Conditions,
  { current: _, ...sent }: Schemas['BudgetInput'],
): BudgetTerms {
  requireExpected(name, present, conditions);
  requireUnchanged(budgetFields.others(sent), present === undefined ? { name } : budgetFields.show(present));
  const terms = present === undefined ? newTerms(sent) : { ...present, ...budgetTerms.readChange(sent) };
  const timeZone = terms.timeZone === present?.timeZone ? terms.timeZone : timeZoneNamed(terms.timeZone);
  if (timeZone === undefined) {
    throw new ProblemError('unknown-time-zone', {
      detail: `${terms.timeZone} is not the name of a time zone in the IANA database.`,
      errors: [{ detail: 'is not the name of a time zone', pointer: '#/time_zone' }],
    });
  }
  const chosen = budgetTerms.pick({ ...terms, timeZone });
  if (present !== undefined && conditions['If-Match'] === undefined && !continues(present, chosen)) {
    throw preconditionRequired(`The budget "${name}" would begin anew: send its ETag as If-Match.`);
  }
  return chosen;
}

/** @throws {ProblemError} invalid-request */
function newTerms({ limit, period, ...sent }: Schemas['BudgetInput']): BudgetTerms {
  if (limit !== undefined && period !== undefined) return budgetTerms.readNew({ ...sent, limit, period });
  const missing = Object.entries({ limit, period }).filter(([, value]) => value === undefined);
  throw new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: missing.map(([member]) => ({ detail: 'is required for a new budget', pointer: `#/${member}` })),
  });
}

function showBudget({ budget, period, spent, held, refused }: BudgetState): Schemas['Budget'] {
  return {
    ...budgetFields.show(budget),
    current: {
      since: period.since.toISOString(),
      ...(period.resetsAt && { resets_at: period.resetsAt.toISOString() }),
      spent: showAmount(spent),
      held: showAmount(held),
      left: showAmount(budget.limit - spent - held),
      ...(refused && { refusing: showRefused(refused) }),
    },
  };
}

function showRefused({ calls, since, last }: Refused): Schemas['BudgetRefusals'] {
  return { since: since.toISOString(), last_at: last.toISOString(), calls };
}

function showAmount(amount: number): { amount: string; currency: 'USD' } {
  return showMoney(BigInt(Math.max(0, amount)));
}
