/**
 * Canaries were rollouts, and some members had other names. The names of stored members stay (`storedAs`); names within
 * stored values, which are answered or compared, are replaced when they are read.
 */
const present: Readonly<Record<string, string>> = {
  // Operations, and what the audit log shows of a label.
  setRollout: 'setCanary',
  deleteRollout: 'deleteCanary',
  promoteRollout: 'promoteCanary',
  rollouts: 'canaries',
  // What it shows of a budget and of an evaluation.
  began_at: 'started_at',
  canceled_because: 'canceled_reason',
  // A member of `PROMPT_LABEL_MOVED`, and its path in filters.
  rolloutVersion: 'canaryVersion',
  'data.rolloutVersion': 'data.canaryVersion',
};
const earlier = new Map(Object.entries(present).map(([was, is]) => [is, was]));

/** The name that this release has for what a document names. */
export function presentName(stored: string): string {
  return Object.hasOwn(present, stored) ? (present[stored] ?? stored) : stored;
}

/** Both names that documents can have for what this release names. */
export function storedNames(name: string): string[] {
  const was = earlier.get(name);
  return was === undefined ? [name] : [name, was];
}

/** An object with the present names of its members. */
export function withPresentNames<Value>(members: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [presentName(name), value]));
}

/** The data of an event of this type. */
export function presentData(type: unknown, data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (type !== 'PROMPT_LABEL_MOVED') return data;
  const { cause, ...rest } = withPresentNames(data);
  return { ...rest, cause: presentCause(cause) };
}

/** A cause of the move of a label, or any other value, which stays as it is. */
export function presentCause<Value>(stored: Value): Value | string {
  return typeof stored === 'string' ? stored.replace(/^rollout-/, 'canary-') : stored;
}
