import type { RequestMemory } from '../../base/limits/memory-budget.ts';
import type { CallOptions } from '../../models/language-model.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Plan } from './plan.ts';
import { bytesOf } from './request-size.ts';

/**
 * The provider's own count of the tokens of a request.
 *
 * @param memory of the request, from which the call reserves what it needs
 * @throws {ProblemError} tokens-not-counted if it has none; too-much-in-progress, overloaded; provider-*
 * @throws The reason of `call.signal` when that is aborted.
 */
export async function countTokens(
  plan: Plan,
  memory: Pick<RequestMemory, 'cover'>,
  call: CallOptions,
): Promise<number> {
  const { provider, request } = plan.targets[0] ?? {};
  if (provider?.countTokens === undefined || request === undefined) throw notCounted(provider?.id);
  const release = await memory.cover(bytesOf(plan), call.signal);
  try {
    return await provider.countTokens(request, call);
  } finally {
    release();
  }
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
