/** What an event is about: an order, a product, a category, the location of a fiscal day, a budget, or the tested integration. */

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `targetUuid` of an event, also the header of its deliveries: the target's id. It is `null` for categories. */
export function targetUuidOf(targetId: string): string | null {
  return uuidForm.test(targetId) ? targetId : null;
}
