import type { Scope } from '../../../generated/operations.ts';
import { insufficientScope } from '../../base/errors/insufficient-scope.ts';
import type { Reach } from '../../base/limits/reach.ts';
import type { Prompts } from '../prompts.ts';
import { isListed, listedModels, type ProviderRegistry } from '../../models/provider.ts';
import { withinReach } from '../../models/within-reach.ts';
import { modelNotFound, parseModelName } from './model-name.ts';

/** Something that `model` can be. */
export interface Model {
  readonly id: string;
  /** Undefined for a model of a provider. */
  readonly createdAt: Date | undefined;
  readonly owner: string;
}

/** The stored prompts and the models of configured providers, as far as a key may use them. */
export interface Models {
  list(caller: ModelsCaller): Promise<Model[]>;
  /** @throws {ProblemError} model-not-found, prompt-not-found, insufficient-scope */
  get(id: string, caller: ModelsCaller): Promise<Model>;
}

/** What a key may use. */
export interface ModelsCaller {
  readonly scopes: ReadonlySet<Scope>;
  readonly reach?: Reach | undefined;
}

export interface ModelsDependencies {
  readonly prompts: Pick<Prompts, 'get' | 'listNames'>;
  readonly providers: Pick<ProviderRegistry, 'list'>;
}

/** The most prompts of the list; the contract states it. */
const maxPrompts = 1_000;

export function createModels({ prompts, providers }: ModelsDependencies): Models {
  return {
    async list({ scopes, reach }) {
      const names = scopes.has('prompts:invoke') ? await prompts.listNames(maxPrompts, reach) : [];
      const reachable = scopes.has('providers:invoke') ? withinReach(providers.list(), reach) : [];
      const configured = reachable.filter((one) => one.configured);
      return [
        ...names.map(({ slug, createdAt }) => promptModel(`prompt/${slug}`, createdAt)),
        ...configured.flatMap((one) => listedModels(one).map((model) => providerModel(one.id, model))),
      ];
    },
    async get(id, { scopes, reach }) {
      const reachable = withinReach(providers.list(), reach);
      const name = parseModelName(id, { list: () => reachable });
      if ('prompt' in name && name.at === undefined) {
        if (!scopes.has('prompts:invoke')) throw insufficientScope('prompts:invoke');
        const { createdAt } = await prompts.get(name.prompt, reach);
        return promptModel(id, createdAt);
      }
      if ('provider' in name) {
        if (!scopes.has('providers:invoke')) throw insufficientScope('providers:invoke');
        const provider = reachable.find((one) => one.id === name.provider);
        if (provider?.configured === true && isListed(provider, name.model)) {
          return providerModel(provider.id, name.model);
        }
      }
      throw modelNotFound(`There is no model ${JSON.stringify(id)} in the list.`, 'is not in the list');
    },
  };
}

function promptModel(id: string, createdAt: Date): Model {
  return { id, createdAt, owner: 'prompt-gateway' };
}

function providerModel(provider: string, model: string): Model {
  return { id: `${provider}/${model}`, createdAt: undefined, owner: provider };
}
