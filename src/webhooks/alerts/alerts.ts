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
import type { FailingLane, HealthStore, LaneState } from '../lanes/health-store.ts';
import type { FailedAttempts, LaneHealth } from '../lanes/health.ts';
import { isOurs as isFaultOfProxy } from '../sending/send-error.ts';
import type { WebhookTiming } from '../timing.ts';
import type { WaitingStore } from '../waiting/waiting-store.ts';
import { alertCollection, type Alert, type AlertStore, type Announced } from './alert-store.ts';
import { createRounds, type PlaceInRound } from './rounds.ts';

export interface AlertsDependencies {
  readonly alerts: AlertStore;
  readonly health: Pick<HealthStore, 'find' | 'failingSince' | 'lastSuccess'>;
  readonly integrations: Pick<IntegrationDirectory, 'find'>;
  readonly waiting: Pick<WaitingStore, 'find'>;
  readonly relay: Pick<Relay, 'nudge'>;
  readonly timing: Pick<WebhookTiming, 'breaker' | 'failing'>;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
}

/** Announces receivers that fail, that work again, and integrations that were disabled. */
export interface Alerts {
  /**
   * Looks at some of the receivers that fail and of those about which something was told, and at the next ones with the
   * next call. Any number of processes can do this. Call it every few seconds.
   */
  tell(): Promise<void>;
}

/** Integrations that are announced one by one in an hour. */
const mostInHour = 20;
/** How many receivers a call looks at, of those that fail, and of those about which something was told. */
const pageSize = 300;
const hourMs = 3_600_000;
/** So long an integration that was disabled is announced, if nothing was told about it before. In milliseconds. */
const disabledMs = 24 * hourMs;
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

/** Why and when an integration was disabled. */
type Disabled = NonNullable<Integration['disabled']>;

interface Occasion {
  readonly eventId: string;
  readonly at: Date;
  readonly traceparent: undefined;
}

/** A round through all receivers that fail. */
interface Round {
  /** Active integrations that fail. */
  failing: number;
  /** Integrations that were disabled, which nobody knows yet. */
  disabled: number;
  /** One that is not announced in this hour, because as many were as may be. */
  untold: string | undefined;
}

const newRound = (): Round => ({ failing: 0, disabled: 0, untold: undefined });

