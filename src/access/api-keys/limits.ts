import type { components } from '../../../generated/types.ts';
import { inBoth, type Reach } from '../../base/limits/reach.ts';

/** The limits of a key, as its document and its answers have them. */
export type ApiKeyLimits = components['schemas']['ApiKeyLimits'];

/** Tags of everything that a key invokes, by name. */
export type BoundTags = Readonly<Record<string, string>>;

/** A key with limits of its own. */
interface Limited {
  readonly id: string;
  readonly limits: ApiKeyLimits | undefined;
}

/** What a key may reach. @param chain the keys that led to it, the first of them first, and the key itself */
export function reachOf(chain: readonly Limited[]): Reach | undefined {
  const limited = chain.flatMap(({ id, limits }) => (limits === undefined ? [] : [{ id, limits }]));
  if (limited.length === 0) return undefined;
  return limited.reduce<Reach>(
    (reach, { id, limits: { models, max_output_tokens: most, requests_per_minute: rate, ...limits } }) => {
      const prompts = onlyBoth(reach.prompts, limits.prompts);
      const locations = onlyBoth(reach.locations, limits.locations);
      return {
        prompts,
        locations,
        models: inBoth(reach.models, models),
        maxOutputTokens: most === undefined ? reach.maxOutputTokens : Math.min(most, reach.maxOutputTokens ?? most),
        integrations: reach.integrations && (prompts === undefined || locations !== undefined),
        rates: rate === undefined ? reach.rates : [...reach.rates, { keyId: id, requestsPerMinute: rate }],
      };
    },
    {
      prompts: undefined,
      locations: undefined,
      models: undefined,
      maxOutputTokens: undefined,
      integrations: true,
      rates: [],
    },
  );
}

function onlyBoth(one: Reach['prompts'], other: readonly string[] | undefined): Reach['prompts'] {
  return other === undefined ? one : new Set(other.filter((id) => one?.has(id) ?? true));
}

/** The tags of a key. It cannot replace those of the keys that led to it. @param chain as in {@link reachOf} */
export function tagsOf(chain: readonly Limited[]): BoundTags | undefined {
  const tags = Object.assign({}, ...chain.map(({ limits }) => limits?.tags).reverse()) as BoundTags;
  return Object.keys(tags).length === 0 ? undefined : tags;
}

/** What holds for a key, in the form of its own limits. */
export function toLimits(reach: Reach | undefined, tags: BoundTags | undefined): ApiKeyLimits | undefined {
  if (reach === undefined) return undefined;
  const { prompts, locations, models, maxOutputTokens, rates } = reach;
  return {
    ...(prompts && { prompts: [...prompts] }),
    ...(locations && { locations: [...locations] }),
    ...(models && { models: [...models] }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(rates.length > 0 && {
      requests_per_minute: Math.min(...rates.map(({ requestsPerMinute }) => requestsPerMinute)),
    }),
    ...(tags && { tags: { ...tags } }),
  };
}
