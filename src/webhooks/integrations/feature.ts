import type { Basis } from '../../storage/db/basis.ts';
import type { SecretBox } from '../../base/secrets/secret-box.ts';
import { createIntegrationDirectory, type IntegrationDirectory } from './directory.ts';
import { integrationOperations, type ReadDeliveries, type ReadCondition } from './integration-operations.ts';
import { createIntegrationStore } from './integration-store.ts';
import { createIntegrations, type IntegrationsOptions } from './integrations.ts';
import { createStoredSecrets, type StoredSecretsOptions } from './stored-secrets.ts';

export interface IntegrationFeatureOptions extends Pick<IntegrationsOptions, 'locations' | 'checkUrl'> {
  readonly secrets: SecretBox;
  readonly onCounted: StoredSecretsOptions['onCounted'];
  /** What sends events. */
  readonly engine: Pick<IntegrationsOptions, 'nudge' | 'attemptNow'>;
}

/** How the engine reads integrations. */
export function createDirectory({ database }: Basis, secrets: SecretBox): IntegrationDirectory {
  return createIntegrationDirectory(createIntegrationStore(database), secrets);
}

export function createIntegrationFeature({ database, clock, random }: Basis, options: IntegrationFeatureOptions) {
  const { secrets, onCounted, engine, ...rest } = options;
  const store = createIntegrationStore(database);
  const integrations = createIntegrations({
    ...rest,
    clock,
    random,
    store,
    secrets,
    nudge: (id) => {
      engine.nudge(id);
    },
    attemptNow: (id) => {
      engine.attemptNow(id);
    },
  });
  const storedSecrets = createStoredSecrets({ store, secrets, onCounted });
  return {
    integrations,
    storedSecrets,
    operations: (receivers: ReadCondition, deliveries: ReadDeliveries) =>
      integrationOperations(integrations, receivers, deliveries),
    chores: [{ name: 'stored secrets', everyMs: 10 * 60_000, isImmediate: true, run: () => storedSecrets.renew() }],
  };
}
