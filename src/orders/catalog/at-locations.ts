import type { Source, Stored } from '../../storage/db/pages.ts';

/**
 * The condition that documents are of one of some locations, for a list.
 * @param locationIds undefined for all
 */
export function atLocations(locationIds: readonly string[] | undefined): Pick<Source<Stored>, 'where' | 'rest'> {
  if (locationIds === undefined) return { where: {} };
  const [only = '', ...others] = locationIds;
  // An index begins with the location, but serves only one of them. Without any, it finds nothing.
  return others.length === 0
    ? { where: { location_id: only } }
    : { where: {}, rest: { location_id: { $in: [...locationIds] } } };
}
