import { isolateFailures } from '../../base/errors/outage.ts';
import type { IntegrationDirectory, ReceiverSettings } from '../integrations/directory.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { WebhookLog, WebhookObserver } from '../observer.ts';
import { isOurs } from '../sending/send-error.ts';
import type { WebhookTiming } from '../timing.ts';
import { decide, type FailedAttempts } from './health.ts';
import type { HealthStore } from './health-store.ts';
import type { Lane } from './lane.ts';

export interface VerdictDependencies {
  readonly health: Pick<HealthStore, 'save'>;
  readonly integrations: Pick<IntegrationDirectory, 'warn' | 'disable' | 'clearWarning'>;
  readonly timing: WebhookTiming;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** Counts the results of attempts, and decides about receivers that fail. */
export interface Verdicts {
  success(lane: Lane, settings: ReceiverSettings, endedAt: Date): void;
  /** @param retryAfter milliseconds that the receiver asked for */
  failure(lane: Lane, settings: ReceiverSettings, failure: FailedAttempts, retryAfter: number | undefined): void;
  /** Stores what has changed. Call it now and then, because a write for each attempt would cost too much. */
  save(): Promise<void>;
  isSaved(lane: Lane): boolean;
}

/** On some servers the time for many ids grows with their square. */
const savedAtOnce = 100;

export function createVerdicts(dependencies: VerdictDependencies): Verdicts {
  const { health: store, integrations, timing, random, log, observer } = dependencies;
  const unsaved = new Set<Lane>();

  const write = (lane: Lane, writing: Promise<unknown>): void => {
    const { integrationId } = lane;
    const warnOf = (error: unknown): void => {
      log.warn({ error, integration_id: integrationId }, 'a decision about a receiver could not be written');
    };
    lane.decide(writing.then(() => undefined, warnOf));
  };

  const warn = async (
    lane: Lane,
    settings: ReceiverSettings,
    at: Date,
    notice: { readonly failingSince: Date; readonly disablesAt: Date },
  ): Promise<void> => {
    if (!(await integrations.warn({ ...settings, ...notice, at }))) return;
    // Only now: an integration is disabled only if its operator could see the warning.
    if (!lane.receiver.warned(settings.settingsRevision, at)) return;
    unsaved.add(lane);
    log.warn(
      { integration_id: lane.integrationId },
      'all attempts have failed for days; the integration will be disabled',
    );
  };

  const disable = async (
    lane: Lane,
    settings: ReceiverSettings,
    reason: 'gone' | 'failing',
    at: Date,
  ): Promise<void> => {
    if (!(await integrations.disable({ ...settings, reason, at }))) return;
    log.warn({ integration_id: lane.integrationId, reason }, 'the integration is disabled');
    observer.integrationDisabled(reason);
  };

  return {
    success(lane, settings, endedAt) {
      unsaved.add(lane);
      const before = lane.receiver.succeeded(settings.settingsRevision, endedAt);
      if (before === undefined) return;
      if (settings.isWarned || before.warnedAt !== undefined) write(lane, integrations.clearWarning(settings));
    },
    failure(lane, settings, failure, retryAfter) {
      const { at, status, error } = failure;
      unsaved.add(lane);
      const change = lane.receiver.failed(settings.settingsRevision, failure, retryAfter, timing, random.fraction());
      if (change === undefined) return;
      const { before, after } = change;
      if (after.open !== undefined && (before.open === undefined || before.open.until <= at)) {
        observer.breakerOpened();
        log.info(
          { integration_id: lane.integrationId, until: after.open.until },
          'a receiver keeps failing; sending to it pauses',
        );
      }
      if (isOurs(error)) return;
      const decision = decide(after, at, timing);
      if (decision.action === 'warn') write(lane, warn(lane, settings, at, decision));
      if (status === 410) write(lane, disable(lane, settings, 'gone', at));
      else if (decision.action === 'disable') write(lane, disable(lane, settings, 'failing', at));
    },
    async save() {
      const lanes = [...unsaved];
      for (let start = 0; start < lanes.length; start += savedAtOnce) {
        const some = lanes.slice(start, start + savedAtOnce);
        const states = new Map(some.map((lane) => [lane, lane.receiver.state]));
        await isolateFailures(
          some,
          (each) => store.save(each.map((lane) => ({ integrationId: lane.integrationId, ...lane.receiver.state }))),
          ({ integrationId }, error) => {
            // It counts as saved, so that its partition can be passed on. The next result is tried again.
            log.error({ error, integration_id: integrationId }, 'the health of a receiver cannot be stored');
          },
        );
        for (const [lane, state] of states) if (lane.receiver.state === state) unsaved.delete(lane);
      }
    },
    isSaved: (lane) => !unsaved.has(lane),
  };
}
