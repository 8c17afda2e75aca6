import type { components } from '../../generated/types.ts';
import { ifMatch } from '../http/conditional.ts';
import { idempotencyKey } from '../http/idempotency-key.ts';
import { locationsInReach } from '../base/limits/reach.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { answerPage } from '../http/list-answer.ts';
import { fingerprintOf } from '../http/idempotency/idempotency.ts';
import { toInstant } from '../base/runtime/instants.ts';
import type { createOrderIds } from './order-id.ts';
import { orderFields, pricedFields, summaryFields, type Order } from './order.ts';
import type { Orders, RequestedOrder } from './orders.ts';

type OrderOperations = Pick<
  OperationHandlers,
  'createOrder' | 'calculateOrder' | 'listOrders' | 'getOrder' | 'completeOrder' | 'cancelOrder'
>;

type Schemas = components['schemas'];

const collectionPath = '/v1/orders';

export function orderOperations(orders: Orders, derivedId: ReturnType<typeof createOrderIds>): OrderOperations {
  return {
    async createOrder({ headers, body, context }) {
      const request = {
        ...requested(body),
        fingerprint: fingerprintOf(body),
        traceparent: context.traceparent,
      };
      const key = idempotencyKey(headers['Idempotency-Key']);
      const reservation =
        key === undefined
          ? { id: context.resourceId, repeatable: false }
          : { id: derivedId(context.principal.id, key), repeatable: true };
      const { order, replayed } = await orders.create(request, reservation);
      context.note({ order: order.id });
      return {
        status: 201,
        headers: {
          Location: `${collectionPath}/${order.id}`,
          ETag: orderTag(order),
          ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
        },
        body: orderFields.show(order),
      };
    },
    async calculateOrder({ body }) {
      return { status: 200, body: { tax_lines: [], ...pricedFields.show(await orders.calculate(requested(body))) } };
    },
    listOrders(input) {
      const { status, location_id: locationId, reference_id: referenceId, since, until } = input.query;
      const { updated_since: updatedSince, fiscal_day: fiscalDay, spot_id: spotId } = input.query;
      const filter = {
        ...{ status, referenceId, spotId, fiscalDay: fiscalDay?.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3') },
        ...{ since: toInstant(since), until: toInstant(until), updatedSince: toInstant(updatedSince) },
        locationIds: locationsInReach(input.context.principal.reach, locationId),
      };
      return answerPage(input, () => orders.list(filter), summaryFields.show);
    },
    async getOrder({ path, context }) {
      context.note({ order: path.id });
      return found(await orders.get(path.id));
    },
    async completeOrder({ path, headers, context }) {
      context.note({ order: path.id });
      return found(await orders.complete(path.id, matches(headers['If-Match']), context.traceparent));
    },
    async cancelOrder({ path, headers, context }) {
      context.note({ order: path.id });
      return found(await orders.cancel(path.id, matches(headers['If-Match']), context.traceparent));
    },
  };
}

function requested(body: Schemas['OrderCreate']): Pick<RequestedOrder, 'given' | 'items' | 'spotId'> {
  return {
    given: orderFields.readNew(body),
    items: body.items.map(({ product_id, quantity, modifiers = [] }) => ({
      productId: product_id,
      quantity,
      modifiers: modifiers.map((modifier) => ({ id: modifier.id, quantity: modifier.quantity ?? 1 })),
    })),
    spotId: body.spot_id,
  };
}

function found(order: Order): { status: 200; headers: { ETag: string }; body: ReturnType<typeof orderFields.show> } {
  return { status: 200, headers: { ETag: orderTag(order) }, body: orderFields.show(order) };
}

function matches(field: string | undefined): (order: Order) => boolean {
  return (order) => ifMatch(field, orderTag(order));
}

/** The entity tag of an order. It changes with each change, and when a fiscal day has counted the order. */
function orderTag({ id, revision, fiscalDay }: Order): string {
  return fiscalDay === undefined ? `"${id}.${revision}"` : `"${id}.${revision}.${fiscalDay}"`;
}
