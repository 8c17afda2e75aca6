import type { EventType } from '../events/event.ts';
import type { EventPosition } from '../events/event-store.ts';

/**
 * Events that are sent to an integration again: all of a time span, or that of one delivery (a resend). The lane of the
 * integration sends them page by page.
 */
export interface Replay {
  readonly id: string;
  readonly integrationId: string;
  readonly source:
    | {
        readonly kind: 'span';
        /** `createdAt` of events from, inclusive. */
        readonly since: Date;
        /** Up to, exclusive. */
        readonly until: Date;
        /** Of the integration when it began. Only processes of an earlier release read them. */
        readonly types: readonly EventType[];
        /** Only events whose delivery failed or expired, and was not made up for. */
        readonly only: 'failed' | undefined;
        /** The last event for which a delivery was created. */
        readonly cursor: EventPosition | undefined;
      }
    | { readonly kind: 'delivery'; readonly deliveryId: string };
  readonly status: 'running' | 'done';
  /** Number of deliveries created so far. */
  readonly deliveries: number;
  readonly revision: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
}
