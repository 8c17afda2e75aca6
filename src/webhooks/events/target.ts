/** What an event is about: an order, a product, a category, the location of a fiscal day, a budget, or the tested integration. */

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The fields of documents for the id of a target. A UUID has a field of its own, as in earlier releases. */
export interface TargetFields {
  target_uuid?: string;
  target_id?: string;
}

/** `targetUuid` of an event, also the header of its deliveries: the target's id. It is `null` for categories. */
export function targetUuidOf(targetId: string): string | null {
  return uuidForm.test(targetId) ? targetId : null;
}

export function toTargetFields(targetId: string): TargetFields {
  return targetUuidOf(targetId) === null ? { target_id: targetId } : { target_uuid: targetId };
}

/** Undefined if there is none: see the documents that extend {@link TargetFields}. */
export function fromTargetFields({ target_uuid, target_id }: TargetFields): string | undefined {
  return target_uuid ?? target_id;
}
