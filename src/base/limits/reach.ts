/**
 * What a key may reach: its own limits, and those of the keys that led to it. They are combined when the key is looked
 * up, so that no key ever reaches more than the one that created it, whichever of the two is changed later.
 */
export interface Reach {
  /** The ids of the only prompts; undefined if any. */
  readonly prompts: ReadonlySet<string> | undefined;
  /** The ids of the only locations; undefined if any. */
  readonly locations: ReadonlySet<string> | undefined;
  /** Patterns of the only models, `<provider>/<model>` with an optional `*` at the end; undefined if any. */
  readonly models: readonly string[] | undefined;
  /** The most tokens of an answer. */
  readonly maxOutputTokens: number | undefined;
  /** Whether integrations: not if it, or a key that led to it, is limited to prompts and not to locations. */
  readonly integrations: boolean;
  /** Each request counts for each of these keys. */
  readonly rates: readonly KeyRate[];
}

/** Requests that a key and all keys below it may send in a minute. */
export interface KeyRate {
  readonly keyId: string;
  readonly requestsPerMinute: number;
}

/** Whether a key may reach every prompt, model and location. @param reach undefined for a key without limits */
export function reachesAll(reach: Reach | undefined): boolean {
  return reach?.prompts === undefined && reach?.models === undefined && reach?.locations === undefined;
}

/** Whether a key may reach a prompt. @param reach undefined for a key without limits */
export function mayReachPrompt(reach: Reach | undefined, promptId: string): boolean {
  return reach?.prompts === undefined || reach.prompts.has(promptId);
}

/** Whether a key may reach a location. @param reach undefined for a key without limits */
export function mayReachLocation(reach: Reach | undefined, locationId: string): boolean {
  return reach?.locations === undefined || reach.locations.has(locationId);
}

/** Whether a key may reach what several locations have in common. @param locationIds undefined for all that exist */
export function mayReachLocations(reach: Reach | undefined, locationIds: readonly string[] | undefined): boolean {
  return reach?.locations === undefined || locationIds?.every((id) => mayReachLocation(reach, id)) === true;
}

/** The locations of a list: those that the key may reach, and that the caller asks for. Undefined for all. */
export function locationsInReach(reach: Reach | undefined, wanted: string | undefined): readonly string[] | undefined {
  if (wanted === undefined) return reach?.locations && [...reach.locations];
  return mayReachLocation(reach, wanted) ? [wanted] : [];
}

/** Whether a key may call a model of a provider. @param reach undefined for a key without limits */
export function mayReachModel(reach: Reach | undefined, provider: string, model: string): boolean {
  const name = `${provider}/${model}`;
  return reach?.models === undefined || reach.models.some((pattern) => covers(pattern, name));
}

/**
 * The patterns of what both lists allow. Two patterns either share no name, or one of them covers the other, so the
 * result is exact.
 */
export function inBoth(one: readonly string[] | undefined, other: readonly string[] | undefined): typeof one {
  if (one === undefined || other === undefined) return one ?? other;
  const within = (inner: readonly string[], outer: readonly string[]): string[] =>
    inner.filter((pattern) => outer.some((wider) => covers(wider, pattern)));
  return [...new Set([...within(one, other), ...within(other, one)])];
}

/** Whether a pattern matches a name, or everything that another pattern matches. */
function covers(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
