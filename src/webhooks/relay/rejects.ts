import type { WebhookLog } from '../observer.ts';

/** Reports events that do not match their published schema, each once. */
export interface Rejects {
  add(eventId: string, type: string, error: unknown): void;
}

const maxRemembered = 10_000;

export function createRejects(log: WebhookLog): Rejects {
  const reported = new Set<string>();
  return {
    add(eventId, type, error) {
      if (reported.has(eventId) || reported.size >= maxRemembered) return;
      reported.add(eventId);
      log.error(
        { event_id: eventId, event_type: type, error },
        'an event does not match its published schema and is not sent',
      );
    },
  };
}
