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
