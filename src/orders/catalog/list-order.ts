/**
 * The time that orders a list, the latest first: that of the last change if the list is of what changed since a time,
 * else that of the creation.
 */
export function listOrder(updatedSince: Date | undefined): {
  readonly time: 'created_at' | 'updated_at';
  readonly span: { readonly since?: Date };
} {
  return updatedSince === undefined
    ? { time: 'created_at', span: {} }
    : { time: 'updated_at', span: { since: updatedSince } };
}
