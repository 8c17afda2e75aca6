import { newDelivery, type DeliveryRequest, type DeliveryWithBody, type NewDelivery } from '../deliveries/delivery.ts';
import type { Context } from './context.ts';
import type { Lane } from './lane.ts';
import { readReceivers } from './receivers.ts';

/**
 * Creates deliveries, and passes them to their lanes. What has a place at once is created with its stamp. What another
 * process must send is created as fresh.
 */
export async function insertDeliveries(
  context: Context,
  wanted: readonly NewDelivery[],
  request?: DeliveryRequest,
): Promise<readonly DeliveryWithBody[]> {
  const { lanes, partitions, deliveries, clock } = context;
  const isUrgent = request?.isUrgent === true;
  const createdAt = request?.createdAt ?? clock.now();
  const added = wanted.map((delivery) => newDelivery(delivery, createdAt));
  const own = new Map<DeliveryWithBody, Lane>();
  for (const delivery of added) {
    if (lanes.holds(delivery.integrationId)) own.set(delivery, lanes.of(delivery.integrationId));
  }
  // What a caller asks for is not counted as begun, because the caller is told about it first.
  const receivers = await readReceivers(context, request === undefined ? [...new Set(own.values())] : []);
  const stamp = partitions.nextStamp();
  const begun = new Set<string>();
  for (const [{ id }, lane] of own) if (receivers.has(lane) && lane.reserve(id)) begun.add(id);
  const isFresh = (delivery: DeliveryWithBody): boolean => !own.has(delivery);
  let existing: ReadonlySet<string>;
  try {
    existing = await deliveries.insertMissing(added, { begun: { ids: begun, stamp }, isFresh, isUrgent });
  } finally {
    for (const id of begun) lanes.claimed.delete(id);
  }
  const passedOn: string[] = [];
  for (const [delivery, lane] of own) {
    const { id } = delivery;
    if (!lane.isOpen) passedOn.push(id);
    // Perhaps another process has created it.
    else if (existing.has(id)) lane.add({ id, isUrgent });
    else lane.add({ id, isUrgent, delivery, stamp: begun.has(id) ? stamp : undefined });
  }
  // The new holder of the partition may have searched it before they were created.
  if (passedOn.length > 0) await deliveries.markFresh(passedOn);
  return added.filter(({ id }) => !existing.has(id));
}
