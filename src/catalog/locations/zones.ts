import { ProblemError, type ProblemDetail } from '../../errors/problem-error.ts';
import type { Zone } from './location.ts';

/** Zones as a caller sends them: an id that is left out is made by the server. */
export type ZonesInput = readonly {
  readonly id?: string;
  readonly name: string;
  readonly spots?: readonly { readonly id?: string; readonly name: string }[];
}[];

/**
 * Gives ids to the zones and spots that have none.
 * @throws ProblemError `invalid-request` when two zones, or two spots of the location, have the same id
 */
export function toZones(input: ZonesInput, newId: () => string): Zone[] {
  const zones = input.map(({ id = newId(), name, spots = [] }) => ({
    id,
    name,
    spots: spots.map((spot) => ({ id: spot.id ?? newId(), name: spot.name })),
  }));
  requireUnique([
    ...repeated(zones.map(({ id }, zone) => ({ id, pointer: `#/zones/${zone}/id` }))),
    ...repeated(
      zones.flatMap(({ spots }, zone) =>
        spots.map(({ id }, spot) => ({ id, pointer: `#/zones/${zone}/spots/${spot}/id` })),
      ),
    ),
  ]);
  return zones;
}

function repeated(ids: readonly { id: string; pointer: string }[]): ProblemDetail[] {
  const seen = new Set<string>();
  return ids.flatMap(({ id, pointer }) => {
    if (seen.has(id)) return [{ detail: 'is the id of another one too', pointer }];
    seen.add(id);
    return [];
  });
}

function requireUnique(errors: ProblemDetail[]): void {
  if (errors.length === 0) return;
  throw new ProblemError('invalid-request', { detail: 'The body of the request is not valid.', errors });
}
