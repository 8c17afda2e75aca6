import { eventCatalog, eventTypes } from '../../generated/events.ts';
import type { components } from '../../generated/types.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { answerPage } from '../http/page.ts';
import { listingOf } from '../lists/listing.ts';

type Schemas = components['schemas'];

/** The contract's operations on types of events. */
export function eventOperations(): Pick<OperationHandlers, 'listEventTypes'> {
  const listing = listingOf(eventTypes, (type) => ({ at: eventTypes.indexOf(type), id: type }));
  return {
    listEventTypes: (input) => answerPage(input, () => listing, represent),
  };
}

function represent(name: (typeof eventTypes)[number]): Schemas['EventType'] {
  const { description, subscribable, schema, example } = eventCatalog[name];
  return { type: name, description, subscribable, schema, example };
}
