import { ProblemError } from '../../errors/problem-error.ts';
import type { Location } from './location.ts';
import type { Locations } from './locations.ts';

/**
 * The location that a request body names as `location_id`.
 * @throws ProblemError `unknown-location`
 */
export async function requireLocation(locations: Pick<Locations, 'find'>, id: string): Promise<Location> {
  const location = await locations.find(id);
  if (location !== undefined) return location;
  throw new ProblemError('unknown-location', {
    detail: `No location has the id ${id}.`,
    errors: [{ detail: 'is not the id of a location', pointer: '#/location_id' }],
  });
}

/**
 * Categories and products stay at their location; a request may repeat it.
 * @throws ProblemError `location-fixed`
 */
export function requireSameLocation(present: { readonly locationId: string }, sent: string | undefined): void {
  if (sent === undefined || sent === present.locationId) return;
  throw new ProblemError('location-fixed', {
    detail: `It belongs to the location ${present.locationId} and cannot be moved to another.`,
    errors: [{ detail: `must be ${present.locationId}, or left out`, pointer: '#/location_id' }],
  });
}
