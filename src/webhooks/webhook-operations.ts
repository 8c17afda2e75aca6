import { ProblemError } from '../base/errors/problem-error.ts';
import { revisionTag } from '../http/conditional.ts';
import { mayReachLocation, mayReachLocations } from '../base/limits/reach.ts';
import type { OperationHandlers, OperationInput, RequestContext } from '../http/operation.ts';
import { answerPage } from '../http/list-answer.ts';
import type { Condition } from './integrations/condition.ts';
import { readyFilter, requireApplicable } from './integrations/event-filter.ts';
import type { Integration } from './integrations/integration.ts';
import type { Integrations } from './integrations/integrations.ts';
import type { EventStore } from './events/event-store.ts';
import { sampleEvent } from './events/samples.ts';
import { readPayload } from './events/serialise.ts';
import { emptyListing, listingOf, withLookUp, type Listing } from '../base/lists/listing.ts';
import { toInstant } from '../base/runtime/instants.ts';
import type { Deliveries } from './deliveries/deliveries.ts';
import type { Delivery, DeliveryWithBody } from './deliveries/delivery.ts';
import type { DeliveryFilter } from './deliveries/delivery-lists.ts';
import type { Replays } from './replays/replays.ts';
import {
  canHave,
  deliveryTag,
  representAttempt,
  representDelivery,
  representFiltered,
  representListedDelivery,
  representReplay,
  storedStatus,
  type StatusFilter,
} from './webhook-representation.ts';
import type { Clock } from '../base/runtime/clock.ts';

type WebhookOperations = Pick<
  OperationHandlers,
  | 'previewIntegrationFilter'
  | 'sendTestEvent'
  | 'createReplay'
  | 'listReplays'
  | 'getReplay'
  | 'listDeliveries'
  | 'getDelivery'
  | 'listDeliveryAttempts'
  | 'resendDelivery'
>;

export interface WebhookOperationsOptions {
  readonly integrations: Pick<
    Integrations,
    'get' | 'find' | 'findMany' | 'idsWithin' | 'inactiveIds' | 'requireReadable'
  >;
  readonly deliveries: Deliveries;
  readonly replays: Replays;
  readonly latestEvents: EventStore['latest'];
  /** The condition of receivers, by the ids of their integrations. */
  readonly conditions: (integrations: readonly Integration[]) => Promise<ReadonlyMap<string, Condition>>;
  readonly clock: Clock;
}

interface Listed {
  readonly delivery: Delivery;
  readonly integration: Integration;
  readonly pausedUntil: Date | undefined;
}

const deliveryPath = '/api/v1/deliveries';
/** Events of a preview. The contract has the same number. */
const previewed = 20;

