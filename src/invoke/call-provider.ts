import { ProblemError } from '../errors/problem-error.ts';
import type { Metrics, SpentTokens } from '../observability/metrics.ts';
import type { CallOptions, GenerateRequest, GenerateResult } from '../providers/generation.ts';
import type { Provider } from '../providers/provider.ts';

/** What a provider answered, and how long it took. */
export interface ProviderAnswer {
  readonly result: GenerateResult;
  /** From the first attempt to the end of the last one, in whole milliseconds. */
  readonly latencyMs: number;
}

/**
 * Calls a provider, and records duration and outcome. A call that all callers have left counts as `cancelled`.
 *
 * @throws {ProblemError} provider-*
 * @throws The reason of `call.signal` when that is aborted.
 */
export async function callProvider(
  provider: Provider,
  request: GenerateRequest,
  call: CallOptions,
  metrics: Pick<Metrics, 'observeProviderCall'>,
): Promise<ProviderAnswer> {
  const started = performance.now();
  let outcome = 'ok';
  let spent: SpentTokens | undefined;
  try {
    const result = await provider.generate(request, call);
    const model = provider.models.includes(request.model) ? request.model : 'other';
    spent = { model, ...result.usage };
    return { result, latencyMs: Math.round(performance.now() - started) };
  } catch (error) {
    if (error instanceof ProblemError) outcome = error.type;
    else outcome = call.signal.aborted ? 'cancelled' : 'internal-error';
    throw error;
  } finally {
    metrics.observeProviderCall(provider.id, outcome, (performance.now() - started) / 1000, spent);
  }
}
