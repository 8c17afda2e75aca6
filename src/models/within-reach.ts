import { mayReachModel, type Reach } from '../base/limits/reach.ts';
import type { ProviderInfo } from './provider.ts';

/** The providers as a key sees them: with the models that it may use, and only if there are any. */
export function withinReach(providers: readonly ProviderInfo[], reach: Reach | undefined): readonly ProviderInfo[] {
  if (reach?.models === undefined) return providers;
  return providers.flatMap((provider) => {
    const models = provider.models.filter((model) => mayReachModel(reach, provider.id, model));
    const embeddingModels = provider.embeddingModels.filter((model) => mayReachModel(reach, provider.id, model));
    if (models.length + embeddingModels.length === 0) return [];
    return [{ ...provider, models, embeddingModels, defaultModel: defaultModelOf(provider, reach) }];
  });
}

/** The providers that can run prompts for a key, each with its default. A key may use only the embeddings of others. */
export function withinReachOfPrompts(
  providers: readonly ProviderInfo[],
  reach: Reach | undefined,
): readonly ProviderInfo[] {
  return withinReach(providers, reach).filter(({ models }) => models.length > 0);
}

/**
 * The model that runs if only the provider is selected: the provider's default, or the first one that the key may use.
 *
 * @returns the provider's default, too, if the key may use none
 */
export function defaultModelOf(
  { id, models, defaultModel }: Pick<ProviderInfo, 'id' | 'models' | 'defaultModel'>,
  reach: Reach | undefined,
): string {
  if (mayReachModel(reach, id, defaultModel)) return defaultModel;
  return models.find((model) => mayReachModel(reach, id, model)) ?? defaultModel;
}
