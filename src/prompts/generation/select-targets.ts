import { beyondLimits } from '../../base/errors/beyond-limits.ts';
import { ProblemError, type ProblemDetail } from '../../base/errors/problem-error.ts';
import { mayReachModel, type Reach } from '../../base/limits/reach.ts';
import type { Fallback, PromptContent } from '../prompt.ts';
import type { Provider, ProviderRegistry } from '../../models/provider.ts';
import { defaultModelOf } from '../../models/within-reach.ts';

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
 * @param reach of the caller
 * @throws {ProblemError} no-provider-selected, unknown-provider, provider-not-configured; beyond-limits
 */
export function selectModel(
  providers: Providers,
  content: Pick<PromptContent, 'selectedProvider' | 'selectedModel'>,
  override: ModelOverride,
  reach: Reach | undefined,
): SelectedModel {
  const provider = selectProvider(providers, content.selectedProvider, override.provider);
  const selectedModel = override.provider === undefined ? content.selectedModel : undefined;
  const selected = { provider, model: override.model ?? selectedModel ?? defaultModelOf(provider, reach) };
  const named = (['model', 'provider'] as const).find((member) => override[member] !== undefined);
  requireReachable(reach, [{ ...selected, pointer: named && `#/${named}` }]);
  return selected;
}

/**
 * The selected model and its fallbacks, in their order. A fallback that is the same as a target before it is left out,
 * and so is one of the prompt that the caller may not use.
 *
 * @param requested those of the request, in place of those of the prompt
 * @throws {ProblemError} unknown-provider, provider-not-configured; beyond-limits for one of the request
 */
export function withFallbacks(
  providers: Providers,
  selected: SelectedModel,
  fallbacks: PromptContent['fallbacks'] = [],
  { requested, reach }: { readonly requested: PromptContent['fallbacks']; readonly reach: Reach | undefined },
): SelectedModel[] {
  const targets = [selected];
  for (const [index, { provider: id, model }] of fallbacks.entries()) {
    const pointer = `#/fallbacks/${index}`;
    const provider = requireProvider(providers, id, {
      subject: `The provider ${JSON.stringify(id)} of a fallback`,
      pointer: `${pointer}/provider`,
    });
    const target = { provider, model: model ?? defaultModelOf(provider, reach) };
    if (requested !== undefined) requireReachable(reach, [{ ...target, pointer }]);
    else if (!isReachable(reach, target)) continue;
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

/** @throws {ProblemError} beyond-limits, with a pointer to each target that the request names and the key may not use */
export function requireReachable(
  reach: Reach | undefined,
  targets: readonly (ReachedModel & { readonly pointer: string | undefined })[],
): void {
  const beyond = targets.filter((target) => !isReachable(reach, target));
  if (beyond.length === 0) return;
  const names = [...new Set(beyond.map(({ provider, model }) => `${provider.id}/${model}`))];
  const { models = [] } = reach ?? {};
  const others = models.length > 0 ? ` It may use ${listed(models)}.` : '';
  throw beyondLimits(
    `This key may not use ${listed(names)}.${others}`,
    beyond.flatMap(({ pointer }) =>
      pointer === undefined ? [] : [{ detail: 'is beyond the limits of the key', pointer }],
    ),
  );
}

interface ReachedModel {
  readonly provider: Pick<Provider, 'id'>;
  readonly model: string;
}

function isReachable(reach: Reach | undefined, { provider, model }: ReachedModel): boolean {
  return mayReachModel(reach, provider.id, model);
}

/** The most names in a sentence. */
const maxNamed = 5;

function listed(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return `${names.slice(0, maxNamed).join(', ')}${more}`;
}

/**
 * Finds the provider of every target. Without a model in the request, the provider's default is used. The same pair can
 * occur more than once.
 *
 * @param reach of the caller
 * @throws {ProblemError} unknown-provider, else provider-not-configured, else beyond-limits: with a pointer to each
 *   wrong target
 */
export function requireProviders(
  providers: Providers,
  requested: readonly Fallback[],
  reach: Reach | undefined,
): SelectedModel[] {
  const unknown: ProblemDetail[] = [];
  const notConfigured: ProblemDetail[] = [];
  const targets = requested.flatMap(({ provider: id, model }, index): SelectedModel[] => {
    const provider = providers.get(id);
    const pointer = `#/providers/${index}/provider`;
    if (provider === undefined) unknown.push({ detail: 'is not known', pointer });
    else if (!provider.configured) notConfigured.push({ detail: 'is not configured', pointer });
    else return [{ provider, model: model ?? defaultModelOf(provider, reach) }];
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
  requireReachable(
    reach,
    targets.map((target, index) => ({ ...target, pointer: `#/providers/${index}` })),
  );
  return targets;
}
