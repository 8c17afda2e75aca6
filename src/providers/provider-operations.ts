import type { OperationHandlers } from '../http/operation.ts';
import type { ProviderRegistry } from './provider.ts';

export function providerOperations(registry: ProviderRegistry): Pick<OperationHandlers, 'listProviders'> {
  return {
    listProviders: async () => ({
      status: 200,
      body: registry.list().map(({ id, name, models, defaultModel, configured, settings }) => ({
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
      })),
    }),
  };
}
