import { eventCatalog, eventTypes } from '../../generated/events.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { nextPageLink } from '../http/page.ts';

/** The contract's operations on types of events. */
export function eventOperations(): Pick<OperationHandlers, 'listEventTypes'> {
  return {
    listEventTypes({ query: { limit = 20, offset = 0 } }) {
      const found = eventTypes.slice(offset, offset + limit);
      const pagination = { total: eventTypes.length, limit, offset };
      return Promise.resolve({
        status: 200,
        headers: nextPageLink('/api/v1/event-types', pagination, found.length),
        body: {
          data: found.map((type) => {
            const { description, subscribable, schema, example } = eventCatalog[type];
            return { type, description, subscribable, schema, example };
          }),
          pagination,
        },
      });
    },
  };
}
