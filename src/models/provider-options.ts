/** The options of the provider packages in requests (`provider_options`). */
import type { Json, JsonObject } from './language-model.ts';
import { compatibleMembers, compatibleOptions } from './vendors/compatible.ts';
import { vendors } from './vendors/index.ts';
import { allowed } from './vendors/option-rules.ts';
import type { Vendor } from './vendors/vendor.ts';
import { toStep } from '../base/runtime/json-pointer.ts';
import { isObject } from '../base/runtime/objects.ts';

export interface ProviderOptionMistake {
  /** JSON pointer into the options of the provider. */
  readonly pointer: string;
  /** One sentence. */
  readonly detail: string;
}

type Rules = Vendor['options'];

/**
 * Finds options that a request cannot set for a provider. Ids that are not built in are those of OpenAI-compatible
 * servers.
 *
 * @returns One mistake for each option; empty if there are none
 */
export function findProviderOptionMistakes(provider: string, options: JsonObject): ProviderOptionMistake[] {
  const known = rulesOf(provider);
  return Object.entries(options).flatMap(([name, value]) => {
    const pointer = `/${toStep(name)}`;
    const rule = Object.hasOwn(known, name) ? known[name] : undefined;
    if (rule === allowed) {
      return known === compatibleOptions && !isPlain(value)
        ? [{ pointer, detail: 'The value must be a string, a number, a boolean, or an object of these.' }]
        : [];
    }
    const names = Object.keys(known).filter((option) => known[option] === allowed);
    const others = names.length > 0 ? `Options that can be set: ${names.join(', ')}.` : 'The provider has no options.';
    return [{ pointer, detail: `The option cannot be set. ${rule ?? others}` }];
  });
}

/** Only compatible servers need this: the other packages check the values of their options. */
function isPlain(value: Json): boolean {
  if (typeof value !== 'object') return true;
  if (value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member !== 'object');
}

/** The options that can be set. */
export function pickAllowedOptions(provider: string, options: JsonObject): JsonObject {
  if (Object.keys(options).length === 0) return options;
  const mistakes = new Set(findProviderOptionMistakes(provider, options).map(({ pointer }) => pointer.slice(1)));
  if (mistakes.size === 0) return options;
  return Object.fromEntries(Object.entries(options).filter(([name]) => !mistakes.has(name)));
}

function rulesOf(provider: string): Rules {
  if (provider === 'echo') return {};
  return vendorOf(provider)?.options ?? compatibleOptions;
}

function vendorOf(provider: string): Vendor | undefined {
  return vendors.find(({ id }) => spellingsOf(id).includes(provider));
}

/**
 * The options that stand for members of the bodies of a provider's own API. Packages write their names in camel case;
 * that for compatible servers sends options as they are.
 *
 * @param members such as `{ "thinking": { "type": "enabled", "budget_tokens": 2048 } }`
 * @returns `unknown`: JSON pointers without their first slash to what the provider does not have
 */
export function optionsOfMembers(
  provider: string,
  members: JsonObject,
): { readonly options: JsonObject; readonly unknown: readonly string[] } {
  const known = provider === 'echo' ? [] : ((vendorOf(provider) ?? { ownMembers: compatibleMembers }).ownMembers ?? []);
  const keepsNames = rulesOf(provider) === compatibleOptions;
  const options: Record<string, Json> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(members)) {
    const missing = unknownIn(name, value, known);
    unknown.push(...missing);
    if (missing.length > 0) continue;
    if (keepsNames) options[name] = value;
    else options[inCamelCase(name)] = withCamelCase(value);
  }
  return { options, unknown };
}

function unknownIn(name: string, value: Json, known: readonly string[]): string[] {
  if (known.includes(name)) return [];
  if (!isObject(value) || !known.some((member) => member.startsWith(`${name}.`))) return [name];
  return Object.keys(value).flatMap((part) => (known.includes(`${name}.${part}`) ? [] : [`${name}/${part}`]));
}

export function inCamelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function withCamelCase(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [inCamelCase(name), member])) as JsonObject;
}

/** An id as the service writes it, and as the AI SDK does. */
function spellingsOf(provider: string): string[] {
  const spellings = [provider, provider.replace(/-+(\w)/g, (_, letter: string) => letter.toUpperCase())];
  return provider === 'amazon-bedrock' ? [...spellings, 'bedrock'] : spellings;
}

/**
 * Takes the options of one provider out of those by provider id. An id can be written as the AI SDK writes it:
 * `amazonBedrock` or `bedrock` for `amazon-bedrock`.
 */
export function selectProviderOptions(
  provider: string,
  optionsByProvider: Readonly<Record<string, JsonObject>> | undefined,
): JsonObject | undefined {
  if (optionsByProvider === undefined) return undefined;
  const spellings = spellingsOf(provider);
  const matching = Object.entries(optionsByProvider).filter(([key]) => spellings.includes(key));
  return matching.length === 0 ? undefined : Object.assign({}, ...matching.map(([, options]) => options));
}
