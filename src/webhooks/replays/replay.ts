import type { EventType } from '../../events/event.ts';
import type { EventPosition } from '../events/event-store.ts';

/**
 * Events that are sent to an integration once more: all of a time span, or those of one delivery (a resend). The lane
 * of the integration works it off, page by page.
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
        readonly types: readonly EventType[];
        /** The event up to which deliveries have been made. */
        readonly cursor: EventPosition | undefined;
      }
    | { readonly kind: 'delivery'; readonly deliveryId: string };
  readonly status: 'running' | 'done';
  /** Deliveries made so far. */
  readonly deliveries: number;
  readonly revision: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | undefined;
}
