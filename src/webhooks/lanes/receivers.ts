import type { IntegrationDirectory, ReceiverSettings } from '../integrations/directory.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { WebhookLog } from '../observer.ts';
import type { WebhookTiming } from '../timing.ts';
import type { HealthStore } from './health-store.ts';
import { healthUnder, type Lane } from './lane.ts';

export interface ReceiversDependencies {
  readonly integrations: Pick<IntegrationDirectory, 'find' | 'open'>;
  readonly health: Pick<HealthStore, 'find'>;
  readonly timing: Pick<WebhookTiming, 'breaker'>;
  readonly clock: Clock;
  readonly log: WebhookLog;
}

/** Reads the settings of receivers, and their health if it is not known. @returns those that can get something */
export type ReadReceivers = (lanes: readonly Lane[]) => Promise<Map<Lane, ReceiverSettings>>;

export function createReceivers({ integrations, health, timing, clock, log }: ReceiversDependencies): ReadReceivers {
  return async (lanes) => {
    const receivers = new Map<Lane, ReceiverSettings>();
    if (lanes.length === 0) return receivers;
    const readAt = clock.monotonic();
    const unloaded = lanes.filter(({ isLoaded }) => !isLoaded);
    const [found, states] = await Promise.all([
      integrations.find(lanes.map(({ integrationId }) => integrationId)),
      health.find(unloaded.map(({ integrationId }) => integrationId)),
    ]);
    for (const lane of unloaded) {
      const state = states.get(lane.integrationId);
      if (state !== undefined && !lane.isLoaded) ({ health: lane.health, activity: lane.activity } = state);
      lane.isLoaded = true;
    }
    const byId = new Map(found.map((integration) => [integration.id, integration]));
    for (const lane of lanes) {
      const integration = byId.get(lane.integrationId);
      if (integration?.status !== 'active') continue;
      const { revision, settingsRevision } = integration;
      healthUnder(lane, settingsRevision);
      try {
        const receiver = lane.known?.revision === revision ? lane.known.receiver : integrations.open(integration);
        lane.known = { receiver, revision, readAt };
        receivers.set(lane, receiver);
      } catch (error) {
        // If a key is missing, nothing is sent unsigned or without its headers.
        log.warn({ error, integration_id: lane.integrationId }, 'sending to an integration was interrupted');
        lane.interruptedUntil = clock.now().getTime() + timing.breaker.firstOpen;
      }
    }
    return receivers;
  };
}
