/**
 * The settings of providers, and their environment variables.
 *
 * `src/config/config.ts` builds its schema, `--help` and `.env.example` from `providerVariables`, and
 * fills a `ProviderSettings`. Nothing here reads the environment.
 */

/** Ids of the built-in providers, in the order of the list. `echo` needs no settings. */
export const builtInProviderIds = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'groq',
  'xai',
  'deepseek',
  'azure',
  'amazon-bedrock',
  'cohere',
  'echo',
] as const;

export type BuiltInProviderId = (typeof builtInProviderIds)[number];

/** A built-in provider that is called over the network and therefore has settings. */
export type RemoteProviderId = Exclude<BuiltInProviderId, 'echo'>;

/** The form of provider ids and model names: visible ASCII, because response headers contain them. */
export const providerNamePattern = /^[!-~]{1,200}$/;

/** The longest list of providers or models that can be configured; the limit of the contract's lists is twice that. */
const longestList = 500;

/** How many calls to one provider run at the same time in a process; further calls wait. */
export const defaultProviderConcurrency = 128;

/** Settings of one built-in provider. `providerVariables` defines which of them it reads. */
export interface RemoteProviderSettings {
  readonly apiKey?: string;
  /** Address that the API's paths are appended to; replaces the provider's public one. */
  readonly baseUrl?: string;
  /** OpenAI organization that calls are billed to. */
  readonly organization?: string;
  /** OpenAI project that calls are billed to. */
  readonly project?: string;
  /** Azure resource name, the first label of `<name>.openai.azure.com`. */
  readonly resourceName?: string;
  /** AWS region, such as `eu-central-1`. */
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly sessionToken?: string;
}

/** A server that speaks OpenAI's chat completions: Ollama, vLLM, LM Studio, a company gateway. */
export interface CompatibleProviderSettings {
  /** Matches `providerNamePattern` and is none of `builtInProviderIds`. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** Address that `/chat/completions` is appended to, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token; left out if the server needs none. */
  readonly apiKey?: string;
  /** Further headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** At least one model name. */
  readonly models: readonly string[];
  /** One of `models`; the first when left out. */
  readonly defaultModel?: string;
  /** Whether the server accepts a JSON schema for its answers. False if left out. */
  readonly structuredOutputs?: boolean;
  /** Whether the server gets images by https addresses, which it opens itself. False if left out: it gets data only. */
  readonly imageUrls?: boolean;
}

/** Everything that `createProviderRegistry` needs from configuration. */
export interface ProviderSettings {
  readonly builtIn: { readonly [Id in RemoteProviderId]?: RemoteProviderSettings };
  readonly compatible: readonly CompatibleProviderSettings[];
  /** Models to list in addition to those that the service knows, by provider id. */
  readonly models: Readonly<Record<string, readonly string[]>>;
  /** Calls that run at the same time, for each provider and process. */
  readonly concurrency: number;
}

/** One environment variable of a built-in provider. */
export interface ProviderVariable {
  /** Name in the environment: the name that the provider's package uses, if it has one. */
  readonly name: string;
  readonly provider: RemoteProviderId;
  /** The field of `RemoteProviderSettings` that it sets. */
  readonly setting: keyof RemoteProviderSettings;
  /** `url` is an absolute http or https address without credentials. */
  readonly format: 'text' | 'url';
  /** True for values that must never be printed or logged. */
  readonly secret: boolean;
  /** True if the provider cannot be called without it; false if another one can replace it. */
  readonly required: boolean;
  /** One sentence, for `--help` and `.env.example`. */
  readonly description: string;
}

/** Public address of each provider's API, used if no base URL is configured. */
export const publicAddresses = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  mistral: 'https://api.mistral.ai/v1',
  groq: 'https://api.groq.com/openai/v1',
  xai: 'https://api.x.ai/v1',
  deepseek: 'https://api.deepseek.com',
  azure: 'https://<AZURE_RESOURCE_NAME>.openai.azure.com/openai',
  'amazon-bedrock': 'https://bedrock-runtime.<AWS_BEDROCK_REGION>.amazonaws.com',
  cohere: 'https://api.cohere.com/v2',
} as const satisfies Record<RemoteProviderId, string>;

const apiKey = (provider: RemoteProviderId, name: string, vendor: string): ProviderVariable => ({
  name,
  provider,
  setting: 'apiKey',
  format: 'text',
  secret: true,
  required: true,
  description: `API key for ${vendor}. Setting it makes the provider available.`,
});

const baseUrl = (provider: RemoteProviderId, name: string): ProviderVariable => ({
  name,
  provider,
  setting: 'baseUrl',
  format: 'url',
  secret: false,
  required: false,
  description: `Address of the API, if it is not ${publicAddresses[provider]}.`,
});

