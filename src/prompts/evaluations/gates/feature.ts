import type { ProviderRegistry } from '../../../models/provider.ts';
import type { Basis } from '../../../storage/db/basis.ts';
import type { Verdicts } from '../../labels/candidacy.ts';
import type { GateSettings } from '../../labels/gate-settings.ts';
import { createEvaluationStore } from '../runs/evaluation-store.ts';
import { comparisonsOf } from './comparisons.ts';
import { decisionOf } from './decisions.ts';
import { gateOperations } from './gate-operations.ts';
import { createGates, type GatesDependencies } from './gates.ts';

type Providers = Pick<ProviderRegistry, 'get'>;

/** For whoever moves labels. */
export function createVerdicts({ database, clock }: Basis, providers: Providers): Verdicts {
  const store = createEvaluationStore(database);
  return {
    decide: async (candidacy) => decisionOf(candidacy, await comparisonsOf(candidacy, { store, providers, clock })),
    keep: store.keep,
  };
}

export function createGateFeature(
  { database, clock }: Basis,
  given: Omit<GatesDependencies, 'store' | 'clock'> & { readonly settings: GateSettings },
) {
  const gates = createGates({ ...given, store: createEvaluationStore(database), clock });
  return { operations: gateOperations(given.settings, gates) };
}
