import { requireUnchanged } from '../../../base/editing/read-only-fields.ts';
import { ifMatch, revisionTag } from '../../../http/conditional.ts';
import { locationsInReach } from '../../../base/limits/reach.ts';
import type { OperationHandlers } from '../../../http/operation.ts';
import { answerPage } from '../../../http/list-answer.ts';
import { locationFields } from './location.ts';
import type { Locations } from './locations.ts';
import { toZones, withKeptSpots } from './zones.ts';
import { systemRandom, type Random } from '../../../base/runtime/random.ts';

type LocationOperations = Pick<
  OperationHandlers,
  'createLocation' | 'listLocations' | 'getLocation' | 'updateLocation'
>;

const collectionPath = '/v1/locations';

export function locationOperations(locations: Locations, random: Random = systemRandom): LocationOperations {
  return {
    async createLocation({ body, context }) {
      const content = locationFields.readNew({
        ...body,
        zones: withKeptSpots(toZones(body.zones ?? [], random.uuid), []),
      });
      const location = await locations.create(content, context.resourceId, context);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${location.id}`, ETag: revisionTag(location) },
        body: locationFields.show(location),
      };
    },
    listLocations: (input) =>
      answerPage(
        input,
        () => {
          const ids = locationsInReach(input.context.principal.reach, undefined);
          return locations.list(input.query.archived ?? 'exclude', ids);
        },
        locationFields.show,
      ),
    async getLocation({ path }) {
      const location = await locations.get(path.id);
      return { status: 200, headers: { ETag: revisionTag(location) }, body: locationFields.show(location) };
    },
    async updateLocation({ path, headers, body, context }) {
      const zones = body.zones === undefined ? undefined : toZones(body.zones, random.uuid);
      const { zones: _, ...others } = body;
      const location = await locations.update(
        path.id,
        { ...locationFields.readChange(others), zones },
        (present) =>
          ifMatch(headers['If-Match'], revisionTag(present)) &&
          requireUnchanged(locationFields.others(body), locationFields.show(present)),
        context,
      );
      return { status: 200, headers: { ETag: revisionTag(location) }, body: locationFields.show(location) };
    },
  };
}
