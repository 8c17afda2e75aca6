import { eventCatalog } from '../../../generated/events.ts';
import type { Integration } from '../integrations/integration.ts';
import type { EventContent, EventType } from './event.ts';

/** The examples of the contract, as far as they are the same for all types. */
const examples: Readonly<Record<EventType, { readonly targetId: string; readonly data: object }>> = Object.fromEntries(
  Object.entries(eventCatalog).map(([type, { example }]) => [type, example]),
) as unknown as typeof examples;

/**
 * An event to test an integration: the example of its type in the contract, at a location of the integration if it is
 * for some only. A `TEST` event is about the integration itself.
 */
export function sampleEvent(
  type: EventType,
  { id, locationIds = [] }: Pick<Integration, 'id' | 'locationIds'>,
): Pick<EventContent, 'type' | 'targetId' | 'locationId' | 'data' | 'isTest'> {
  if (type === 'TEST') return { type, targetId: id, locationId: undefined, data: {}, isTest: true };
  const { targetId, data } = examples[type];
  const { locationId: shown, ...rest } = data as { readonly locationId?: string };
  const locationId = shown && (locationIds[0] ?? shown);
  return {
    type,
    targetId: targetId === shown ? (locationId ?? targetId) : targetId,
    locationId,
    data: rest,
    isTest: true,
  };
}
