import type { Answer, CallOptions, TestService } from '../../support/service.ts';

export const budgetsPath = '/api/v1/budgets';

export const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });

/** For small budgets that a call of the tests' own key may use up. */
export const ofAdministrator = { scope: { key_id: 'administrator' } };

/** A present budget may begin anew. */
export const anew = { headers: { 'If-Match': '*' } };

/** Sets a budget of a day; a new one is over everything. */
export function setBudget(
  service: TestService,
  name: string,
  body: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<Answer> {
  return service.call('PUT', `${budgetsPath}/${name}`, {
    body: { limit: usd('1'), period: 'day', ...body },
    ...options,
  });
}
