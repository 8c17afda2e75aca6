import type { IntegrationDirectory } from '../integrations/directory.ts';
import type { DeliveryStore } from './deliveries/store.ts';
import type { LaneStore } from './lanes/store.ts';
import type { WebhookObserver } from './observer.ts';
import type { ReplayStore } from './replays/store.ts';
import type { Clock, WebhookTiming } from './timing.ts';

/** Removes what nobody needs any more. What is finished leaves by itself, when its time to live is over. */
export interface Retention {
  /** Drops deliveries that were held too long. */
  expireHeld(): Promise<void>;
  /** Removes deliveries, replays and lanes of integrations that do not exist. */
  sweepDeleted(): Promise<void>;
}

export interface RetentionDependencies {
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  readonly lanes: LaneStore;
  readonly integrations: Pick<IntegrationDirectory, 'existing'>;
  readonly timing: Pick<WebhookTiming, 'hold' | 'retention'>;
  readonly clock: Clock;
  readonly observer: WebhookObserver;
}

const integrationsAtOnce = 100;

export function createRetention(dependencies: RetentionDependencies): Retention {
  const { deliveries, replays, lanes, integrations, timing, clock, observer } = dependencies;
  /** Pages of ids. Lanes count too: they outlive deliveries. */
  const pages = async function* (): AsyncGenerator<string[]> {
    for (const list of [deliveries.integrationIds, lanes.ids]) {
      let after = '';
      for (;;) {
        const ids = await list(after, integrationsAtOnce);
        const last = ids.at(-1);
        if (last === undefined) break;
        yield ids;
        after = last;
      }
    }
  };

  return {
    async expireHeld() {
      const at = clock.now();
      const dueBefore = new Date(at.getTime() - timing.hold);
      const expiresAt = new Date(at.getTime() + timing.retention);
      for await (const ids of pages()) {
        for (const id of ids) {
          const expired = await deliveries.expire(id, dueBefore, at, expiresAt);
          for (let each = 0; each < expired; each += 1) observer.finished('expired', 0);
        }
      }
    },
    async sweepDeleted() {
      for await (const ids of pages()) {
        const existing = await integrations.existing(ids);
        const deleted = ids.filter((id) => !existing.has(id));
        for (const id of deleted) {
          while (await deliveries.removeSomeOf(id));
          await replays.removeAllOf(id);
        }
        await lanes.remove(deleted);
      }
    },
  };
}
