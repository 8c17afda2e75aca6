import { setTimeout as sleep } from 'node:timers/promises';
import { doForEach, failuresOf, throwFailures, type Failure } from '../base/errors/outage.ts';
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

interface Run {
  readonly pause: Pause;
  /** The integrations for which it fails with an unexpected error. */
  readonly refused: Failure[];
}

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

  /** @returns the integrations that do not exist, and which of them have something left */
  const sweep = async (
    ids: readonly string[],
    { pause, refused }: Run,
  ): Promise<{ deleted: string[]; left: string[] }> => {
    const existing = await integrations.existing(ids);
    const deleted = ids.filter((id) => !existing.has(id));
    const failures = await failuresOf(deleted, async (id) => {
      await deliveries.removeAllOf(id, pause);
      await replays.removeAllOf(id);
    });
    refused.push(...failures);
    const left = failures.map(({ id }) => id);
    // Last, because an interrupted sweep finds the rest by it.
    const swept = deleted.filter((id) => !left.includes(id));
    if (swept.length > 0) await health.remove(swept);
    return { deleted, left };
  };

  /** The search is between neighbouring ids of existing integrations, so it never matches their documents. */
  const sweepBetween = async (after: string, before: string | undefined, run: Run): Promise<void> => {
    for (;;) {
      const ids = await deliveries.integrationsBetween(after, before);
      await run.pause();
      const { deleted, left } = await sweep(ids, run);
      if (deleted.length === 0) return;
      if (left.length === 0) continue;
      // What cannot be removed is neighbour to the rest, like an existing one.
      const bounds = [after, ...left.toSorted(), before];
      for (const [index, bound] of bounds.slice(1).entries()) await sweepBetween(bounds[index] ?? '', bound, run);
      return;
    }
  };

  /** @throws {Error} at the end, with the integrations for which it failed; {ProblemError} an outage, at once */
  const start = async (work: (run: Run) => Promise<void>): Promise<void> => {
    const refused: Failure[] = [];
    const failures = await failuresOf(['search'], () => work({ pause: pauses(), refused }));
    throwFailures([...refused, ...failures]);
  };

  /** Integrations with deliveries that were due before a time. */
  async function* owed(dueBefore: Date): AsyncGenerator<string> {
    for await (const found of deliveries.firstDue({ from: '', before: undefined })) {
      for (const { integrationId, at } of found) if (at < dueBefore) yield integrationId;
    }
  }

  return {
    async expireHeld() {
      const dueBefore = new Date(clock.now().getTime() - timing.hold);
      const end = (): { at: Date; expiresAt: Date } => {
        const at = clock.now();
        return { at, expiresAt: new Date(at.getTime() + timing.retention) };
      };
      const pause = pauses();
      await doForEach(owed(dueBefore), async (id) => {
        const expired = await deliveries.expire(id, dueBefore, end, pause);
        for (let each = 0; each < expired; each += 1) observer.expired();
      });
    },
    sweepDeleted: () =>
      start(async (run) => {
        for await (const ids of pages(health.ids)) await sweep(ids, run);
      }),
    sweepOrphans: () =>
      start(async (run) => {
        let after = '';
        for await (const ids of pages(integrations.ids)) {
          for (const id of ids) {
            await sweepBetween(after, id, run);
            after = id;
          }
        }
        await sweepBetween(after, undefined, run);
      }),
  };
}

async function* pages(list: (after: string, limit: number) => Promise<string[]>): AsyncGenerator<string[]> {
  for (let ids = await list('', idsAtOnce); ids.length > 0; ids = await list(ids.at(-1) ?? '', idsAtOnce)) yield ids;
}
