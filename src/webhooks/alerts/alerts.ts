import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import {
  integrationDisabled,
  integrationFailing,
  integrationRecovered,
  integrationsFailing,
} from '../events/announcements.ts';
import type { OutboxEntry } from '../events/event.ts';
import type { Relay } from '../events/outbox.ts';
import type { IntegrationDirectory } from '../integrations/directory.ts';
import type { Integration } from '../integrations/integration.ts';
import type { HealthStore, LaneState } from '../lanes/health-store.ts';
import type { FailedAttempts, LaneHealth } from '../lanes/health.ts';
import { isOurs as isFaultOfProxy } from '../sending/send-error.ts';
import type { WebhookTiming } from '../timing.ts';
import type { WaitingStore } from '../waiting/waiting-store.ts';
import { alertCollection, type Alert, type AlertStore, type Announced } from './alert-store.ts';

export interface AlertsDependencies {
  readonly alerts: AlertStore;
  readonly health: Pick<HealthStore, 'find' | 'failing' | 'lastSuccess'>;
  readonly integrations: Pick<IntegrationDirectory, 'find'>;
  readonly waiting: Pick<WaitingStore, 'find'>;
  readonly relay: Pick<Relay, 'nudge'>;
  readonly timing: Pick<WebhookTiming, 'breaker' | 'failing'>;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
}

/** Announces receivers that fail, that work again, and integrations that were disabled. */
export interface Alerts {
  /** Any number of processes can do this. Call it every few seconds. */
  tell(): Promise<void>;
}

/** Integrations that are announced one by one in an hour. */
const mostInHour = 20;
/** The most receivers that fail that are looked at. */
const mostFailing = 1_000;
const hourMs = 3_600_000;
/** So long it may be our network that fails, before receivers are announced all the same. In milliseconds. */
const doubtMs = 30 * 60_000;
/** On some servers the time for many ids grows with their square. */
const idsAtOnce = 100;

/** What can be the fault of this machine or its network as well. */
const ambiguous: ReadonlySet<FailedAttempts['error']> = new Set(['unreachable', 'name-not-found', 'connect-timeout']);

interface Failing {
  readonly integration: Integration;
  readonly health: LaneHealth;
  readonly since: Date;
  readonly failure: FailedAttempts;
}

