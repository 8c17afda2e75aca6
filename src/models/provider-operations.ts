import type { OperationHandlers } from '../http/operation.ts';
import type { ProviderRegistry } from './provider.ts';
import { withinReach } from './within-reach.ts';

export function providerOperations(registry: ProviderRegistry): Pick<OperationHandlers, 'listProviders'> {
  return {
    listProviders: async ({ context }) => ({
      status: 200,
      body: withinReach(registry.list(), context.principal.reach).map(
        ({ id, name, models, defaultModel, configured, settings }) => ({
          id,
          name,
          models: [...models],
          defaultModel,
          configured,
          settings: settings.map(({ name: variable, required, set, description }) => ({
            name: variable,
            required,
            set,
            description,
          })),
        }),
      ),
    }),
  };
}