/** Every environment variable of the built-in providers, grouped by provider. */
export const providerVariables: readonly ProviderVariable[] = [
  apiKey('openai', 'OPENAI_API_KEY', 'OpenAI'),
  baseUrl('openai', 'OPENAI_BASE_URL'),
  {
    name: 'OPENAI_ORGANIZATION',
    provider: 'openai',
    setting: 'organization',
    format: 'text',
    secret: false,
    required: false,
    description: 'OpenAI organization that pays for the calls.',
  },
  {
    name: 'OPENAI_PROJECT',
    provider: 'openai',
    setting: 'project',
    format: 'text',
    secret: false,
    required: false,
    description: 'OpenAI project that pays for the calls.',
  },
  apiKey('anthropic', 'ANTHROPIC_API_KEY', 'Anthropic'),
  baseUrl('anthropic', 'ANTHROPIC_BASE_URL'),
  apiKey('google', 'GOOGLE_GENERATIVE_AI_API_KEY', 'Google Gemini'),
  baseUrl('google', 'GOOGLE_BASE_URL'),
  apiKey('mistral', 'MISTRAL_API_KEY', 'Mistral'),
  baseUrl('mistral', 'MISTRAL_BASE_URL'),
  apiKey('groq', 'GROQ_API_KEY', 'Groq'),
  baseUrl('groq', 'GROQ_BASE_URL'),
  apiKey('xai', 'XAI_API_KEY', 'xAI'),
  baseUrl('xai', 'XAI_BASE_URL'),
  apiKey('deepseek', 'DEEPSEEK_API_KEY', 'DeepSeek'),
  baseUrl('deepseek', 'DEEPSEEK_BASE_URL'),
  {
    name: 'AZURE_API_KEY',
    provider: 'azure',
    setting: 'apiKey',
    format: 'text',
    secret: true,
    required: true,
    description: 'API key for Azure OpenAI. Also set AZURE_RESOURCE_NAME or AZURE_BASE_URL.',
  },
  {
    name: 'AZURE_RESOURCE_NAME',
    provider: 'azure',
    setting: 'resourceName',
    format: 'text',
    secret: false,
    required: false,
    description: 'Azure OpenAI resource. The model of a prompt is the name of a deployment in it.',
  },
  baseUrl('azure', 'AZURE_BASE_URL'),
  {
    // Not AWS_REGION, which is often set only for S3: prompts must not go to Bedrock by accident.
    name: 'AWS_BEDROCK_REGION',
    provider: 'amazon-bedrock',
    setting: 'region',
    format: 'text',
    secret: false,
    required: true,
    description: 'AWS region of Amazon Bedrock. Also set AWS_BEARER_TOKEN_BEDROCK or AWS access keys.',
  },
  {
    name: 'AWS_BEARER_TOKEN_BEDROCK',
    provider: 'amazon-bedrock',
    setting: 'apiKey',
    format: 'text',
    secret: true,
    required: false,
    description: 'API key for Amazon Bedrock. It takes precedence over AWS access keys.',
  },
  {
    name: 'AWS_ACCESS_KEY_ID',
    provider: 'amazon-bedrock',
    setting: 'accessKeyId',
    format: 'text',
    secret: true,
    required: false,
    description: 'AWS access key id. Object storage uses it too.',
  },
  {
    name: 'AWS_SECRET_ACCESS_KEY',
    provider: 'amazon-bedrock',
    setting: 'secretAccessKey',
    format: 'text',
    secret: true,
    required: false,
    description: 'AWS secret access key. Object storage uses it too.',
  },
  {
    name: 'AWS_SESSION_TOKEN',
    provider: 'amazon-bedrock',
    setting: 'sessionToken',
    format: 'text',
    secret: true,
    required: false,
    description: 'AWS session token of temporary credentials. Object storage uses it too.',
  },
  baseUrl('amazon-bedrock', 'AWS_BEDROCK_BASE_URL'),
  apiKey('cohere', 'COHERE_API_KEY', 'Cohere'),
  baseUrl('cohere', 'COHERE_BASE_URL'),
];

/** The environment variable of the servers in `compatible`. */
export const compatibleProvidersVariable = {
  name: 'OPENAI_COMPATIBLE_PROVIDERS',
  description:
    "Servers with OpenAI's chat completions API: a JSON array of {id, name?, base_url, api_key?, headers?, models, default_model?, structured_outputs?, image_urls?}. structured_outputs: true if the server accepts JSON schemas; image_urls: true if it may open images at https addresses.",
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
