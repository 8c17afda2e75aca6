import type { ReceiverSettings } from '../integrations/directory.ts';
import { readRetryAfter } from '../../base/outbound/retry-after.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { outcomeOf, type DeliveryWithBody } from '../deliveries/delivery.ts';
import { nextAttemptIn } from '../deliveries/retry-schedule.ts';
import type { Settlements } from '../deliveries/settlements.ts';
import type { WebhookObserver } from '../observer.ts';
import { deliveryHeaders } from '../sending/delivery-headers.ts';
import type { Quota } from '../sending/quota.ts';
import type { NotSent } from '../sending/send-error.ts';
import type { Sender } from '../sending/sender.ts';
import type { WebhookTiming } from '../timing.ts';
import type { Lane } from './lane.ts';
import type { Verdicts } from './verdicts.ts';

export interface AttemptDependencies {
  readonly sender: Sender;
  readonly quota: Quota;
  readonly settlements: Settlements;
  readonly verdicts: Pick<Verdicts, 'success' | 'failure'>;
  /** Called when the receiver has a place for another request. */
  readonly wake: (lane: Lane) => void;
  /** The version of this service. */
  readonly version: string;
  readonly timing: WebhookTiming;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: WebhookObserver;
}

/** A delivery that has a place, and the stamp under which it is attempted. */
export interface BegunDelivery {
  readonly delivery: DeliveryWithBody;
  readonly stamp: number;
  readonly receiver: ReceiverSettings;
}

/** @returns when the delivery is to be attempted again; undefined if it is finished */
export type AttemptDelivery = (lane: Lane, begun: BegunDelivery) => Promise<Date | NotSent | undefined>;

/** Creates the attempt of a delivery, from its request to its settlement. */
export function createAttempt(dependencies: AttemptDependencies): AttemptDelivery {
  const { sender, quota, settlements, verdicts, wake, version, timing, clock, random, observer } = dependencies;
  return async (lane, { delivery, stamp, receiver }) => {
    const at = clock.now();
    const { integrationId, url, headers: custom } = receiver;
    const headers = deliveryHeaders(delivery, { integrationId, custom, secrets: receiver, version }, at);
    const place = quota.begin();
    const result = await sender.post({ integrationId, url, headers, body: delivery.body });
    place.end();
    lane.posting -= 1;
    const { status, error, headers: responseHeaders, response, responseCut, milliseconds } = result;
    const now = clock.now();
    // Not failures of the receiver: the delivery is still due.
    if (error === 'not-sent') return 'not-sent';
    if (status === undefined && error === 'aborted') return now;
    const statusOrError = status === undefined ? String(error) : `${Math.floor(status / 100)}xx`;
    const seconds = milliseconds / 1_000;
    observer.attempted({ integrationId, outcome: statusOrError, seconds, at, delivery, url, status });
    const attempt = {
      ...{ integrationId, deliveryId: delivery.id, stamp, number: delivery.attemptCount + 1, at, milliseconds },
      ...{ status, error, responseHeaders, response, responseCut },
    };
    if (statusOrError === '2xx') {
      verdicts.success(lane, receiver, now);
      const isOrdinary = delivery.replayId === undefined && delivery.createdAt >= receiver.changedAt;
      const age = Math.max(0, now.getTime() - delivery.eventCreatedAt.getTime()) / 1_000;
      observer.finished('delivered', isOrdinary ? age : undefined);
      wake(lane);
      await settlements.add({ attempt, failure: undefined });
      return undefined;
    }
    const retryAfter =
      status === 429 || status === 503 ? readRetryAfter(responseHeaders['retry-after'], now) : undefined;
    verdicts.failure(lane, receiver, { at: now, status, error }, retryAfter);
    wake(lane);
    const { failures: failuresBefore } = delivery;
    const wait = nextAttemptIn({ failuresBefore, retryAfter }, timing, random.fraction());
    if (wait === undefined) observer.finished('failed');
    const nextAttemptAt = wait === undefined ? undefined : dueAfter(now, wait);
    const failure = { deliveryId: delivery.id, stamp, failuresBefore, nextAttemptAt, outcome: outcomeOf(attempt) };
    await settlements.add({ attempt, failure });
    return nextAttemptAt;
  };
}

/** Rounded by at most a 25th of the wait, so that failures of the same moment are settled by few commands. */
function dueAfter(now: Date, wait: number): Date {
  const step = Math.max(1, Math.floor(wait / 25));
  return new Date(Math.ceil((now.getTime() + wait) / step) * step);
}
