import type { LanguageModelV4 } from '@ai-sdk/provider';
import { LRUCache } from 'lru-cache';
import { ProblemError } from '../errors/problem-error.ts';
import { createFairQueue, type FairQueue } from '../limits/fair-queue.ts';
import { echo } from './echo.ts';
import { generate, type GenerateDependencies, type RemoteTarget, type RetryNotice } from './generate-text.ts';
import type { Fetch } from './http.ts';
import { loadCompatible, remoteProviders, type LanguageModels } from './language-models.ts';
import { catalog } from './models.ts';
import { toPrompt, toPromptWithSystemFirst } from './sdk-prompt.ts';
import type { Provider, ProviderInfo, ProviderRegistry } from './provider.ts';
import {
  builtInProviderIds,
  findSettingsMistakes,
  type BuiltInProviderId,
  type CompatibleProviderSettings,
  type ProviderSettings,
  type RemoteProviderId,
} from './provider-settings.ts';
import type { Random } from '../runtime/random.ts';

export interface ProviderRegistryOptions {
  readonly settings: ProviderSettings;
  /** Carries every call to a provider; `createProviderHttp` makes it. */
  readonly fetch: Fetch;
  /** Spreads retries. */
  readonly random: Random;
  /** Told of every failed attempt that another follows. */
  readonly onRetry?: (notice: RetryNotice) => void;
}

/**
 * Makes the providers that the settings describe. Nothing is imported and no connection opened until it is needed.
 *
 * @throws Error naming every mistake that `findSettingsMistakes` finds.
 */
export function createProviderRegistry(options: ProviderRegistryOptions): ProviderRegistry {
  const { settings, fetch, random, onRetry } = options;
  const mistakes = findSettingsMistakes(settings);
  if (mistakes.length > 0) throw new Error(mistakes.join(' '));

  const dependencies: GenerateDependencies = { random, ...(onRetry && { onRetry }) };
  const entries = [
    ...builtInProviderIds.map((id) => (id === 'echo' ? echoEntry(settings) : builtInEntry(id, settings, fetch))),
    ...settings.compatible.map((provider) => compatibleEntry(provider, settings, fetch)),
  ];
  const infos = entries.map(({ info }) => info);
  const providers = new Map(entries.map((entry) => [entry.info.id, toProvider(entry, dependencies)]));

  return {
    list: () => infos,
    get: (id) => providers.get(id),
    async preload() {
      const targets = entries.flatMap(({ info, target }) => (info.configured && target ? [target] : []));
      await Promise.allSettled(targets.map((target) => target.models()));
    },
  };
}

interface Entry {
  readonly info: ProviderInfo;
  /** Absent for `echo`, which answers itself. */
  readonly target?: RemoteTarget;
}

function toProvider({ info, target }: Entry, dependencies: GenerateDependencies): Provider {
  return {
    ...info,
    async generate(request, call) {
      if (!info.configured) throw notConfigured(info.id);
      return target === undefined ? echo(request, call) : generate(target, request, call, dependencies);
    },
  };
}

function echoEntry(settings: ProviderSettings): Entry {
  return { info: { id: 'echo', ...fromCatalog('echo', settings), configured: true } };
}

function builtInEntry(id: RemoteProviderId, settings: ProviderSettings, fetch: Fetch): Entry {
  const { isConfigured, load, systemFirst, options } = remoteProviders[id];
  const own = settings.builtIn[id] ?? {};
  return {
    info: { id, ...fromCatalog(id, settings), configured: isConfigured(own) },
    target: {
      id,
      models: once(() => load(own, fetch)),
      toPrompt: systemFirst ? toPromptWithSystemFirst : toPrompt,
      ...(options && { options }),
      queue: createCallQueue(settings.concurrency),
    },
  };
}

function compatibleEntry(provider: CompatibleProviderSettings, settings: ProviderSettings, fetch: Fetch): Entry {
  const { id, name } = provider;
  const models = extended(provider.models, id, settings);
  return {
    info: { id, name, models, defaultModel: provider.defaultModel ?? models[0] ?? '', configured: true },
    target: {
      id,
      models: once(() => loadCompatible(provider, fetch)),
      toPrompt,
      queue: createCallQueue(settings.concurrency),
    },
  };
}

/**
 * Test runs make twenty calls each and can wait: they have half of the places. An eighth of them stays out of the reach of
 * a key that has that many already, so that calls which hang hold up only the key that made them.
 */
function createCallQueue(places: number): FairQueue {
  return createFairQueue({ places, reserved: Math.floor(places / 8), background: Math.ceil(places / 2) });
}

function fromCatalog(
  id: BuiltInProviderId,
  settings: ProviderSettings,
): Pick<ProviderInfo, 'name' | 'models' | 'defaultModel'> {
  const { name, models, defaultModel } = catalog[id];
  return { name, models: extended(models, id, settings), defaultModel };
}

function extended(models: readonly string[], id: string, settings: ProviderSettings): string[] {
  const more = Object.hasOwn(settings.models, id) ? settings.models[id] : undefined;
  return [...new Set([...models, ...(more ?? [])])];
}

/**
 * Caches what the first call loads, and the models created since. A failure is not cached. Some packages compile
 * schemas for each model made, which costs ten times what a call does.
 */
function once(load: () => Promise<LanguageModels>): () => Promise<LanguageModels> {
  let loaded: Promise<LanguageModels> | undefined;
  return () => {
    loaded ??= load().then(remembering, (error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

function remembering(make: LanguageModels): LanguageModels {
  // Bounded, because callers may name any model.
  const made = new LRUCache<string, LanguageModelV4>({ max: 100 });
  return (model) => {
    let known = made.get(model);
    if (known === undefined) {
      known = make(model);
      made.set(model, known);
    }
    return known;
  };
}

function notConfigured(provider: string): ProblemError {
  return new ProblemError('provider-not-configured', {
    detail: `The provider "${provider}" is not configured.`,
    extensions: { provider },
  });
}
