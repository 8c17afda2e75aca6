/** How many calls evaluations make at the same time, and how many evaluations run. */
import { createFairQueue, type FairQueue } from '../../../base/limits/fair-queue.ts';
import type { ProviderRegistry } from '../../../models/provider.ts';
import type { ActiveEvaluation, Place } from './evaluation-store.ts';

/** The contract has the same numbers. */
const mostAtOnce = 10;
const mostOfFamily = 2;

/** The places of a provider that needs no network. */
const localPlaces = 32;

/** The places of a provider that evaluations use in this process. */
export interface CallPlaces {
  readonly count: number;
  readonly queue: FairQueue;
}

/** Evaluations use a quarter of the places of a provider in this process. */
export function createCallPlaces(providers: Pick<ProviderRegistry, 'load'>): (provider: string) => CallPlaces {
  const all = new Map<string, CallPlaces>();
  return (provider) => {
    const known = all.get(provider);
    if (known !== undefined) return known;
    const { limit = localPlaces } = providers.load().providers.find((one) => one.provider === provider) ?? {};
    const count = Math.ceil(limit / 4);
    const places = { count, queue: createFairQueue({ places: count }) };
    all.set(provider, places);
    return places;
  };
}

/** A free place for an evaluation; undefined if it has to wait. */
export function freePlace(active: readonly ActiveEvaluation[], family: string): Place | undefined {
  const taken = new Set(active.flatMap(({ slot, keySlot }) => [slot, keySlot]));
  const free = (names: readonly string[]): string | undefined => names.find((name) => !taken.has(name));
  const slot = free(Array.from({ length: mostAtOnce }, (_, number) => `${number}`));
  const keySlot = free(Array.from({ length: mostOfFamily }, (_, number) => `${family}/${number}`));
  return slot === undefined || keySlot === undefined ? undefined : { slot, keySlot };
}
