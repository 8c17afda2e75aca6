import type { components } from '../../../generated/types.ts';
import { fromAmount, showMoney } from '../../base/runtime/money.ts';
import { requireEveryPrompt } from '../../base/errors/beyond-limits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { ifMatchRevision } from '../../http/conditional.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { timezoneNamed } from '../../base/runtime/time-zones.ts';
import type { BudgetTerms } from './budget.ts';
import { showTerms, type BudgetPrecondition, type Budgets, type BudgetState } from './budgets.ts';

type Schemas = components['schemas'];
type BudgetOperations = Pick<OperationHandlers, 'listBudgets' | 'getBudget' | 'setBudget' | 'deleteBudget'>;

export function budgetOperations(budgets: Budgets): BudgetOperations {
  return {
    async listBudgets(input) {
      requireEveryPrompt(input.context.principal.reach, 'read budgets');
      return await answerPage(input, () => budgets.list(), showBudget);
    },
    async getBudget({ path: { name }, context }) {
      requireEveryPrompt(context.principal.reach, 'read budgets');
      const state = await budgets.get(name);
      return { status: 200, headers: { ETag: tagOf(state) }, body: showBudget(state) };
    },
    async setBudget({ path: { name }, headers, body, context }) {
      requireEveryPrompt(context.principal.reach, 'change budgets');
      const { isNew, ...state } = await budgets.set(readTerms(name, body), expectation(headers['If-Match']), context);
      const answer = { headers: { ETag: tagOf(state) }, body: showBudget(state) };
      if (!isNew) return { status: 200, ...answer };
      return { status: 201, ...answer, headers: { ...answer.headers, Location: `/api/v1/budgets/${name}` } };
    },
    async deleteBudget({ path: { name }, headers, context }) {
      requireEveryPrompt(context.principal.reach, 'change budgets');
      await budgets.remove(name, expectation(headers['If-Match']), context);
      return { status: 200, body: { ok: true } };
    },
  };
}

/** What is spent changes without edits, and no edit overwrites it. */
function tagOf({ budget: { id, revision }, period, spent, held }: BudgetState): string {
  return `"${id}.${revision}.${period.since.getTime()}.${spent}.${held}"`;
}

function expectation(expected: string | undefined): BudgetPrecondition {
  return (present) => {
    if (present === undefined ? expected === undefined : ifMatchRevision(expected, present)) return;
    throw new ProblemError('precondition-failed', {
      detail:
        present === undefined
          ? 'There is no such budget, so nothing matches If-Match.'
          : 'The budget has changed: If-Match does not match its current ETag.',
    });
  };
}

/** @throws {ProblemError} unknown-timezone */
function readTerms(name: string, sent: Schemas['BudgetInput']): BudgetTerms {
  const { scope = {}, limit, period, time_zone: zone = 'UTC', unpriced = 'refuse' } = sent;
  const timeZone = timezoneNamed(zone);
  if (timeZone === undefined) {
    throw new ProblemError('unknown-timezone', {
      detail: `${zone} is not the name of a time zone in the IANA database.`,
      errors: [{ detail: 'is not the name of a time zone', pointer: '#/time_zone' }],
    });
  }
  return {
    name,
    scope: { keyId: scope.key_id, promptId: scope.prompt_id, tag: scope.tag },
    limit: Number(fromAmount(limit.amount)),
    period,
    timeZone,
    unpriced,
    assumedOutputTokens: sent.assume_max_output_tokens,
    thresholds: (sent.thresholds ?? []).toSorted((one, other) => one - other),
  };
}

function showBudget({ budget, period, spent, held }: BudgetState): Schemas['Budget'] {
  const { id, name, limit, createdAt, blocked, setAt, setBy } = budget;
  return {
    id,
    name,
    ...showTerms(budget),
    current: {
      since: period.since.toISOString(),
      ...(period.resetsAt && { resets_at: period.resetsAt.toISOString() }),
      spent: showAmount(spent),
      held: showAmount(held),
      left: showAmount(limit - spent - held),
    },
    ...(blocked.length > 0 && {
      blocked_models: blocked.map(({ model, since, invocationId }) => ({
        model,
        since: since.toISOString(),
        invocation_id: invocationId,
      })),
    }),
    began_at: createdAt.toISOString(),
    set_at: setAt.toISOString(),
    set_by: { id: setBy.id, name: setBy.name },
  };
}

function showAmount(amount: number): { amount: string; currency: 'USD' } {
  return showMoney(BigInt(Math.max(0, amount)));
}
