import type { CallOptions, GenerateRequest } from '../language-model.ts';
import type { RemoteProvider } from './answer.ts';
import { failureContext, toFailure, type CalledProvider } from './classify.ts';
import { timeout } from './failures.ts';
import { failedEnd, repeat, type AttemptDependencies, type AttemptResult, type Turn } from './retries.ts';

/**
 * Asks a remote provider how many tokens a request in its own API has. The call waits in the same queue, and is repeated,
 * as one for an answer. It is never billed.
 */
export async function countTokens(
  { whole, queue }: Pick<RemoteProvider, 'whole' | 'queue'>,
  request: GenerateRequest,
  call: CallOptions,
  dependencies: AttemptDependencies,
): Promise<number> {
  return await repeat(whole, request, call, queue, dependencies, (turn) => ask(whole, request, turn));
}

async function ask(
  provider: CalledProvider,
  request: GenerateRequest,
  { signal, leave, traceFields, end }: Turn,
): Promise<AttemptResult<number>> {
  const { originals } = provider;
  const { original } = request;
  if (originals === undefined || original === undefined) throw new Error('The request is in no API of the provider.');
  try {
    const count = await originals.countTokens(request, original, { signal, traceFields });
    end({ outcome: 'succeeded', isUnbilled: true });
    return { result: count };
  } catch (error) {
    const failure = signal.aborted ? timeout('provider') : toFailure(error, failureContext(provider, request));
    end(failedEnd(failure, signal));
    return { failure: { ...failure, mayBeBilled: false } };
  } finally {
    leave();
  }
}