/** The contract's operations on deliveries and replays. */
export function webhookOperations({
  integrations,
  deliveries,
  replays,
  latestEvents,
  conditions,
  clock,
}: WebhookOperationsOptions): WebhookOperations {
  /**
   * A delivery of an existing integration, within the reach of the caller. Deliveries of others will be deleted by a
   * sweep.
   */
  const getDelivery = async (
    id: string,
    { principal: { reach } }: RequestContext,
  ): Promise<{ delivery: DeliveryWithBody; integration: Integration }> => {
    const delivery = await deliveries.get(id);
    const integration = await integrations.find(delivery.integrationId);
    // An integration keeps its deliveries when it gets other locations.
    const isReached = delivery.isTest === true || mayReachLocations(reach, toList(delivery.locationId));
    if (integration !== undefined && isReached && mayReachLocations(reach, integration.locationIds)) {
      return { delivery, integration };
    }
    throw new ProblemError('delivery-not-found', { detail: `No delivery has the id ${id}.` });
  };

  /** When the pause of a receiver that failed ends, if there is one. */
  const pauseEnd = async (integration: Integration): Promise<Date | undefined> =>
    (await conditions([integration])).get(integration.id)?.retryingUntil;

  /** The condition of the receivers of deliveries, if any of them is pending. */
  const statesOf = async (
    found: readonly Delivery[],
    known: readonly Integration[],
  ): Promise<ReadonlyMap<string, Condition>> =>
    found.some(({ status }) => status === 'pending') ? conditions(known) : new Map();
  const representListed = ({ delivery, ...state }: Listed) =>
    representListedDelivery(delivery, { ...state, now: clock.now() });

  /** The filter of a status; undefined if no delivery can have it. */
  const statusFilter = async (
    status: StatusFilter | undefined,
    integrationId: string | undefined,
  ): Promise<Pick<DeliveryFilter, 'status' | 'hasFailed' | 'integrations'> | undefined> => {
    if (status === undefined) return {};
    if (integrationId !== undefined) {
      const integration = await integrations.find(integrationId);
      return integration !== undefined && canHave(status, integration) ? storedStatus(status) : undefined;
    }
    const stored = storedStatus(status);
    if (stored.status !== 'pending' || status === 'waiting') return stored;
    const inactive = await integrations.inactiveIds();
    if (inactive.length === 0) return status === 'held' ? undefined : stored;
    return { ...stored, integrations: status === 'held' ? { among: inactive } : { except: inactive } };
  };

  return {
    async previewIntegrationFilter({ body, context }) {
      const { event_types: eventTypes, location_ids: wanted = [], filter, limit = previewed } = body;
      requireApplicable({ filter, eventTypes });
      const { reach } = context.principal;
      const reached = reach?.locations && [...reach.locations];
      const locations = wanted.length === 0 ? reached : wanted.filter((id) => mayReachLocation(reach, id));
      const ready = readyFilter(filter);
      const data: ReturnType<typeof representFiltered>[] = [];
      for await (const event of latestEvents(eventTypes, locations, limit)) {
        data.push(representFiltered(event, ready.unmatched(readPayload(event.body))));
      }
      return { status: 200, body: { data } };
    },
    async sendTestEvent({ path, body, context }) {
      const integration = await integrations.get(path.id);
      integrations.requireReadable(integration);
      const content = sampleEvent(body?.type ?? 'TEST', integration);
      const delivery = await deliveries.sendTest(integration.id, content, context.resourceId, context.traceparent);
      return accepted(delivery, integration);
    },
    async resendDelivery({ path, body, context }) {
      const { integration } = await getDelivery(path.id, context);
      const isUrgent = body?.now === true;
      const delivery = await deliveries.resend(path.id, context.resourceId, isUrgent);
      return accepted(delivery, integration, isUrgent ? undefined : await pauseEnd(integration));
    },

    async createReplay({ path, body, context }) {
      const since = toInstant(body.since);
      const until = toInstant(body.until) ?? clock.now();
      if (since >= until) throw emptySpan(body.until === undefined ? 'the present' : 'until');
      const { id: integrationId, eventTypes: types } = await integrations.get(path.id);
      const { only } = body;
      const replay = await replays.beginSpan({ id: context.resourceId, integrationId, since, until, types, only });
      return {
        status: 202,
        headers: { Location: `/api/v1/replays/${replay.id}` },
        body: representReplay(replay),
      };
    },
    listReplays(input) {
      const find = async () => {
        const { id } = await integrations.get(input.path.id);
        return replays.list(id, input.query.status);
      };
      return answerPage(input, find, representReplay);
    },
    async getReplay({ path, context }) {
      const replay = await replays.find(path.id);
      const integration = replay && (await integrations.find(replay.integrationId));
      // Replays of a deleted integration will be deleted by a sweep.
      if (
        replay === undefined ||
        integration === undefined ||
        !mayReachLocations(context.principal.reach, integration.locationIds)
      ) {
        throw new ProblemError('replay-not-found', { detail: `No replay has the id ${path.id}.` });
      }
      return { status: 200, headers: { ETag: revisionTag(replay) }, body: representReplay(replay) };
    },

    listDeliveries(input) {
      const { integration_id: integrationId, ...query } = input.query;
      const { locations } = input.context.principal.reach ?? {};
      const find = async (): Promise<Listing<Listed>> => {
        const stored = await statusFilter(query.status, integrationId);
        const reached = locations && (await integrations.idsWithin(locations));
        const among = stored && idsAmong(reached, integrationId, stored.integrations);
        if (stored === undefined || among?.length === 0) return emptyListing;
        const listing = await deliveries.list({
          ...filterOf(query),
          ...stored,
          ...(among && { integrations: { among } }),
          integrationId: among?.length === 1 ? among[0] : integrationId,
          locations,
        });
        return withLookUp(listing, async (found) => {
          const known = await integrations.findMany(found.map((delivery) => delivery.integrationId));
          const states = await statesOf(found, [...known.values()]);
          // Those of deleted integrations are left out until they are removed.
          return (delivery) => {
            const integration = known.get(delivery.integrationId);
            return integration === undefined
              ? undefined
              : { delivery, integration, pausedUntil: states.get(integration.id)?.retryingUntil };
          };
        });
      };
      return answerPage(input, find, representListed);
    },
    async getDelivery({ path, context }) {
      const { delivery, integration } = await getDelivery(path.id, context);
      const body = representDelivery(delivery, {
        integration,
        pausedUntil: delivery.status === 'pending' ? await pauseEnd(integration) : undefined,
        now: clock.now(),
      });
      return { status: 200, headers: { ETag: deliveryTag(body) }, body };
    },
    listDeliveryAttempts(input) {
      const find = async () => {
        const { delivery } = await getDelivery(input.path.id, input.context);
        const attempts = await deliveries.attempts(input.path.id);
        // A delivery has about ten attempts. Two with the same number were made by two processes.
        return listingOf(
          attempts.map((attempt) => ({ attempt, delivery })),
          ({ attempt: { number, at } }) => ({ at: number, id: at.toISOString().replace(/\W/g, '') }),
        );
      };
      return answerPage(input, find, representAttempt);
    },
  };
}

