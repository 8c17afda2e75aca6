import { requireUniqueIds } from '../unique-ids.ts';
import type { Zone } from './location.ts';

/** Zones as a caller sends them. The server creates ids that are left out. */
export type ZonesInput = readonly {
  readonly id?: string;
  readonly name: string;
  readonly spots?: readonly { readonly id?: string; readonly name: string }[];
}[];

/** A zone as it was sent. Without spots it keeps its stored ones. */
export type SentZone = Omit<Zone, 'spots'> & { readonly spots: Zone['spots'] | undefined };

/** Completes zones that were sent without spots by their stored ones, except those that were moved to another zone. */
export function withKeptSpots(sent: readonly SentZone[], present: readonly Zone[]): Zone[] {
  const moved = new Set(sent.flatMap(({ spots = [] }) => spots.map(({ id }) => id)));
  const kept = new Map(present.map(({ id, spots }) => [id, spots.filter((spot) => !moved.has(spot.id))]));
  return sent.map(({ id, name, spots }) => ({ id, name, spots: spots ?? kept.get(id) ?? [] }));
}

/**
 * Gives ids to zones and spots without one.
 * @throws ProblemError `invalid-request` when two zones, or two spots of the location, have the same id
 */
export function toZones(input: ZonesInput, newId: () => string): SentZone[] {
  const zones = input.map(({ id = newId(), name, spots }) => ({
    id,
    name,
    spots: spots?.map((spot) => ({ id: spot.id ?? newId(), name: spot.name })),
  }));
  requireUniqueIds(
    zones.map(({ id }, zone) => ({ id, pointer: `#/zones/${zone}/id` })),
    zones.flatMap(({ spots = [] }, zone) =>
      spots.map(({ id }, spot) => ({ id, pointer: `#/zones/${zone}/spots/${spot}/id` })),
    ),
  );
  return zones;
}
