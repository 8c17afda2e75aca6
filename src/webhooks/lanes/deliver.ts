/**
 * A delivery from its turn to its settlement: picked, prepared, stamped, sent, settled. Each stage has a type, and each
 * function leads from one to the next.
 */
import { isOutage } from '../../base/errors/outage.ts';
import { readRetryAfter } from '../../base/outbound/retry-after.ts';
import { outcomeOf, type DeliveryWithBody, type StampedAttempt } from '../deliveries/delivery.ts';
import { nextAttemptIn } from '../deliveries/retry-schedule.ts';
import type { ReceiverSettings } from '../integrations/directory.ts';
import type { SendResult } from '../sending/attempt-request.ts';
import { isOurs } from '../sending/send-error.ts';
import { deliveryHeaders, keptHeaders, settingsHeaders } from '../sending/delivery-headers.ts';
import type { Context } from './context.ts';
import type { Lane, WaitingDelivery } from './lane.ts';
import { readReceivers } from './receivers.ts';

/** Its lane had a turn, so it has a place. */
export interface Picked {
  readonly lane: Lane;
  readonly item: WaitingDelivery;
}

/** It is to be attempted, with these settings. */
interface Prepared extends Picked {
  readonly delivery: DeliveryWithBody;
  readonly settings: ReceiverSettings;
}

/** Its attempt is counted. */
interface Stamped extends Prepared {
  readonly stamp: number;
}

/** Its request has ended. */
interface Sent extends Stamped {
  readonly at: Date;
  readonly requestHeaders: readonly string[];
  readonly result: SendResult;
}

/** Milliseconds after a failure that is not the receiver's. */
export const retryMs = 250;
/** Milliseconds for which the settings apply that were read when a delivery was created. */
const settingsAge = 1_000;

/**
 * Begins deliveries of many integrations. Changes of an operator apply from the next batch on.
 * @returns a promise that resolves when all are begun
 */
export async function deliverBatch(context: Context, picked: readonly Picked[]): Promise<void> {
  let held = picked;
  try {
    const prepared = await prepareBatch(context, picked);
    held = prepared;
    for (const stamped of await stampBatch(context, prepared)) context.tasks.track(deliver(context, stamped));
  } catch (error) {
    const [first] = held;
    if (isOutage(error)) {
      context.log.warn({ error }, 'due deliveries could not be begun; retrying');
      for (const { lane, item } of held) {
        lane.giveUp(item);
        lane.retryIn(retryMs);
      }
    } else if (held.length > 1) {
      // It is because of one of them.
      for (const one of held) await deliverBatch(context, [one]);
    } else if (first !== undefined) {
      context.quota.giveBack();
      setAside(context, first.lane, first.item.id, error);
    }
  }
}

async function deliver(context: Context, stamped: Stamped): Promise<void> {
  const { lane, delivery } = stamped;
  try {
    lane.settled(delivery.id, await settle(context, await send(context, stamped)));
  } catch (error) {
    if (!isOutage(error)) return setAside(context, lane, delivery.id, error);
    const ids = { integration_id: lane.integrationId, delivery_id: delivery.id };
    context.log.warn({ error, ...ids }, 'an attempt was interrupted; the delivery is still due');
    lane.settled(delivery.id);
    lane.retryIn(retryMs);
  }
}

/** A repetition at once would fail in the same way, perhaps after another request to the receiver. */
export function setAside({ log }: Context, lane: Lane, deliveryId: string, error: unknown): void {
  const ids = { integration_id: lane.integrationId, delivery_id: deliveryId };
  log.error({ error, ...ids }, 'a delivery failed with an unexpected error; it is attempted again later');
  if (lane.setAside(deliveryId)) {
    log.error(
      { integration_id: lane.integrationId },
      'too many deliveries of an integration failed so; it gets none for now',
    );
  }
}

/** Reads what is not known. @returns those that are to be attempted; the others have left their places */
async function prepareBatch(context: Context, picked: readonly Picked[]): Promise<Prepared[]> {
  const { deliveries, clock } = context;
  const since = clock.monotonic() - settingsAge;
  /** If they were read when the delivery was created, a moment ago. */
  const freshSettings = ({ lane, item }: Picked): ReceiverSettings | undefined =>
    item.stamp === undefined ? undefined : lane.receiver.settingsSince(since);
  const fresh = new Map(picked.map((each) => [each, freshSettings(each)]));
  const stale = new Set(picked.flatMap((each) => (fresh.get(each) === undefined ? [each.lane] : [])));
  const unread = picked.flatMap(({ item }) => (item.delivery === undefined ? [item.id] : []));
  const [receivers, rows] = await Promise.all([readReceivers(context, [...stale]), deliveries.findMany(unread)]);
  const byId = new Map(rows.map((delivery) => [delivery.id, delivery]));
  return picked.flatMap((each): Prepared | [] => {
    const { lane, item } = each;
    const settings = fresh.get(each) ?? receivers.get(lane);
    const delivery = item.delivery ?? byId.get(item.id);
    if (settings === undefined) lane.hold(item);
    else if (lane.admit(item, delivery)) return { ...each, delivery, settings };
    return [];
  });
}

