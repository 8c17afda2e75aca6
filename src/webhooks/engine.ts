import { within } from '../base/runtime/within.ts';
import type { CreateDeliveries } from './deliveries/delivery.ts';
import { Agenda, type Appointment } from './lanes/agenda.ts';
import type { Context, EngineDependencies } from './lanes/context.ts';
import { insertDeliveries } from './lanes/creation.ts';
import { Discovery } from './lanes/discovery.ts';
import { Dispatcher } from './lanes/dispatcher.ts';
import type { LaneState } from './lanes/health-store.ts';
import { Lanes } from './lanes/lanes.ts';
import { createVerdicts } from './lanes/verdicts.ts';
import { partitionOf } from './partitions/partition.ts';
import { createPartitions, type PartitionEvents } from './partitions/partitions.ts';
import { repeat, type Repetition } from './repeat.ts';
import { createQuota } from './sending/quota.ts';
import { createTasks } from './tasks.ts';

/**
 * Sends deliveries, together with any number of other processes. A delivery of a partition that this process holds is
 * known from its creation to its end: it waits in its lane, is in progress, or is in the agenda until its next attempt.
 * So nothing has to be searched for. The database is searched only when a partition is taken, and now and then for what
 * was lost between two processes. What other processes create is marked as fresh, which is a small index of its own.
 */
export class WebhookEngine {
  readonly #context: Context;
  readonly #agenda: Agenda;
  readonly #discovery: Discovery;
  #loops: readonly Repetition[] = [];

  constructor(dependencies: EngineDependencies) {
    const { layout, timing, limits, clock, random, log } = dependencies;
    const tasks = createTasks(this.#warn);
    const partitions = createPartitions(layout, timing, clock, random, log);
    const quota = createQuota(limits, clock);
    this.#agenda = new Agenda(clock, timing);
    const lanes = new Lanes({ ...dependencies, partitions, agenda: this.#agenda, quota, tasks });
    this.#context = { ...dependencies, partitions, lanes, verdicts: createVerdicts(dependencies), quota, tasks };
    this.#discovery = new Discovery(this.#context);
    new Dispatcher(this.#context).start();
  }

  readonly create: CreateDeliveries = (added, request) => {
    const creating = insertDeliveries(this.#context, added, request);
    this.#context.tasks.track(creating.catch(() => undefined));
    return creating;
  };

  /** Call it when an operator has changed the settings of an integration, or has requested a replay. */
  nudge(integrationId: string): void {
    const { lanes, partitions, tasks } = this.#context;
    if (lanes.holds(integrationId)) lanes.of(integrationId).lookAgain();
    else if (!partitions.isSettled()) tasks.track(partitions.call(integrationId));
  }

  /** The same, and a receiver that gets nothing because it failed gets an attempt now. */
  attemptNow(integrationId: string): void {
    const { lanes, health, tasks, clock } = this.#context;
    const now = clock.now();
    const ending = health.endPause(integrationId, now).then(() => {
      lanes.find(integrationId)?.receiver.endPause(now);
      this.nudge(integrationId);
    });
    tasks.track(ending);
  }

  /** What this process knows about a receiver and is perhaps not stored yet. */
  stateOf(integrationId: string): LaneState | undefined {
    const { lanes } = this.#context;
    const receiver = lanes.find(integrationId)?.receiver;
    return receiver?.isLoaded === true && lanes.holds(integrationId) ? receiver.state : undefined;
  }

  start(): void {
    const { partitions, timing } = this.#context;
    partitions.start(this.#partitionEvents());
    this.#agenda.start(this.#keep);
    // Other processes wait for this one, so what they have created is looked for more often than what was lost.
    const freshPause = (): number => {
      if (this.#discovery.hasFresh) return timing.poll / 10;
      return partitions.hasOthers() ? timing.poll / 2 : timing.poll;
    };
    const pause = (): number => timing.poll;
    this.#loops = [
      repeat(() => this.#discovery.findFresh(), freshPause, this.#warn),
      repeat(() => this.#tidy(), pause, this.#warn),
    ];
  }

  /** Waits for requests in progress, at most this many milliseconds, and passes the partitions on. */
  async stop(timeoutMs: number): Promise<void> {
    const { partitions, lanes, verdicts, settlements, sender, tasks, clock } = this.#context;
    const end = clock.monotonic() + timeoutMs;
    for (const loop of this.#loops) tasks.track(loop.end());
    this.#agenda.stop();
    await partitions.settle();
    await within(Math.max(0, end - clock.monotonic()), tasks.idle(), () => undefined);
    // Interrupted deliveries are due immediately for the next holder of their partition.
    settlements.abandon();
    await sender.close();
    await tasks.idle();
    lanes.close(partitions.held());
    await Promise.all([verdicts.save().catch(() => undefined), tasks.idle()]);
    await partitions.leave();
  }

  #partitionEvents(): PartitionEvents {
    const { partitions, lanes, verdicts, observer } = this.#context;
    return {
      taken: (found) => {
        observer.partitionsHeld(partitions.held().size);
        this.#discovery.search(found);
      },
      lost: (gone) => {
        observer.partitionsHeld(partitions.held().size);
        this.#discovery.skip(gone);
        lanes.close(gone);
      },
      isDrained: (partition) => lanes.isDrained(partition, verdicts.isSaved),
      called: (found) => {
        // Another process may have changed what is stored about their receivers.
        for (const lane of lanes.in(found)) if (lane.isDrained) lane.receiver.unload();
        this.#discovery.search(found);
      },
      renewed: () => {
        lanes.wakeAll();
      },
    };
  }

  readonly #keep = ({ integrationId, deliveryId: id }: Appointment): void => {
    const { partitions, lanes } = this.#context;
    if (!partitions.held().has(partitionOf(integrationId))) return;
    const lane = lanes.of(integrationId);
    if (id === undefined) lane.lookFor('deliveries');
    else lane.add({ id, isUrgent: false });
  };

  async #tidy(): Promise<void> {
    const { lanes, verdicts } = this.#context;
    this.#discovery.searchAgain();
    lanes.forgetIdle(verdicts.isSaved);
    await verdicts.save();
  }

  readonly #warn = (error: unknown): void => {
    this.#context.log.warn({ error }, 'the delivery engine failed; retrying');
  };
}
