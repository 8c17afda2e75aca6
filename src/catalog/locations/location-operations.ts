import { randomUUID } from 'node:crypto';
import { ifMatch } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { answerPage } from '../../http/page.ts';
import { locationFields, type Location } from './location.ts';
import type { Locations } from './locations.ts';
import { toZones } from './zones.ts';

type LocationOperations = Pick<
  OperationHandlers,
  'createLocation' | 'listLocations' | 'getLocation' | 'updateLocation'
>;

const collectionPath = '/v1/locations';

/** The contract's operations on locations. */
export function locationOperations(locations: Locations, newId: () => string = randomUUID): LocationOperations {
  return {
    async createLocation({ body, context }) {
      const content = locationFields.readNew({ ...body, zones: toZones(body.zones ?? [], newId) });
      const location = await locations.create(content, context.resourceId);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${location.id}`, ETag: entityTag(location) },
        body: locationFields.show(location),
      };
    },
    listLocations: (input) => answerPage(input, () => locations.list(), locationFields.show),
    async getLocation({ path }) {
      const location = await locations.get(path.id);
      return { status: 200, headers: { ETag: entityTag(location) }, body: locationFields.show(location) };
    },
    async updateLocation({ path, headers, body }) {
      const zones = body.zones === undefined ? undefined : toZones(body.zones, newId);
      const change = { ...locationFields.readChange({ ...body, zones }), currency: body.currency };
      const location = await locations.update(path.id, change, (present) =>
        ifMatch(headers['If-Match'], entityTag(present)),
      );
      return { status: 200, headers: { ETag: entityTag(location) }, body: locationFields.show(location) };
    },
  };
}

/** The entity tag of a location: another one after each change. */
function entityTag({ id, revision }: Location): string {
  return `"${id}.${revision}"`;
}
