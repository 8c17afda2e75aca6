/**
 * The settings of providers, and their environment variables.
 *
 * `src/config/config.ts` builds its schema, `--help` and `.env.example` from `providerVariables`, and
 * fills a `ProviderSettings`. Nothing here reads the environment.
 */
import type { CompatibleProviderSettings } from './vendors/compatible.ts';
import { vendors, type VendorId } from './vendors/index.ts';
import type { VendorSettings, VendorVariable } from './vendors/vendor.ts';

/** Ids of the built-in providers, in the order of the list. `echo` needs no settings. */
export const builtInProviderIds: readonly (VendorId | 'echo')[] = [...vendors.map(({ id }) => id), 'echo'];

/** The form of provider ids and model names: visible ASCII, because response headers contain them. */
export const providerNamePattern = /^[!-~]{1,200}$/;

/** The longest list of providers or models that can be configured; the limit of the contract's lists is twice that. */
const longestList = 500;

/** How many calls to one provider run at the same time in a process; further calls wait. */
export const defaultProviderConcurrency = 128;

/** Everything that `createProviderRegistry` needs from configuration. */
export interface ProviderSettings {
  readonly builtIn: { readonly [Id in VendorId]?: VendorSettings };
  readonly compatible: readonly CompatibleProviderSettings[];
  /** Models to list in addition to those that the service knows, by provider id. */
  readonly models: Readonly<Record<string, readonly string[]>>;
  /** Calls that run at the same time, for each provider and process. */
  readonly concurrency: number;
}

export interface ProviderVariable extends VendorVariable {
  readonly provider: VendorId;
}

/** Every environment variable of the built-in providers, grouped by provider. */
export const providerVariables: readonly ProviderVariable[] = vendors.flatMap(({ id, variables }) =>
  variables.map((variable) => ({ ...variable, provider: id })),
);

export const compatibleProvidersVariable = {
  name: 'OPENAI_COMPATIBLE_PROVIDERS',
  description:
    "Servers with OpenAI's chat completions API: a JSON array of {id, name?, base_url, api_key?, headers?, models, default_model?, structured_outputs?, image_urls?, enforces_max_output?}. structured_outputs: true if the server accepts JSON schemas; image_urls: true if it may open images at https addresses; enforces_max_output: true if it never makes more output tokens than max_tokens, which budgets need.",
} as const;

/**
 * Finds mistakes in provider settings beyond the format of each value: names that break `providerNamePattern`, ids used
 * twice, models for providers that do not exist.
 *
 * @returns one sentence for each mistake; empty if there are none
 */
export function findSettingsMistakes(settings: ProviderSettings): string[] {
  const mistakes: string[] = [];
  const ids = new Set<string>(builtInProviderIds);
  const checkLength = (what: string, list: readonly unknown[]): void => {
    if (list.length > longestList) mistakes.push(`${what} must not be more than ${longestList}.`);
  };
  const checkName = (what: string, name: string): void => {
    if (!providerNamePattern.test(name)) mistakes.push(`${what} must be 1 to 200 visible ASCII characters.`);
  };

  checkLength('Further providers', settings.compatible);
  for (const provider of settings.compatible) {
    checkLength(`Models of ${JSON.stringify(provider.id)}`, provider.models);
    checkName(`The provider id ${JSON.stringify(provider.id)}`, provider.id);
    // `model` of the OpenAI-compatible operations is `<provider>/<model>`, or `prompt/<slug>`.
    if (provider.id === 'prompt') mistakes.push('No provider can have the id "prompt".');
    if (provider.id.includes('/'))
      mistakes.push(`The provider id ${JSON.stringify(provider.id)} must not have a slash.`);
    if (ids.has(provider.id)) mistakes.push(`Two providers have the id ${JSON.stringify(provider.id)}.`);
    ids.add(provider.id);
    if (provider.models.length === 0) mistakes.push(`The provider ${JSON.stringify(provider.id)} needs a model.`);
    for (const model of provider.models) checkName(`The model name ${JSON.stringify(model)}`, model);
    if (provider.defaultModel !== undefined && !provider.models.includes(provider.defaultModel)) {
      mistakes.push(`The default model of ${JSON.stringify(provider.id)} is not one of its models.`);
    }
  }
  for (const [id, models] of Object.entries(settings.models)) {
    if (!ids.has(id)) mistakes.push(`No provider has the id ${JSON.stringify(id)}.`);
    checkLength(`Models to add to ${JSON.stringify(id)}`, models);
    for (const model of models) checkName(`The model name ${JSON.stringify(model)}`, model);
  }
  return mistakes;
}
