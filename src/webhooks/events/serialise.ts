import type { ValidateFunction } from 'ajv';
import * as validators from '../../../dist/validators/events.js';
import type { EventPayload } from '../../../generated/events.ts';
import { presentData } from '../../base/fields/earlier-names.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { EventContent } from './event.ts';
import { targetUuidOf } from './target.ts';

/** An event that does not match the published schema of its type. It is never sent. */
export class InvalidEventError extends Error {
  /** @param reasons what is wrong, without values */
  constructor({ id, type }: Pick<EventContent, 'id' | 'type'>, reasons: string) {
    super(`the event ${id} breaks the published schema of ${type}: ${reasons}`);
    this.name = 'InvalidEventError';
  }
}

/**
 * The body of a delivery: the event's payload as JSON in UTF-8, checked against the schema that receivers get. Call it
 * once for each event; the same bytes are stored, signed and sent.
 *
 * @throws InvalidEventError
 */
export function serialiseEvent(event: EventContent): Uint8Array {
  return Buffer.from(JSON.stringify(toPayload(event)));
}

/** What filters compare of the bytes of an event. */
export function readPayload(body: Uint8Array): unknown {
  const payload = JSON.parse(Buffer.from(body).toString()) as EventPayload;
  return { ...payload, data: presentData(payload.type, payload.data) };
}

/**
 * The payload of an event, with its members in the order of the published documentation.
 * @throws InvalidEventError
 */
export function toPayload(event: EventContent): EventPayload {
  const { id, type, targetId } = event;
  const payload: unknown = {
    type,
    targetUuid: targetUuidOf(targetId),
    targetId,
    createdAt: event.createdAt.toISOString(),
    data: dataOf(event),
    id,
    ...locationOf(event),
    ...(event.isTest === true && type !== 'TEST' && { test: true }),
  };
  const validate: ValidateFunction<EventPayload> = validators[type];
  if (validate(payload)) return payload;
  const reasons = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? ''}`);
  throw new InvalidEventError(event, reasons.join(', '));
}

/** A location has a UUID, which is its id. */
function locationOf({ locationId, locationName }: EventContent): object {
  return locationId === undefined ? {} : defined({ locationUuid: locationId, locationId, locationName });
}

/** The data of a product's update has no members; that of other types has had the location from the beginning. */
function dataOf({ type, locationId, data }: EventContent): object {
  return locationId === undefined || type === 'PRODUCT_UPDATED' ? data : { ...data, locationId };
}
