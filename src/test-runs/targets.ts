import { ProblemError, type ProblemDetail } from '../errors/problem-error.ts';
import type { Provider, ProviderRegistry } from '../providers/provider.ts';

/** One call of a test run. */
export interface ResolvedTarget {
  readonly provider: Provider;
  readonly model: string;
}

/**
 * Finds the provider of every target. Without a model in the request, the provider's default is used. The same pair can
 * occur more than once.
 *
 * @throws {ProblemError} unknown-provider, else provider-not-configured: with a pointer to each wrong target
 */
export function resolveTargets(
  providers: Pick<ProviderRegistry, 'get'>,
  requested: readonly { readonly provider: string; readonly model?: string }[],
): ResolvedTarget[] {
  const unknown: ProblemDetail[] = [];
  const notConfigured: ProblemDetail[] = [];
  const targets = requested.flatMap(({ provider: id, model }, index): ResolvedTarget[] => {
    const provider = providers.get(id);
    const pointer = `#/providers/${index}/provider`;
    if (provider === undefined) unknown.push({ detail: 'is not known', pointer });
    else if (!provider.configured) notConfigured.push({ detail: 'is not configured', pointer });
    else return [{ provider, model: model ?? provider.defaultModel }];
    return [];
  });
  // A problem has one type; its errors list everything that must be corrected.
  const errors = [...unknown, ...notConfigured];
  if (unknown.length > 0) {
    throw new ProblemError('unknown-provider', { detail: 'The request names unknown providers.', errors });
  }
  if (notConfigured.length > 0) {
    throw new ProblemError('provider-not-configured', {
      detail: 'The request names providers that are not configured.',
      errors,
    });
  }
  return targets;
}
