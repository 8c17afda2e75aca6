import { ProblemError } from '../errors/problem-error.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { nextPageLink } from '../http/page.ts';
import type { Integration } from '../integrations/integration.ts';
import type { Integrations } from '../integrations/integrations.ts';
import { toInstant } from '../runtime/instants.ts';
import type { Deliveries } from './deliveries/deliveries.ts';
import type { DeliveryWithBody } from './deliveries/delivery.ts';
import type { Replays } from './replays/replays.ts';
import {
  deliveryTag,
  representAttempt,
  representDelivery,
  representListedDelivery,
  representReplay,
  storedStatus,
} from './webhook-representation.ts';

type WebhookOperations = Pick<
  OperationHandlers,
  | 'sendTestEvent'
  | 'createReplay'
  | 'getReplay'
  | 'listDeliveries'
  | 'getDelivery'
  | 'listDeliveryAttempts'
  | 'resendDelivery'
>;

export interface WebhookOperationsOptions {
  readonly integrations: Pick<Integrations, 'get' | 'find'>;
  readonly deliveries: Deliveries;
  readonly replays: Replays;
  readonly now?: () => Date;
}

const deliveryPath = '/api/v1/deliveries';
const integrationPath = '/api/v1/integrations';

/** The contract's operations on deliveries and replays. */
export function webhookOperations({
  integrations,
  deliveries,
  replays,
  now = () => new Date(),
}: WebhookOperationsOptions): WebhookOperations {
  /** A delivery of an integration that is there: the others are about to be swept. */
  const getDelivery = async (id: string): Promise<{ delivery: DeliveryWithBody; integration: Integration }> => {
    const delivery = await deliveries.get(id);
    const integration = await integrations.find(delivery.integrationId);
    if (integration !== undefined) return { delivery, integration };
    throw new ProblemError('delivery-not-found', { detail: `No delivery has the id ${id}.` });
  };

  return {
    async sendTestEvent({ path, context }) {
      const integration = await integrations.get(path.id);
      const delivery = await deliveries.sendTest(integration.id, context.resourceId, context.traceparent);
      return accepted(delivery, integration);
    },
    async resendDelivery({ path, context }) {
      const { integration } = await getDelivery(path.id);
      return accepted(await deliveries.resend(path.id, context.resourceId), integration);
    },

    async createReplay({ path, body, context }) {
      const since = toInstant(body.since);
      const until = toInstant(body.until) ?? now();
      if (since >= until) throw emptySpan(body.until === undefined ? 'the present' : 'until');
      const { id: integrationId, eventTypes: types } = await integrations.get(path.id);
      const replay = await replays.beginSpan({ id: context.resourceId, integrationId, since, until, types });
      return {
        status: 202,
        headers: { Location: `${integrationPath}/${integrationId}/replays/${replay.id}` },
        body: representReplay(replay),
      };
    },
    async getReplay({ path }) {
      const integration = await integrations.get(path.id);
      const replay = await replays.find(path.replay_id);
      if (replay?.integrationId !== integration.id) {
        throw new ProblemError('replay-not-found', {
          detail: `The integration has no replay with the id ${path.replay_id}.`,
        });
      }
      return {
        status: 200,
        headers: { ETag: `"${replay.id}.${replay.revision}"` },
        body: representReplay(replay),
      };
    },

    async listDeliveries({ path, query }) {
      const { limit = 20, offset = 0, status, last_outcome, event_type, since, until } = query;
      const integration = await integrations.get(path.id);
      const stored = status === undefined ? undefined : storedStatus(status, integration);
      const filter = {
        integrationId: integration.id,
        status: stored,
        lastOutcome: last_outcome,
        eventType: event_type,
        since: toInstant(since),
        until: toInstant(until),
      };
      const { deliveries: found, total } =
        status !== undefined && stored === undefined
          ? { deliveries: [], total: 0 }
          : await deliveries.list(filter, limit, offset);
      const pagination = { total, limit, offset };
      const filters = { status, last_outcome, event_type, since, until };
      return {
        status: 200,
        headers: nextPageLink(`${integrationPath}/${integration.id}/deliveries`, pagination, found.length, filters),
        body: { data: found.map((delivery) => representListedDelivery(delivery, integration)), pagination },
      };
    },
    async getDelivery({ path }) {
      const { delivery, integration } = await getDelivery(path.id);
      const body = representDelivery(delivery, integration);
      return { status: 200, headers: { ETag: deliveryTag(body) }, body };
    },
    async listDeliveryAttempts({ path, query: { limit = 20, offset = 0 } }) {
      await getDelivery(path.id);
      const attempts = await deliveries.attempts(path.id);
      const found = attempts.slice(offset, offset + limit);
      const pagination = { total: attempts.length, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(`${deliveryPath}/${path.id}/attempts`, pagination, found.length),
        body: { data: found.map(representAttempt), pagination },
      };
    },
  };
}

/** A delivery that was made just now, and goes on. */
function accepted(
  delivery: DeliveryWithBody,
  integration: Integration,
): { status: 202; headers: { Location: string }; body: ReturnType<typeof representDelivery> } {
  return {
    status: 202,
    headers: { Location: `${deliveryPath}/${delivery.id}` },
    body: representDelivery(delivery, integration),
  };
}

function emptySpan(end: string): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail: `must be before ${end}`, pointer: '#/since' }],
  });
}
