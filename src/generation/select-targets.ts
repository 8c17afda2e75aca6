import { ProblemError, type ProblemDetail } from '../errors/problem-error.ts';
import type { Fallback, PromptContent } from '../prompts/prompt.ts';
import type { Provider, ProviderRegistry } from '../providers/provider.ts';

/** The provider and model of a request. */
export interface ModelOverride {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/** Where a prompt runs. The model does not have to be in the provider's list, because providers often add models. */
export interface SelectedModel {
  readonly provider: Provider;
  readonly model: string;
}

type Providers = Pick<ProviderRegistry, 'get'>;

/**
 * Decides which provider and model run a prompt.
 *
 * | Request | Provider | Model |
 * |---|---|---|
 * | `provider`, `model` | as requested | as requested |
 * | `provider` | as requested | that provider's default |
 * | `model` | as selected | as requested |
 * | neither | as selected | as selected, else that provider's default |
 *
 * A `provider` without `model` means the provider's default, even if the prompt selects the same provider: a request
 * that names a provider does not depend on the prompt's current selection.
 *
 * @param content the version that runs, with its own selection
 * @throws {ProblemError} no-provider-selected, unknown-provider, provider-not-configured
 */
export function selectModel(
  providers: Providers,
  content: Pick<PromptContent, 'selectedProvider' | 'selectedModel'>,
  override: ModelOverride,
): SelectedModel {
  const provider = selectProvider(providers, content.selectedProvider, override.provider);
  const selectedModel = override.provider === undefined ? content.selectedModel : undefined;
  return { provider, model: override.model ?? selectedModel ?? provider.defaultModel };
}

/**
 * The selected model and its fallbacks, in their order. A fallback that is the same as a target before it is left out.
 *
 * @throws {ProblemError} unknown-provider, provider-not-configured
 */
export function withFallbacks(
  providers: Providers,
  selected: SelectedModel,
  fallbacks: PromptContent['fallbacks'] = [],
): SelectedModel[] {
  const targets = [selected];
  for (const [index, { provider: id, model }] of fallbacks.entries()) {
    const provider = requireProvider(providers, id, {
      subject: `The provider ${JSON.stringify(id)} of a fallback`,
      pointer: `#/fallbacks/${index}/provider`,
    });
    const target = { provider, model: model ?? provider.defaultModel };
    if (!targets.some((other) => other.provider === provider && other.model === target.model)) targets.push(target);
  }
  return targets;
}

function selectProvider(providers: Providers, selected: string | undefined, requested: string | undefined): Provider {
  const id = requested ?? selected;
  if (id === undefined) {
    throw new ProblemError('no-provider-selected', {
      detail: 'The request names no provider, and the version of the prompt has none selected.',
    });
  }
  return requireProvider(
    providers,
    id,
    requested === undefined
      ? { subject: `The prompt's selected_provider ${JSON.stringify(id)}` }
      : { subject: `The provider ${JSON.stringify(id)}`, pointer: '#/provider' },
  );
}

/**
 * A provider that can be called.
 *
 * @param place how the problem names the provider, and where it is in the request
 * @throws {ProblemError} unknown-provider, provider-not-configured
 */
export function requireProvider(
  providers: Providers,
  id: string,
  { subject, pointer }: { readonly subject: string; readonly pointer?: string },
): Provider {
  const provider = providers.get(id);
  if (provider?.configured === true) return provider;
  const fault = provider === undefined ? 'is not known' : 'is not configured';
  throw new ProblemError(provider === undefined ? 'unknown-provider' : 'provider-not-configured', {
    detail: `${subject} ${fault}.`,
    ...(pointer !== undefined && { errors: [{ detail: fault, pointer }] }),
    extensions: { provider: id },
  });
}

/**
 * Finds the provider of every target. Without a model in the request, the provider's default is used. The same pair can
 * occur more than once.
 *
 * @throws {ProblemError} unknown-provider, else provider-not-configured: with a pointer to each wrong target
 */
export function requireProviders(providers: Providers, requested: readonly Fallback[]): SelectedModel[] {
  const unknown: ProblemDetail[] = [];
  const notConfigured: ProblemDetail[] = [];
  const targets = requested.flatMap(({ provider: id, model }, index): SelectedModel[] => {
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
