import { setTimeout as sleep } from 'node:timers/promises';
import { doForEach } from '../base/errors/outage.ts';
import type { IntegrationDirectory } from './integrations/directory.ts';
import type { DeliveryStore } from './deliveries/delivery-store.ts';
import type { HealthStore } from './lanes/health-store.ts';
import type { WebhookObserver } from './observer.ts';
import type { ReplayStore } from './replays/replay-store.ts';
import type { WebhookTiming } from './timing.ts';
import type { Clock } from '../base/runtime/clock.ts';

/** Deletes data that is no longer needed. Finished documents expire (db/expiry.ts). */
export interface Retention {
  /** Drops deliveries that were held too long. */
  expireHeld(): Promise<void>;
  /** Removes deliveries, replays and the health of integrations that were deleted after something was sent to them. */
  sweepDeleted(): Promise<void>;
  /**
   * Removes deliveries of all other integrations that do not exist. It searches between the ids of all existing ones,
   * so call it once a day.
   */
  sweepOrphans(): Promise<void>;
}

export interface RetentionDependencies {
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly health: Pick<HealthStore, 'ids' | 'remove'>;
  readonly integrations: Pick<IntegrationDirectory, 'existing' | 'ids'>;
  readonly timing: Pick<WebhookTiming, 'hold' | 'retention'>;
  readonly clock: Clock;
  readonly observer: WebhookObserver;
}

const idsAtOnce = 100;
/** Milliseconds between two commands that change or delete many documents, at least. */
const pauseMs = 20;
/** A pause lasts so many times as long as the work before it, so that others have most of a slow server. */
const pauseFactor = 4;
/** Milliseconds of work before a pause that count. */
const longestWork = 1_000;

type Pause = () => Promise<void>;

export function createRetention(dependencies: RetentionDependencies): Retention {
  const { deliveries, replays, health, integrations, timing, clock, observer } = dependencies;
  /** Creates the pauses of some work. */
  const pauses = (): Pause => {
    let resumedAt = clock.monotonic();
    return async () => {
      const worked = Math.min(clock.monotonic() - resumedAt, longestWork);
      await sleep(Math.max(pauseMs, pauseFactor * worked));
      resumedAt = clock.monotonic();
    };
  };

  /** @returns the number of integrations that do not exist and have nothing left */
  const sweep = async (ids: readonly string[], pause: Pause): Promise<number> => {
    const existing = await integrations.existing(ids);
    const deleted = ids.filter((id) => !existing.has(id));
    await doForEach(deleted, async (id) => {
      await deliveries.removeAllOf(id, pause);
      await replays.removeAllOf(id);
    });
    // Last, because an interrupted sweep finds the rest by it.
    if (deleted.length > 0) await health.remove(deleted);
    return deleted.length;
  };

  /** The search is between neighbouring ids of existing integrations, so it never matches their documents. */
  const sweepBetween = async (after: string, before: string | undefined, pause: Pause): Promise<void> => {
    for (;;) {
      const ids = await deliveries.integrationsBetween(after, before);
      await pause();
      const swept = await sweep(ids, pause);
      if (swept === 0) return;
    }
  };

  return {
    async expireHeld() {
      const pause = pauses();
      const dueBefore = new Date(clock.now().getTime() - timing.hold);
      const end = (): { at: Date; expiresAt: Date } => {
        const at = clock.now();
        return { at, expiresAt: new Date(at.getTime() + timing.retention) };
      };
      for await (const found of deliveries.firstDue({ from: '', before: undefined })) {
        for (const { integrationId, at } of found) {
          if (at >= dueBefore) continue;
          const expired = await deliveries.expire(integrationId, dueBefore, end, pause);
          for (let each = 0; each < expired; each += 1) observer.expired();
        }
      }
    },
    async sweepDeleted() {
      const pause = pauses();
      for await (const ids of pages(health.ids)) await sweep(ids, pause);
    },
    async sweepOrphans() {
      const pause = pauses();
      let after = '';
      for await (const ids of pages(integrations.ids)) {
        for (const id of ids) {
          await sweepBetween(after, id, pause);
          after = id;
        }
      }
      await sweepBetween(after, undefined, pause);
    },
  };
}

async function* pages(list: (after: string, limit: number) => Promise<string[]>): AsyncGenerator<string[]> {
  for (let ids = await list('', idsAtOnce); ids.length > 0; ids = await list(ids.at(-1) ?? '', idsAtOnce)) yield ids;
}