/** It compares the stored condition of receivers with what was told, so nothing is missed when a process dies. */
export function createAlerts(dependencies: AlertsDependencies): Alerts {
  const { alerts, health, integrations, waiting, relay, timing, clock, random } = dependencies;

  const announce = async (
    kind: string,
    since: Date,
    most: number | undefined,
    create: (occasion: { eventId: string; at: Date; traceparent: undefined }) => OutboxEntry,
  ): Promise<Announced> => {
    const at = clock.now();
    const hour = new Date(Math.floor(at.getTime() / hourMs) * hourMs).toISOString();
    const event = create({ eventId: random.uuid(), at, traceparent: undefined });
    const announced = await alerts.announce(hour, kind, event, { since, most });
    if (announced === 'told') relay.nudge(alertCollection, `hour/${hour}`);
    return announced;
  };
  const countOf = async (id: string): Promise<number> => (await waiting.find(id, clock.now()))?.count ?? 0;

  const tellFailing = async ({ integration, health: { failuresInARow }, since, failure }: Failing, kind: string) => {
    const { id, name, warning } = integration;
    const receiver = { integrationId: id, name, since, waiting: await countOf(id), disablesAt: warning?.disablesAt };
    const { status, error } = failure;
    return await announce(`${kind}_${id}`, since, mostInHour, (occasion) =>
      integrationFailing({ ...receiver, failures: failuresInARow, status, error }, occasion),
    );
  };
  const tellDisabled = async ({ id, name, disabled }: Integration, at: Date): Promise<Announced> => {
    const receiver = { integrationId: id, name, reason: disabled?.reason ?? 'failing', waiting: await countOf(id) };
    return await announce(`disabled_${id}`, at, mostInHour, (occasion) => integrationDisabled(receiver, occasion));
  };

  /** What changed for a receiver about which something was told. */
  const goOn = async (
    alert: Alert,
    integration: Integration | undefined,
    state: LaneState | undefined,
  ): Promise<void> => {
    const { integrationId, since } = alert;
    if (integration === undefined) {
      await alerts.remove(integrationId);
      return;
    }
    const { name, status, disabled, warning } = integration;
    const stored = state?.health;
    const lastSuccessAt = state?.activity.lastSuccessAt;
    const isSound =
      status === 'active' && stored?.failuresInARow === 0 && lastSuccessAt !== undefined && lastSuccessAt >= since;
    // Somebody has enabled or changed it. If it still fails, that is told as something new.
    const isStale = status === 'active' ? alert.isDisabled || (alert.isWarned && warning === undefined) : false;
    if (isStale && !isSound) {
      await alerts.remove(integrationId);
      return;
    }
    if (disabled !== undefined && !alert.isDisabled) {
      if ((await tellDisabled(integration, disabled.at)) === 'told') await alerts.put({ ...alert, isDisabled: true });
    } else if (isSound) {
      const receiver = { integrationId, name, since, waiting: await countOf(integrationId) };
      const announced = await announce(`recovered_${integrationId}`, since, undefined, (occasion) =>
        integrationRecovered(receiver, occasion),
      );
      // What cannot be told in this hour is told in the next one, unless it fails again.
      if (announced === 'told') await alerts.remove(integrationId);
    } else if (warning !== undefined && !alert.isWarned && stored?.lastFailure !== undefined) {
      const failing = { integration, health: stored, since, failure: stored.lastFailure };
      if ((await tellFailing(failing, 'warned')) === 'told') await alerts.put({ ...alert, isWarned: true });
    }
  };

  const isTold = ({ health: { failuresInARow }, since }: Failing): boolean =>
    failuresInARow >= timing.breaker.failures || clock.now().getTime() - since.getTime() >= timing.failing.tellAfter;

  /**
   * Whether the fault may be ours: then only what shows that others can be reached counts as failure of the receiver.
   */
  const isOurs = async (
    { failure, since }: Failing,
    all: readonly Failing[],
    lastSuccess: () => Promise<Date | undefined>,
  ): Promise<boolean> => {
    if (isFaultOfProxy(failure.error)) return true;
    if (!ambiguous.has(failure.error) || clock.now().getTime() - since.getTime() > doubtMs) return false;
    if (failure.error === 'connect-timeout' && all.length === 1) return false;
    const hasAnswered = all.some(
      ({ failure: other }) => !ambiguous.has(other.error) && !isFaultOfProxy(other.error) && other.at >= since,
    );
    const succeededAt = hasAnswered ? undefined : await lastSuccess();
    return !hasAnswered && (succeededAt === undefined || succeededAt < since);
  };

  return {
    async tell() {
      const told = await alerts.all();
      const failingIds = await health.failing(mostFailing);
      if (told.length === 0 && failingIds.length === 0) return;
      const ids = [...new Set([...told.map(({ integrationId }) => integrationId), ...failingIds])];
      const states = await health.find(ids);
      const found: Integration[] = [];
      for (let start = 0; start < ids.length; start += idsAtOnce) {
        found.push(...(await integrations.find(ids.slice(start, start + idsAtOnce))));
      }
      let succeeded: Promise<Date | undefined> | undefined;
      const lastSuccess = (): Promise<Date | undefined> => (succeeded ??= health.lastSuccess());
      const byId = new Map(found.map((integration) => [integration.id, integration]));
      for (const alert of told) {
        await goOn(alert, byId.get(alert.integrationId), states.get(alert.integrationId));
      }

      const known = new Set(told.map(({ integrationId }) => integrationId));
      const all = found.flatMap((integration): Failing | [] => {
        const stored = states.get(integration.id)?.health;
        const { failingSince: since, lastFailure: failure } = stored ?? {};
        if (stored === undefined || since === undefined || failure === undefined) return [];
        return stored.settingsRevision === integration.settingsRevision
          ? { integration, health: stored, since, failure }
          : [];
      });
      const sending = all.filter(({ integration: { status } }) => status === 'active');
      const fresh = all.filter(({ integration }) => !known.has(integration.id));
      for (const failing of fresh) {
        const { integration, since } = failing;
        const { id: integrationId, status, disabled } = integration;
        let announced: Announced;
        if (disabled !== undefined) {
          if (clock.now().getTime() - disabled.at.getTime() > hourMs) continue;
          announced = await tellDisabled(integration, disabled.at);
        } else {
          if (status !== 'active' || !isTold(failing) || (await isOurs(failing, sending, lastSuccess))) continue;
          announced = await tellFailing(failing, 'failing');
        }
        if (announced === 'told') {
          const isWarned = integration.warning !== undefined;
          await alerts.put({ integrationId, since, isWarned, isDisabled: disabled !== undefined });
        } else if (announced === 'full') {
          await announce('summary', new Date(0), undefined, (occasion) =>
            integrationsFailing({ integrationId, failing: sending.length, announced: mostInHour }, occasion),
          );
          return;
        }
      }
    },
  };
}
