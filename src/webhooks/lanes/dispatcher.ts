import { isOutage } from '../../base/errors/outage.ts';
import type { DeliveryWithBody } from '../deliveries/delivery.ts';
import type { Context } from './context.ts';
import { insertDeliveries } from './creation.ts';
import { deliverBatch, retryMs, setAside, type Picked } from './deliver.ts';
import { readAtOnce, type Lane } from './lane.ts';
import { readReceivers } from './receivers.ts';

/** Deliveries that are begun together, of any integrations. On some servers the time for many ids grows with its square. */
const batchSize = 100;
const batchesAtOnce = 4;
const readsAtOnce = 4;
/** Milliseconds after which requests in progress may have become slow and left their places. */
const slowMs = 100;

/** Gives lanes their turns: what they read, and which deliveries are begun together. */
export class Dispatcher {
  readonly #with: Context;
  readonly #toRead = new Set<Lane>();
  #reads = 0;
  #batches = 0;
  #slowTimer: NodeJS.Timeout | undefined;

  constructor(context: Context) {
    this.#with = context;
  }

  start(): void {
    this.#with.lanes.onReady(() => {
      this.#pump();
    });
  }

  #pump(): void {
    const { lanes, quota, tasks } = this.#with;
    while (this.#batches < batchesAtOnce) {
      const picked = this.#pick();
      if (picked.length === 0) break;
      this.#batches += 1;
      const delivering = deliverBatch(this.#with, picked).finally(() => {
        this.#batches -= 1;
        lanes.pumpSoon();
      });
      tasks.track(delivering);
    }
    if (lanes.ready.size > 0 && !quota.hasRoom()) {
      clearTimeout(this.#slowTimer);
      this.#slowTimer = setTimeout(() => {
        this.#pump();
      }, slowMs);
    }
  }

  #pick(): Picked[] {
    const { lanes, quota } = this.#with;
    const picked: Picked[] = [];
    // A lane that had a turn comes last.
    for (const lane of lanes.ready) {
      if (picked.length >= batchSize || !quota.hasRoom()) break;
      lanes.ready.delete(lane);
      const turn = lane.turn();
      if (turn.kind === 'read') this.#toRead.add(lane);
      if (turn.kind !== 'begin') continue;
      picked.push({ lane, item: turn.item });
      if (lane.hasWork) lanes.ready.add(lane);
    }
    this.#read();
    return picked;
  }

  // Reading ------------------------------------------------------------------------------------------------------

  #read(): void {
    for (const lane of this.#toRead) {
      if (this.#reads === readsAtOnce) return;
      this.#toRead.delete(lane);
      this.#reads += 1;
      const reading = this.#readLane(lane).finally(() => {
        this.#reads -= 1;
        this.#read();
      });
      this.#with.tasks.track(reading);
    }
  }

  async #readLane(lane: Lane): Promise<void> {
    const { log } = this.#with;
    const source = lane.beginReading();
    if (source === undefined) return;
    try {
      lane.endReading(source === 'deliveries' ? await this.#readDue(lane) : await this.#continueReplays(lane));
    } catch (error) {
      const said = { error, integration_id: lane.integrationId, source };
      if (isOutage(error)) {
        log.warn(said, 'due deliveries could not be read; retrying');
        lane.retryIn(retryMs);
        lane.endReading(true);
      } else {
        log.error(said, 'due deliveries cannot be read; this is tried again later');
        lane.failReading();
      }
    }
  }

  /** Reads the deliveries that are due, now or soon. @returns whether they must be read again */
  async #readDue(lane: Lane): Promise<boolean> {
    const { deliveries, lanes, clock, timing } = this.#with;
    const now = clock.now().getTime();
    const horizon = new Date(now + timing.horizon);
    const found = await deliveries.due(lane.integrationId, horizon, readAtOnce, lane.ids, (id, error) => {
      if (!lane.ids.has(id)) setAside(this.#with, lane, id, error);
    });
    // Until the lease is renewed, if it has only lapsed.
    if (!lane.isOpen) return true;
    const due: DeliveryWithBody[] = [];
    for (const delivery of found) {
      const at = delivery.nextAttemptAt?.getTime() ?? now;
      if (at > now) lanes.schedule(lane, at, delivery.id);
      else due.push(delivery);
    }
    lane.found(due);
    // What comes after them is read when the last of them is due.
    if (found.length === readAtOnce) lanes.schedule(lane, found.at(-1)?.nextAttemptAt?.getTime() ?? now);
    return false;
  }

  /** @returns whether there can be more */
  async #continueReplays(lane: Lane): Promise<boolean> {
    const receivers = await readReceivers(this.#with, [lane]);
    if (!receivers.has(lane)) return false;
    return await this.#with.replays.continue(lane.integrationId, (wanted) => insertDeliveries(this.#with, wanted));
  }
}
