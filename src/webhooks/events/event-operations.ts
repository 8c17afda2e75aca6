import { eventCatalog, eventTypes } from '../../../generated/events.ts';
import type { components } from '../../../generated/types.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { OperationHandlers, OperationResult } from '../../http/operation.ts';
import { answerPage } from '../../http/list-answer.ts';
import { prepareJson } from '../../http/static-body.ts';
import { listingOf } from '../../base/lists/listing.ts';

type Schemas = components['schemas'];

/** The contract's operations on types of events. */
export function eventOperations(): Pick<OperationHandlers, 'listEventTypes' | 'getEventTypeSchema'> {
  const prepared = new Map<string, PreparedSchema>(eventTypes.map((type) => [type, prepareSchema(type)]));
  const listing = listingOf(eventTypes, (type) => ({ at: eventTypes.indexOf(type), id: type }));
  return {
    listEventTypes: (input) => answerPage(input, () => listing, represent),
    async getEventTypeSchema({ path: { type } }) {
      const schema = prepared.get(type);
      if (schema !== undefined) return Promise.resolve(schema);
      throw new ProblemError('event-type-not-found', { detail: `No event type has the name ${type}.` });
    },
  };
}

type PreparedSchema = OperationResult<'getEventTypeSchema'>;

/** The bytes are those of the file in `generated/event-schemas/`. */
function prepareSchema(type: (typeof eventTypes)[number]): PreparedSchema {
  const { schema } = eventCatalog[type];
  return { status: 200, body: schema, prepared: prepareJson(`${JSON.stringify(schema, null, 2)}\n`) };
}

function represent(name: (typeof eventTypes)[number]): Schemas['EventType'] {
  const { description, subscribable, schema, example } = eventCatalog[name];
  return { type: name, description, subscribable, schema, example };
}
