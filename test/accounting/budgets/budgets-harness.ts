import type { Answer, CallOptions, TestService } from '../../support/service.ts';

export const budgetsPath = '/api/v1/budgets';

export const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });

/** For small budgets that a call of the tests' own key may use up. */
export const ofAdministrator = { scope: { key_id: 'administrator' } };

/** Sets a budget over everything, of a day. */
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
