import { eventTypes } from '../../../generated/events.ts';
import type { components } from '../../../generated/types.ts';
import type { ProblemDetails } from '../../http/problem-response.ts';
import type { EventSource } from '../../http/event-streams.ts';
import type { OperationHandlers, OperationInput } from '../../http/operation.ts';
import { invalidParameters } from '../../http/parameters.ts';
import { serverSentEvent } from '../../http/server-sent-events.ts';
import { JsonText } from '../../base/runtime/json-text.ts';
import { readCursor, writeCursor, type FeedPosition } from './cursor.ts';
import type { Feed, FeedFilter, PlacedEvent } from './feed.ts';

type FeedPage = components['schemas']['EventFeed'];

/** The contract's operation on the feed of events. */
export function feedOperations(feed: Feed): Pick<OperationHandlers, 'listEvents'> {
  return {
    async listEvents(input) {
      const { query, context } = input;
      const filter: FeedFilter = {
        types: typesOf(query.type),
        locationId: query.location_id,
        targetId: query.target_id,
        reach: context.principal.reach,
      };
      const from = startOf(input) ?? (await feed.start(query.after === 'now' ? 'now' : 'oldest'));
      if (context.wantsEventStream) {
        const { stream } = await context.streamEvents(streamOf(feed, filter, from, context.principal.family));
        return { status: 200, stream };
      }
      const { events, next, more } = await feed.page(filter, from, query.limit ?? 20);
      const data = `[${events.map(({ body }) => Buffer.from(body).toString()).join(',')}]`;
      // The events are as they were sent, to the byte.
      return {
        status: 200,
        body: new JsonText<FeedPage>(`{"data":${data},"next":"${writeCursor(next)}","more":${more}}`),
      };
    },
  };
}

/** @throws {ProblemError} invalid-request for a name that no event has, because it would silently keep all away */
function typesOf(names: string | undefined): FeedFilter['types'] {
  if (names === undefined) return undefined;
  const types = names.split(',');
  const unknown = types.find((name) => !eventTypes.some((type) => type === name));
  if (unknown === undefined) return new Set(types);
  throw invalidParameters([{ detail: `must not have ${unknown}, which is no type of event`, parameter: 'type' }]);
}

/** @returns undefined if it is not a cursor that says where to begin */
function startOf({ query, headers }: OperationInput<'listEvents'>): FeedPosition | undefined {
  const last = headers['Last-Event-ID'];
  const { after } = query;
  const cursor = last ?? (after === 'now' ? undefined : after);
  if (cursor === undefined) return undefined;
  const position = readCursor(cursor);
  if (position !== undefined) return position;
  const detail = 'must be the next of a page of the feed, or the id of an event of a stream';
  throw invalidParameters([last === undefined ? { detail, parameter: 'after' } : { detail, header: 'Last-Event-ID' }]);
}

function streamOf(
  feed: Feed,
  filter: FeedFilter,
  from: FeedPosition,
  family: string,
): EventSource<PlacedEvent | FeedPosition> {
  return {
    open: (signal) => feed.follow(filter, from, family, signal),
    isEndless: true,
    isLast: () => false,
    encoder: () => ({
      encode: (event) =>
        'body' in event
          ? `id: ${writeCursor(event.position)}\ndata: ${Buffer.from(event.body).toString()}\n\n`
          : `id: ${writeCursor(event)}\n\n`,
      fail: (_problem, details: ProblemDetails) => serverSentEvent(details, 'problem'),
    }),
  };
}
