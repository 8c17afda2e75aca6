import type { components } from '../../generated/types.ts';
import { defined } from '../base/runtime/objects.ts';
import { isOutage } from '../base/errors/outage.ts';
import { reachesAll } from '../base/limits/reach.ts';
import type { OperationHandlers } from '../http/operation.ts';
import type { ProviderRegistry } from './provider.ts';
import type { ProviderFailure, ProviderHealth, RecentCalls } from './provider-health.ts';
import { withinReachOfPrompts } from './within-reach.ts';

type Shown = NonNullable<components['schemas']['Provider']['health']>;

/** Reads how the calls of providers ended, by their ids. */
export interface ReadHealth {
  ofProviders(ids: readonly string[]): Promise<ReadonlyMap<string, ProviderHealth & RecentCalls>>;
}

export function providerOperations(
  registry: ProviderRegistry,
  calls: ReadHealth,
): Pick<OperationHandlers, 'listProviders'> {
  return {
    async listProviders({ context }) {
      const { reach } = context.principal;
      const providers = withinReachOfPrompts(registry.list(), reach);
      // What others' calls said is not for a key with limits.
      const ids = reachesAll(reach) ? providers.filter(({ configured }) => configured).map(({ id }) => id) : [];
      const health = await calls.ofProviders(ids).catch(withoutDatabase);
      const body = providers.map(({ id, name, models, defaultModel, configured, settings }) => {
        const found = health.get(id);
        return {
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
          ...(found && { health: showHealth(found) }),
        };
      });
      return { status: 200, body };
    },
  };
}

/** The providers themselves are known without the database. */
function withoutDatabase(error: unknown): Map<string, never> {
  if (isOutage(error)) return new Map<string, never>();
  throw error;
}

function showHealth({ succeeded, failed, ...health }: ProviderHealth & RecentCalls): Shown {
  const { lastSuccessAt, failingSince, lastFailure } = health;
  return {
    status: failingSince === undefined ? 'ok' : 'failing',
    succeeded,
    failed,
    ...(lastSuccessAt && { last_success_at: lastSuccessAt.toISOString() }),
    ...(failingSince && { failing_since: failingSince.toISOString() }),
    ...(lastFailure && { last_failure: showFailure(lastFailure) }),
  };
}

function showFailure({
  at,
  problem,
  detail,
  status,
  code,
  message,
}: ProviderFailure): NonNullable<Shown['last_failure']> {
  return {
    at: at.toISOString(),
    problem: `urn:prompt-gateway:problem:${problem}`,
    ...defined({ detail, provider_status: status, provider_code: code, provider_message: message }),
  };
}
