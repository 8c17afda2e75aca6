import type { Integration } from './integration.ts';
import type { IntegrationStore } from './integration-store.ts';
import { renewSeals, sealedValues } from './sealed-values.ts';
import type { KeyUse, SecretBox } from '../../base/secrets/secret-box.ts';

/** How many stored values a key encrypts. */
export interface KeyCount {
  readonly keyId: string;
  readonly use: KeyUse;
  readonly values: number;
}

/** The secrets and headers of all integrations, and the keys that encrypt them. */
export interface StoredSecrets {
  /** Counts the values of each key. */
  count(): Promise<readonly KeyCount[]>;
  /** Encrypts the values of former keys with the current key, then counts. Other processes can do the same. */
  renew(): Promise<void>;
  /** The worst use of a key at the last count: a value whose key is missing, else one with a former key. */
  readonly worst: KeyUse;
}

export interface StoredSecretsOptions {
  readonly store: Pick<IntegrationStore, 'ids' | 'findMany' | 'replace'>;
  readonly secrets: SecretBox;
  readonly onCounted: (counts: readonly KeyCount[]) => void;
}

/** Integrations that are read at once. */
const pageSize = 200;

export function createStoredSecrets({ store, secrets, onCounted }: StoredSecretsOptions): StoredSecrets {
  let worst: KeyUse = 'current';

  async function* integrations(): AsyncGenerator<Integration> {
    for (let after = ''; ;) {
      const ids = await store.ids(after, pageSize);
      yield* await store.findMany(ids);
      const last = ids.at(-1);
      if (last === undefined || ids.length < pageSize) return;
      after = last;
    }
  }

  const count = async (visit?: (integration: Integration) => Promise<Integration>): Promise<readonly KeyCount[]> => {
    const counts = new Map<string, { keyId: string; use: KeyUse; values: number }>();
    for await (const found of integrations()) {
      for (const sealed of sealedValues((await visit?.(found)) ?? found)) {
        const { keyId, use } = secrets.keyOf(sealed);
        const known = counts.get(keyId);
        if (known === undefined) counts.set(keyId, { keyId, use, values: 1 });
        else known.values += 1;
      }
    }
    const all = [...counts.values()];
    worst = (['missing', 'former'] as const).find((use) => all.some((each) => each.use === use)) ?? 'current';
    onCounted(all);
    return all;
  };

  return {
    count: () => count(),
    async renew() {
      await count(async (integration) => {
        if (sealedValues(integration).every((sealed) => secrets.keyOf(sealed).use !== 'former')) return integration;
        // If another writer was first, the next run renews what is left.
        return (await store.replace(renewSeals(integration, secrets), undefined)) ?? integration;
      });
    },
    get worst() {
      return worst;
    },
  };
}
