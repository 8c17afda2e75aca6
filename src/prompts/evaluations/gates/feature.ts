import type { ProviderRegistry } from '../../../models/provider.ts';
import type { Basis } from '../../../storage/db/basis.ts';
import type { Decide } from '../../labels/candidacy.ts';
import { createEvaluationStore } from '../runs/evaluation-store.ts';
import { comparisonsOf } from './comparisons.ts';
import { decisionOf } from './decisions.ts';
import { gateOperations } from './gate-operations.ts';
import { createGates, type GatesDependencies } from './gates.ts';
import type { Labels } from '../../labels/labels.ts';

type Providers = Pick<ProviderRegistry, 'get'>;

/** What gates say, for whoever moves labels. */
export function createDecide({ database, clock }: Basis, providers: Providers): Decide {
  const dependencies = { store: createEvaluationStore(database), providers, clock };
  return async (candidacy) => decisionOf(candidacy, await comparisonsOf(candidacy, dependencies));
}

export function createGateFeature(
  { database, clock }: Basis,
  given: Omit<GatesDependencies, 'store' | 'clock'> & { readonly labels: Labels },
) {
  const gates = createGates({ ...given, store: createEvaluationStore(database), clock });
  return { operations: gateOperations(given.labels, gates) };
}
