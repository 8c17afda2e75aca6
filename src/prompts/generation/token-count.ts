import type { CallOptions } from '../../models/language-model.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Plan } from './plan.ts';

/**
 * The provider's own count of the tokens of a request.
 *
 * @throws {ProblemError} tokens-not-counted if it has none; provider-*
 * @throws The reason of `call.signal` when that is aborted.
 */
export async function countTokens({ targets: [target] }: Plan, call: CallOptions): Promise<number> {
  const { provider, request } = target ?? {};
  if (provider?.countTokens === undefined || request === undefined) throw notCounted(provider?.id);
  return await provider.countTokens(request, call);
}

/** @param provider undefined for a stored prompt, which has more than one */
export function notCounted(provider: string | undefined): ProblemError {
  const detail =
    provider === undefined
      ? 'Stored prompts have no count of their own.'
      : `The provider ${JSON.stringify(provider)} has no count of its own for requests of this API.`;
  return new ProblemError('tokens-not-counted', {
    detail,
    ...(provider !== undefined && { extensions: { provider } }),
  });
}
