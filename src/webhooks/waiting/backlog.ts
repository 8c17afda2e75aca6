import { setTimeout as sleep } from 'node:timers/promises';
import type { Condition } from '../integrations/condition.ts';
import type { IntegrationDirectory } from '../integrations/directory.ts';
import type { Integration } from '../integrations/integration.ts';
import { waitingStatuses, type WaitingStatus, type WebhookObserver } from '../observer.ts';
import type { WaitingStore } from './waiting-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';

export interface BacklogDependencies {
  readonly integrations: Pick<IntegrationDirectory, 'find'>;
  readonly conditions: (integrations: readonly Integration[]) => Promise<ReadonlyMap<string, Condition>>;
  readonly waiting: WaitingStore;
  readonly clock: Clock;
  readonly observer: WebhookObserver;
}

const idsAtOnce = 100;
/** Milliseconds between two pages of integrations, so that others can use the database. */
const pauseMs = 50;

/** Adds up the waiting deliveries of all integrations that have some, and reports them. */
export async function measureBacklog({
  integrations,
  conditions,
  waiting: store,
  clock,
  observer,
}: BacklogDependencies): Promise<void> {
  const none = { count: 0, since: Infinity };
  const sums = { due: { ...none }, retrying: { ...none }, paused: { ...none }, disabled: { ...none } };
  const add = (status: WaitingStatus, count: number, since: Date): void => {
    const sum = sums[status];
    sum.count += count;
    sum.since = Math.min(sum.since, since.getTime());
  };
  const found = await store.findAll(clock.now());
  const all = [...found.keys()];
  for (let start = 0; start < all.length; start += idsAtOnce) {
    const some = await integrations.find(all.slice(start, start + idsAtOnce));
    const known = await conditions(some);
    for (const { id, status } of some) {
      const waiting = found.get(id);
      if (waiting === undefined) continue;
      const retryingUntil = known.get(id)?.retryingUntil;
      if (status !== 'active') add(status, waiting.count, waiting.oldestAt);
      else if (retryingUntil !== undefined) add('retrying', waiting.count, waiting.oldestAt);
      else {
        if (waiting.due !== undefined) add('due', waiting.due.count, waiting.due.since);
        if (waiting.later !== undefined) add('retrying', waiting.later.count, waiting.later.oldestAt);
      }
    }
    await sleep(pauseMs);
  }
  const now = clock.now().getTime();
  for (const status of waitingStatuses) {
    const { count, since } = sums[status];
    observer.waiting(status, count, count === 0 ? 0 : Math.max(0, now - since) / 1_000);
  }
}