/** It compares the stored condition of receivers with what was told, so nothing is missed when a process dies. */
export function createAlerts(dependencies: AlertsDependencies): Alerts {
  const { alerts, health, integrations, waiting, relay, timing, clock, random } = dependencies;
  const nextTold = createRounds(alerts.list, pageSize);
  const nextFailing = createRounds(health.failingSince, pageSize);
  /** The hour that has as many as it may have. */
  let fullHour: string | undefined;
  /** Active integrations that failed in the last whole round. */
  let failingCount: number | undefined;
  /** When a receiver has answered last although it failed, as far as seen here. */
  let answeredAt = new Date(0);
  /** What the present round has come to. */
  let round: Round = newRound();

  const currentHour = (): string => new Date(Math.floor(clock.now().getTime() / hourMs) * hourMs).toISOString();
  const announce = async (
    kind: string,
    since: Date,
    most: number | undefined,
    create: (occasion: Occasion) => OutboxEntry,
  ): Promise<Announced> => {
    const hour = currentHour();
    const event = create({ eventId: random.uuid(), at: clock.now(), traceparent: undefined });
    const announced = await alerts.announce(hour, kind, event, { since, most });
    if (announced === 'told') relay.nudge(alertCollection, `hour/${hour}`);
    if (announced === 'full') fullHour = hour;
    return announced;
  };
  const countOf = async (id: string): Promise<number> => (await waiting.find(id, clock.now()))?.count ?? 0;

  /** Announces one of those of which an hour has only so many. */
  const announceOne = async (
    kind: string,
    integrationId: string,
    since: Date,
    create: (waiting: number, occasion: Occasion) => OutboxEntry,
  ): Promise<Announced> => {
    if (fullHour === currentHour()) return 'full';
    const count = await countOf(integrationId);
    return await announce(`${kind}_${integrationId}`, since, mostInHour, (occasion) => create(count, occasion));
  };
  const tellFailing = async ({ integration, health: { failuresInARow }, since, failure }: Failing, kind: string) => {
    const { id, name, warning } = integration;
    const { status, error } = failure;
    const condition = { since, failures: failuresInARow, status, error, disablesAt: warning?.disablesAt };
    return await announceOne(kind, id, since, (count, occasion) =>
      integrationFailing({ integrationId: id, name, waiting: count, ...condition }, occasion),
    );
  };
  const tellDisabled = async ({ id, name }: Integration, { reason, at }: Disabled): Promise<Announced> =>
    await announceOne('disabled', id, at, (count, occasion) =>
      integrationDisabled({ integrationId: id, name, waiting: count, reason }, occasion),
    );

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
      if ((await tellDisabled(integration, disabled)) === 'told') await alerts.put({ ...alert, isDisabled: true });
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
    lastSuccess: () => Promise<Date | undefined>,
  ): Promise<boolean> => {
    if (isFaultOfProxy(failure.error)) return true;
    if (!ambiguous.has(failure.error) || clock.now().getTime() - since.getTime() > doubtMs) return false;
    if (failure.error === 'connect-timeout' && failingCount === 1) return false;
    if (answeredAt >= since) return false;
    const succeededAt = await lastSuccess();
    return succeededAt === undefined || succeededAt < since;
  };

  const findIntegrations = async (ids: readonly string[]): Promise<Map<string, Integration>> => {
    const found: Integration[] = [];
    for (let start = 0; start < ids.length; start += idsAtOnce) {
      found.push(...(await integrations.find(ids.slice(start, start + idsAtOnce))));
    }
    return new Map(found.map((integration) => [integration.id, integration]));
  };

  const goOnWith = async (told: readonly Alert[]): Promise<void> => {
    const ids = told.map(({ integrationId }) => integrationId);
    const [states, found] = [await health.find(ids), await findIntegrations(ids)];
    for (const alert of told) {
      await goOn(alert, found.get(alert.integrationId), states.get(alert.integrationId));
    }
  };

  /** @returns undefined if there is nothing to tell */
  const tellFresh = async (
    failing: Failing,
    lastSuccess: () => Promise<Date | undefined>,
  ): Promise<Announced | undefined> => {
    const { integration } = failing;
    const { disabled, status } = integration;
    if (disabled !== undefined) {
      if (clock.now().getTime() - disabled.at.getTime() > disabledMs) return undefined;
      round.disabled += 1;
      return await tellDisabled(integration, disabled);
    }
    if (status !== 'active' || !isTold(failing) || (await isOurs(failing, lastSuccess))) return undefined;
    return await tellFailing(failing, 'failing');
  };

  const begin = async (lanes: readonly FailingLane[], { isFirst, isLast }: PlaceInRound): Promise<void> => {
    if (isFirst) round = newRound();
    const ids = lanes.map(({ integrationId }) => integrationId);
    const known = new Set((await alerts.find(ids)).map(({ integrationId }) => integrationId));
    const found = await findIntegrations(ids);
    const all = lanes.flatMap(({ integrationId, since, health: stored }): Failing | [] => {
      const integration = found.get(integrationId);
      const { settingsRevision, lastFailure: failure } = stored;
      const isCurrent = integration?.settingsRevision === settingsRevision;
      return isCurrent && failure !== undefined ? { integration, health: stored, since, failure } : [];
    });
    const sending = all.filter(({ integration: { status } }) => status === 'active');
    round.failing += sending.length;
    if (isLast) failingCount = round.failing;
    for (const { failure } of sending) {
      const isAnswer = !ambiguous.has(failure.error) && !isFaultOfProxy(failure.error);
      if (isAnswer && failure.at > answeredAt) answeredAt = failure.at;
    }

    let succeeded: Promise<Date | undefined> | undefined;
    const lastSuccess = (): Promise<Date | undefined> => (succeeded ??= health.lastSuccess());
    for (const failing of all.filter(({ integration }) => !known.has(integration.id))) {
      const { since, integration } = failing;
      const { id: integrationId, warning, disabled } = integration;
      const announced = await tellFresh(failing, lastSuccess);
      if (announced === 'full') round.untold = integrationId;
      if (announced !== 'told') continue;
      await alerts.put({ integrationId, since, isWarned: warning !== undefined, isDisabled: disabled !== undefined });
    }
    const { failing, disabled, untold: integrationId } = round;
    if (!isLast || integrationId === undefined || fullHour !== currentHour()) return;
    await announce('summary', new Date(0), undefined, (occasion) =>
      integrationsFailing({ integrationId, failing: failing + disabled, announced: mostInHour }, occasion),
    );
  };

  return {
    async tell() {
      await nextTold(goOnWith);
      await nextFailing(begin);
    },
  };
}
