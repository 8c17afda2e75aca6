import type { ReceiverSettings } from '../integrations/directory.ts';
import type { Context } from './context.ts';
import type { Lane } from './lane.ts';

/** Reads the settings of receivers, and their health if it is not known. @returns those that can get something */
export async function readReceivers(
  { integrations, health, timing, clock, log }: Context,
  lanes: readonly Lane[],
): Promise<Map<Lane, ReceiverSettings>> {
  const receivers = new Map<Lane, ReceiverSettings>();
  if (lanes.length === 0) return receivers;
  const readAt = clock.monotonic();
  const unloaded = lanes.filter(({ receiver }) => !receiver.isLoaded);
  const [found, states] = await Promise.all([
    integrations.find(lanes.map(({ integrationId }) => integrationId)),
    health.find(unloaded.map(({ integrationId }) => integrationId)),
  ]);
  for (const { receiver, integrationId } of unloaded) receiver.load(states.get(integrationId));
  const byId = new Map(found.map((integration) => [integration.id, integration]));
  for (const lane of lanes) {
    const integration = byId.get(lane.integrationId);
    if (integration?.status !== 'active') continue;
    const { receiver } = lane;
    receiver.healthUnder(integration.settingsRevision);
    try {
      receivers.set(
        lane,
        receiver.configure(integration.revision, readAt, () => integrations.open(integration)),
      );
    } catch (error) {
      // If a key is missing, nothing is sent unsigned or without its headers.
      log.warn({ error, integration_id: lane.integrationId }, 'sending to an integration was interrupted');
      lane.interrupt(timing.breaker.firstOpen);
    }
  }
  return receivers;
}
