import { randomUUID } from 'node:crypto';
import type { components } from '../../../generated/types.ts';
import { ifMatch } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { nextPageLink } from '../../http/page.ts';
import type { Location } from './location.ts';
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
      const { name, currency, timezone, fiscal_day_end, tax_rate_bp, fee_rate_bp, zones } = body;
      const content = {
        ...{ name, currency, timezone },
        fiscalDayEnd: fiscal_day_end ?? '00:00',
        taxRate: tax_rate_bp ?? 0,
        feeRate: fee_rate_bp ?? 0,
        zones: toZones(zones ?? [], newId),
      };
      const location = await locations.create(content, context.resourceId);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${location.id}`, ETag: entityTag(location) },
        body: represent(location),
      };
    },
    async listLocations({ query: { limit = 20, offset = 0 } }) {
      const { locations: found, total } = await locations.list(limit, offset);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(collectionPath, pagination, found.length),
        body: { data: found.map(represent), pagination },
      };
    },
    async getLocation({ path }) {
      const location = await locations.get(path.id);
      return { status: 200, headers: { ETag: entityTag(location) }, body: represent(location) };
    },
    async updateLocation({ path, headers, body }) {
      const { name, currency, timezone, fiscal_day_end, tax_rate_bp, fee_rate_bp, zones } = body;
      const change = {
        ...{ name, currency, timezone },
        fiscalDayEnd: fiscal_day_end,
        taxRate: tax_rate_bp,
        feeRate: fee_rate_bp,
        zones: zones === undefined ? undefined : toZones(zones, newId),
      };
      const location = await locations.update(path.id, change, (present) =>
        ifMatch(headers['If-Match'], entityTag(present)),
      );
      return { status: 200, headers: { ETag: entityTag(location) }, body: represent(location) };
    },
  };
}

/** The entity tag of a location: another one after each change. */
function entityTag({ id, revision }: Location): string {
  return `"${id}.${revision}"`;
}

function represent(location: Location): components['schemas']['Location'] {
  return {
    id: location.id,
    name: location.name,
    currency: location.currency,
    timezone: location.timezone,
    fiscal_day_end: location.fiscalDayEnd,
    tax_rate_bp: location.taxRate,
    fee_rate_bp: location.feeRate,
    zones: location.zones.map(({ id, name, spots }) => ({
      id,
      name,
      spots: spots.map((spot) => ({ id: spot.id, name: spot.name })),
    })),
    created_at: location.createdAt.toISOString(),
    updated_at: location.updatedAt.toISOString(),
  };
}
