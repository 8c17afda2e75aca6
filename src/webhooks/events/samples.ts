import { eventCatalog, type EventType } from '../../../generated/events.ts';
import type { Integration } from '../integrations/integration.ts';
import type { EventContent } from './event.ts';

/** What the examples of all types have in common. */
interface Example {
  readonly targetId: string;
  readonly data: { readonly locationId?: string; readonly [name: string]: unknown };
  readonly locationId?: string;
  readonly locationName?: string;
}

/**
 * An event to test an integration: the example of its type in the contract, at a location of the integration if it is
 * for some only. A `TEST` event is about the integration itself.
 */
export function sampleEvent(
  type: EventType,
  { id, locationIds = [] }: Pick<Integration, 'id' | 'locationIds'>,
): Omit<EventContent, 'id' | 'createdAt' | 'traceparent'> {
  if (type === 'TEST') return { type, targetId: id, locationId: undefined, data: {}, isTest: true };
  const { targetId, data, locationId: shown, locationName }: Example = eventCatalog[type].example;
  const { locationId: _, ...rest } = data;
  if (shown === undefined) return { type, targetId, locationId: undefined, data: rest, isTest: true };
  const [locationId = shown] = locationIds;
  return {
    type,
    targetId: targetId === shown ? locationId : targetId,
    locationId,
    locationName: locationId === shown ? locationName : undefined,
    data: rest,
    isTest: true,
  };
}
