import type { Clock } from '../../base/runtime/clock.ts';
import type { DeliveryStore } from '../deliveries/delivery-store.ts';
import type { Partitions } from '../partitions/partitions.ts';
import type { Quota } from '../sending/quota.ts';
import type { Tasks } from '../tasks.ts';
import type { WebhookTiming } from '../timing.ts';
import type { Agenda } from './agenda.ts';
import { Lane, type Shared } from './lane.ts';

export interface LanesDependencies {
  readonly partitions: Pick<Partitions, 'holds'>;
  readonly deliveries: Pick<DeliveryStore, 'unstamp'>;
  readonly agenda: Pick<Agenda, 'add'>;
  readonly quota: Quota;
  readonly tasks: Tasks;
  readonly timing: WebhookTiming;
  readonly clock: Clock;
}

/** The most lanes without work that are remembered. */
const maxIdleLanes = 20_000;

/** The lanes of the partitions that this process holds, and what they share. */
export class Lanes implements Shared {
  readonly claimed = new Set<string>();
  /** Those with work that may have a place, the longest waiting first. */
  readonly ready = new Set<Lane>();
  readonly quota: Quota;
  readonly timing: WebhookTiming;
  readonly clock: Clock;
  readonly #with: LanesDependencies;
  readonly #lanes = new Map<string, Lane>();
  /** Those of partitions that were lost, until nothing is in progress. */
  readonly #draining = new Set<Lane>();
  #pump: () => void = () => undefined;
  #isPumping = false;

  constructor(dependencies: LanesDependencies) {
    this.#with = dependencies;
    ({ quota: this.quota, timing: this.timing, clock: this.clock } = dependencies);
  }

  of(integrationId: string): Lane {
    let lane = this.#lanes.get(integrationId);
    if (lane === undefined) this.#lanes.set(integrationId, (lane = new Lane(integrationId, this)));
    return lane;
  }

  find(integrationId: string): Lane | undefined {
    return this.#lanes.get(integrationId);
  }

  in(partitions: Iterable<number>): Lane[] {
    const wanted = new Set(partitions);
    return [...this.#lanes.values()].filter(({ partition }) => wanted.has(partition));
  }

  // What they share ----------------------------------------------------------------------------------------------

  holds(integrationId: string): boolean {
    return this.#with.partitions.holds(integrationId);
  }

  schedule({ integrationId }: Pick<Lane, 'integrationId'>, at: number, deliveryId?: string): void {
    this.#with.agenda.add({ at, integrationId, deliveryId });
  }

  unstamp(deliveryIds: readonly string[], stamp: number): Promise<void> {
    const undoing = this.#with.deliveries.unstamp(deliveryIds, stamp);
    this.#with.tasks.track(undoing);
    return undoing.catch(() => undefined);
  }

  wake(lane: Lane): void {
    if (lane.hasWork) this.ready.add(lane);
    this.pumpSoon();
  }

  wakeAll(): void {
    for (const lane of this.#lanes.values()) this.wake(lane);
  }

  /** @param pump called when a lane may have a turn */
  onReady(pump: () => void): void {
    this.#pump = pump;
  }

  /** After the current turn of the event loop, so that what becomes due together is begun together. */
  pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  // Their end ----------------------------------------------------------------------------------------------------

  /** Nothing more is begun in partitions. What is in progress is still settled here; its stamp decides. */
  close(partitions: Iterable<number>): void {
    for (const lane of this.in(partitions)) {
      this.#forget(lane);
      this.#draining.add(lane);
    }
  }

  /** Whether nothing is in progress in a partition whose lanes are closed. */
  isDrained(partition: number, isSaved: (lane: Lane) => boolean): boolean {
    for (const lane of this.#draining) {
      if (lane.isDrained && isSaved(lane)) this.#draining.delete(lane);
      else if (lane.partition === partition) return false;
    }
    return true;
  }

  forgetIdle(isSaved: (lane: Lane) => boolean): void {
    if (this.#lanes.size <= maxIdleLanes) return;
    for (const lane of this.#lanes.values()) if (lane.isIdle && isSaved(lane)) this.#forget(lane);
  }

  #forget(lane: Lane): void {
    lane.close();
    this.#lanes.delete(lane.integrationId);
    this.ready.delete(lane);
  }
}
