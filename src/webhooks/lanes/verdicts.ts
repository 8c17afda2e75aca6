import type { IntegrationDirectory, ReceiverSettings } from '../integrations/directory.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { WebhookLog, WebhookObserver } from '../observer.ts';
import type { WebhookTiming } from '../timing.ts';
import { afterFailure, afterSuccess, decide, type Failure } from './health.ts';
import type { HealthStore } from './health-store.ts';
import { healthUnder, type Lane } from './lane.ts';

export interface VerdictDependencies {
  readonly health: Pick<HealthStore, 'save'>;
  readonly integrations: Pick<IntegrationDirectory, 'warn' | 'disable' | 'clearWarning'>;
  /** Called when a decision about the receiver is written. */
  readonly wake: (lane: Lane) => void;
  readonly timing: WebhookTiming;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** Counts the results of attempts, and decides about receivers that fail. */
export interface Verdicts {
  success(lane: Lane, receiver: ReceiverSettings, endedAt: Date): void;
  /** @param retryAfter milliseconds that the receiver asked for */
  failure(lane: Lane, receiver: ReceiverSettings, failure: Failure, retryAfter: number | undefined): void;
  /** Stores what has changed. Call it now and then, because a write for each attempt would cost too much. */
  save(): Promise<void>;
  isSaved(lane: Lane): boolean;
}

/** On some servers the time for many ids grows with their square. */
const savedAtOnce = 100;

export function createVerdicts(dependencies: VerdictDependencies): Verdicts {
  const { health: store, integrations, wake, timing, random, log, observer } = dependencies;
  const unsaved = new Set<Lane>();

  const write = (lane: Lane, writing: Promise<unknown>): void => {
    lane.decisions += 1;
    void writing
      .catch((error: unknown) => {
        log.warn({ error, integration_id: lane.integrationId }, 'a decision about a receiver could not be written');
      })
      .finally(() => {
        lane.decisions -= 1;
        lane.known = undefined;
        wake(lane);
      });
  };

  const warn = async (
    lane: Lane,
    receiver: ReceiverSettings,
    at: Date,
    notice: { readonly failingSince: Date; readonly disablesAt: Date },
  ): Promise<void> => {
    if (!(await integrations.warn({ ...receiver, ...notice, at }))) return;
    // Only now: an integration is disabled only if its operator could see the warning.
    const present = healthUnder(lane, receiver.settingsRevision);
    if (present?.failingSince === undefined || present.warnedAt !== undefined) return;
    lane.health = { ...present, warnedAt: at };
    unsaved.add(lane);
    log.warn(
      { integration_id: lane.integrationId },
      'all attempts have failed for days; the integration will be disabled',
    );
  };

  const disable = async (
    lane: Lane,
    receiver: ReceiverSettings,
    reason: 'gone' | 'failing',
    at: Date,
  ): Promise<void> => {
    if (!(await integrations.disable({ ...receiver, reason, at }))) return;
    log.warn({ integration_id: lane.integrationId, reason }, 'the integration is disabled');
    observer.integrationDisabled(reason);
  };

  return {
    success(lane, receiver, endedAt) {
      lane.activity = { lastAttemptAt: endedAt, lastSuccessAt: endedAt };
      unsaved.add(lane);
      const before = healthUnder(lane, receiver.settingsRevision);
      if (before === undefined) return;
      if (before.failingSince !== undefined || before.open !== undefined) lane.health = afterSuccess(before);
      if (receiver.isWarned || before.warnedAt !== undefined) write(lane, integrations.clearWarning(receiver));
    },
    failure(lane, receiver, failure, retryAfter) {
      const { at, status } = failure;
      lane.activity = { ...lane.activity, lastAttemptAt: at };
      unsaved.add(lane);
      const before = healthUnder(lane, receiver.settingsRevision);
      if (before === undefined) return;
      const after = afterFailure(before, failure, retryAfter, timing, random.fraction());
      lane.health = after;
      if (after.open !== undefined && (before.open === undefined || before.open.until <= at)) {
        observer.breakerOpened();
        log.info(
          { integration_id: lane.integrationId, until: after.open.until },
          'a receiver keeps failing; sending to it pauses',
        );
      }
      const decision = decide(after, at, timing);
      if (decision.action === 'warn') write(lane, warn(lane, receiver, at, decision));
      if (status === 410) write(lane, disable(lane, receiver, 'gone', at));
      else if (decision.action === 'disable') write(lane, disable(lane, receiver, 'failing', at));
    },
    async save() {
      const lanes = [...unsaved];
      for (let start = 0; start < lanes.length; start += savedAtOnce) {
        const some = lanes.slice(start, start + savedAtOnce);
        const states = some.map(({ integrationId, health, activity }) => ({ integrationId, health, activity }));
        await store.save(states);
        some.forEach((lane, index) => {
          const { health, activity } = states[index] ?? lane;
          if (lane.health === health && lane.activity === activity) unsaved.delete(lane);
        });
      }
    },
    isSaved: (lane) => !unsaved.has(lane),
  };
}
