import type { Answer, CallOptions, TestService } from '../../support/service.ts';

export const pricesPath = '/api/v1/prices';

/** Sets the price of a model of `echo`, which is 0 in the table. */
export function setPrice(
  service: TestService,
  model: string,
  rates: unknown = [{ input: '1', output: '2' }],
  options: CallOptions = {},
): Promise<Answer> {
  return service.call('PUT', `${pricesPath}/echo/${model}`, { body: { rates }, ...options });
}
