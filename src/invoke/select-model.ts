import { ProblemError } from '../errors/problem-error.ts';
import type { PromptContent } from '../prompts/prompt.ts';
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
  providers: Pick<ProviderRegistry, 'get'>,
  content: Pick<PromptContent, 'selectedProvider' | 'selectedModel'>,
  override: ModelOverride,
): SelectedModel {
  const provider = requireProvider(providers, content.selectedProvider, override.provider);
  const selectedModel = override.provider === undefined ? content.selectedModel : undefined;
  return { provider, model: override.model ?? selectedModel ?? provider.defaultModel };
}

function requireProvider(
  providers: Pick<ProviderRegistry, 'get'>,
  selected: string | undefined,
  requested: string | undefined,
): Provider {
  const id = requested ?? selected;
  if (id === undefined) {
    throw new ProblemError('no-provider-selected', {
      detail: 'The request names no provider, and the version of the prompt has none selected.',
    });
  }
  const provider = providers.get(id);
  if (provider?.configured === true) return provider;

  const isRequested = requested !== undefined;
  const subject = isRequested
    ? `The provider ${JSON.stringify(id)}`
    : `The prompt's selected_provider ${JSON.stringify(id)}`;
  const fault = provider === undefined ? 'is not known' : 'is not configured';
  throw new ProblemError(provider === undefined ? 'unknown-provider' : 'provider-not-configured', {
    detail: `${subject} ${fault}.`,
    ...(isRequested && { errors: [{ detail: fault, pointer: '#/provider' }] }),
    extensions: { provider: id },
  });
}
