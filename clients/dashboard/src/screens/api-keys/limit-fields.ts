import type { Schemas } from 'prompt-gateway-client';
import { apiKeyTags, modelPattern } from '../../generated/limits.ts';
import { fits } from '../../shared/limits.ts';
import type { Texts } from '../../texts/en.ts';

/** What forms edit of the limits of a key. Empty means no limit. */
export interface LimitFields extends Record<string, unknown> {
  prompts: string[];
  locations: string[];
  models: string[];
  maxOutputTokens: number | '';
  requestsPerMinute: number | '';
  /** `team=checkout` */
  tags: string[];
}

/** The limits of a key as fields. */
export function limitFieldsOf(limits: Schemas['ApiKeyLimits'] = {}): LimitFields {
  const { prompts = [], locations = [], models = [], max_output_tokens, requests_per_minute, tags = {} } = limits;
  return {
    prompts: [...prompts],
    locations: [...locations],
    models: [...models],
    maxOutputTokens: max_output_tokens ?? '',
    requestsPerMinute: requests_per_minute ?? '',
    tags: tagTexts(tags),
  };
}

/** The fields as the API takes them; null without any limit. */
export function limitsOf(fields: LimitFields): Schemas['ApiKeyLimits'] | null {
  const { prompts, locations, models, maxOutputTokens, requestsPerMinute, tags } = fields;
  const limits = {
    ...(prompts.length > 0 && { prompts }),
    ...(locations.length > 0 && { locations }),
    ...(models.length > 0 && { models }),
    ...(maxOutputTokens !== '' && { max_output_tokens: maxOutputTokens }),
    ...(requestsPerMinute !== '' && { requests_per_minute: requestsPerMinute }),
    ...(tags.length > 0 && { tags: Object.fromEntries(tags.map((tag) => splitTag(tag))) }),
  };
  return Object.keys(limits).length === 0 ? null : limits;
}

/** Finds mistakes before the request is sent. */
export function limitRules(texts: Texts['apiKeys']['limits']): {
  models: (models: string[]) => string | null;
  tags: (tags: string[]) => string | null;
} {
  return {
    models: (models) => {
      const wrong = models.find((model) => !fits(model, modelPattern));
      return wrong === undefined ? null : texts.modelWrong(wrong);
    },
    tags: (tags) => {
      const wrong = tags.find((tag) => {
        const [name, value] = splitTag(tag);
        return !fits(name, apiKeyTags.names) || !fits(value, apiKeyTags.values);
      });
      return wrong === undefined ? null : texts.tagWrong(wrong);
    },
  };
}

/** The field of a place in the request, such as `limits.models.0`. */
export function limitFieldAt(place: string): string {
  const [first, limit = ''] = place.split('.');
  if (first !== 'limits') return place;
  if (limit === 'max_output_tokens') return 'maxOutputTokens';
  return limit === 'requests_per_minute' ? 'requestsPerMinute' : limit;
}

/** Tags as one writes them. */
export function tagTexts(tags: Readonly<Record<string, string>>): string[] {
  return Object.entries(tags).map(([name, value]) => `${name}=${value}`);
}

function splitTag(tag: string): [name: string, value: string] {
  const mark = tag.indexOf('=');
  return mark === -1 ? [tag, ''] : [tag.slice(0, mark).trim(), tag.slice(mark + 1).trim()];
}