type DeliveryQuery = Omit<OperationInput<'listDeliveries'>['query'], 'integration_id' | 'status'>;

/** The filters of a list of deliveries, except status and integration. */
function filterOf({
  last_outcome: lastOutcome,
  event_type: eventType,
  target_id: targetId,
  event_id: eventId,
  since,
  until,
}: DeliveryQuery): DeliveryFilter {
  return { lastOutcome, eventType, targetId, eventId, since: toInstant(since), until: toInstant(until) };
}

/** Of the integrations that a key reaches, those that a list is of. @param reached undefined for all */
function idsAmong(
  reached: readonly string[] | undefined,
  integrationId: string | undefined,
  filter: DeliveryFilter['integrations'],
): readonly string[] | undefined {
  if (reached === undefined) return undefined;
  if (integrationId !== undefined) return reached.filter((id) => id === integrationId);
  if (filter === undefined) return reached;
  const named = new Set('among' in filter ? filter.among : filter.except);
  return reached.filter((id) => named.has(id) === 'among' in filter);
}

function toList(id: string | undefined): readonly string[] | undefined {
  return id === undefined ? undefined : [id];
}

/** A delivery that was just created and will be sent. */
function accepted(
  delivery: DeliveryWithBody,
  integration: Integration,
  pausedUntil?: Date,
): { status: 202; headers: { Location: string }; body: ReturnType<typeof representDelivery> } {
  return {
    status: 202,
    headers: { Location: `${deliveryPath}/${delivery.id}` },
    body: representDelivery(delivery, { integration, pausedUntil, now: delivery.createdAt }),
  };
}

function emptySpan(end: string): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail: `must be before ${end}`, pointer: '#/since' }],
  });
}