/** Stamps what is not stamped yet, so that only the last process to stamp can settle a failure. */
async function stampBatch(
  { deliveries, partitions, timing, clock }: Context,
  prepared: readonly Prepared[],
): Promise<Stamped[]> {
  const next = partitions.nextStamp();
  const unstamped = prepared.flatMap(({ item }) => (item.stamp === undefined ? [item.id] : []));
  const stamped = await deliveries.stamp(unstamped, next);
  return prepared.flatMap((each): Stamped | [] => {
    const { lane, item } = each;
    const stamp = item.stamp ?? (stamped.has(item.id) ? next : undefined);
    if (stamp !== undefined && lane.isOpen && !lane.isDeciding) return { ...each, stamp };
    if (stamp !== undefined) lane.giveUp(item, stamp);
    // Perhaps another process sends it.
    else lane.leave(item.id, new Date(clock.now().getTime() + timing.poll));
    return [];
  });
}

async function send({ sender, quota, version, clock }: Context, stamped: Stamped): Promise<Sent> {
  const { delivery, settings } = stamped;
  const { integrationId, url, headers: custom } = settings;
  const at = clock.now();
  const place = quota.begin();
  try {
    const ofSettings = settingsHeaders(delivery, { custom, secrets: settings, version }, at);
    const headers = deliveryHeaders(ofSettings, delivery, at);
    const result = await sender.post({ integrationId, url, headers, body: delivery.body });
    return { ...stamped, at, requestHeaders: keptHeaders(ofSettings), result };
  } finally {
    place.end();
  }
}

/**
 * Counts the result and writes it. It is written whatever happens while it is counted.
 * @returns when the delivery is to be attempted again; undefined if it is finished
 */
async function settle(context: Context, sent: Sent): Promise<Date | undefined> {
  const { observer, verdicts, clock } = context;
  const { lane, delivery, settings, stamp, at, requestHeaders, result } = sent;
  const { status, error, certificateNames, milliseconds, headers: responseHeaders, response, responseCut } = result;
  const { id, integrationId } = delivery;
  const now = clock.now();
  lane.answered(id);
  // Not failures of the receiver: the delivery is still due.
  if (error === 'not-sent') return await undo(context, sent);
  if (status === undefined && error === 'aborted') return now;
  const outcome = status === undefined ? String(error) : `${Math.floor(status / 100)}xx`;
  const { url } = settings;
  const attempted = { integrationId, outcome, seconds: milliseconds / 1_000, at, delivery, url, status };
  count(context, sent, () => {
    observer.attempted(attempted);
  });
  const attempt = {
    ...{ integrationId, deliveryId: id, stamp, number: delivery.attemptCount + 1, at, milliseconds },
    ...{ status, error, certificateNames, requestHeaders, responseHeaders, response, responseCut },
  };
  if (outcome !== '2xx') return await settleFailed(context, sent, attempt, now);
  count(context, sent, () => {
    verdicts.success(lane, settings, now);
  });
  const isOrdinary = delivery.replayId === undefined && delivery.createdAt >= settings.changedAt;
  const age = Math.max(0, now.getTime() - delivery.eventCreatedAt.getTime()) / 1_000;
  count(context, sent, () => {
    observer.finished('delivered', delivery, isOrdinary ? age : undefined);
  });
  await context.settlements.add({ attempt, failure: undefined });
  return undefined;
}

/** A failure here must neither lose the result nor repeat the request. */
function count({ log }: Context, { lane, delivery }: Sent, report: () => void): void {
  try {
    report();
  } catch (error) {
    const ids = { integration_id: lane.integrationId, delivery_id: delivery.id };
    log.error({ error, ...ids }, 'the result of an attempt could not be counted');
  }
}

async function settleFailed(
  context: Context,
  sent: Sent,
  attempt: StampedAttempt,
  now: Date,
): Promise<Date | undefined> {
  const { observer, verdicts, timing, random } = context;
  const { lane, delivery, settings, stamp } = sent;
  const { status, error, responseHeaders } = attempt;
  const retryAfter = status === 429 || status === 503 ? readRetryAfter(responseHeaders['retry-after'], now) : undefined;
  count(context, sent, () => {
    verdicts.failure(lane, settings, { at: now, status, error }, retryAfter);
  });
  const { id: deliveryId, failures: failuresBefore } = delivery;
  // One that failed because of us does not count, so it is soon repeated: the lane pauses anyway.
  const isCounted = !isOurs(error);
  const wait = nextAttemptIn({ failuresBefore: isCounted ? failuresBefore : 0, retryAfter }, timing, random.fraction());
  if (wait === undefined) {
    count(context, sent, () => {
      observer.finished('failed', delivery);
    });
  }
  const nextAttemptAt = wait === undefined ? undefined : dueAfter(now, wait);
  const failure = { deliveryId, stamp, failuresBefore, isCounted, nextAttemptAt, outcome: outcomeOf(attempt) };
  await context.settlements.add({ attempt, failure });
  return nextAttemptAt;
}

/** This machine could not send it, so it was not attempted. */
async function undo({ quota, deliveries, clock, log }: Context, { delivery, stamp }: Sent): Promise<Date> {
  if (quota.shrink()) log.warn({}, 'this process can open no more connections; it sends fewer requests at a time');
  await deliveries.unstamp([delivery.id], stamp);
  return new Date(clock.now().getTime() + retryMs);
}

/** Rounded by at most a 25th of the wait, so that failures of the same moment are settled by few commands. */
function dueAfter(now: Date, wait: number): Date {
  const step = Math.max(1, Math.floor(wait / 25));
  return new Date(Math.ceil((now.getTime() + wait) / step) * step);
}
