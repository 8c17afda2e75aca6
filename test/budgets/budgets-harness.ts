import type { Answer, CallOptions, TestService } from '../support/service.ts';

export const budgetsPath = '/api/v1/budgets';

export const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });

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
