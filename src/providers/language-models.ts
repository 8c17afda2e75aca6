import type { FinishReason } from './generation.ts';
import type { Fetch } from './http.ts';
import type { Dialect, LanguageModels } from './sdk-call.ts';
import {
  publicAddresses,
  type CompatibleProviderSettings,
  type RemoteProviderId,
  type RemoteProviderSettings,
} from './provider-settings.ts';
import { withCohereArguments } from './tool-arguments.ts';

/** How the service calls one built-in provider. */
export interface RemoteProvider {
  isConfigured(settings: RemoteProviderSettings): boolean;
  /** Imports the provider's package when it is first needed: it takes 70 to 120 ms and some megabytes. */
  load(settings: RemoteProviderSettings, fetch: Fetch): Promise<LanguageModels>;
  readonly dialect: Dialect;
}

/** Thrown for a name that cannot be a model of this provider; nothing was sent. */
export class ImpossibleModelError extends Error {
  constructor() {
    super('The provider cannot have a model with this name.');
    this.name = 'ImpossibleModelError';
  }
}

const hasApiKey = ({ apiKey }: RemoteProviderSettings): boolean => Boolean(apiKey);

/** Packages that have options for everything. */
const chatDialect = (name: string): Dialect => ({
  name,
  strictJsonSchema: true,
  parallelToolCalls: (isAllowed) => ({ [name]: { parallelToolCalls: isAllowed } }),
});

/** How the package is called for a server in the configuration. It sends options that it does not know in the body. */
export function compatibleDialect({ imageUrls = false }: CompatibleProviderSettings): Dialect {
  return {
    ...chatDialect(compatibleName),
    parallelToolCalls: (isAllowed) => ({ [compatibleName]: { parallel_tool_calls: isAllowed } }),
    imageUrls,
  };
}

/** Not the provider's id, because the package reads options under variants of its name. */
const compatibleName = 'compatible';

/**
 * The built-in providers. Every setting that the packages would otherwise read from the environment is passed to them,
 * including base URLs, because only `config/` reads the environment.
 */
export const remoteProviders: Readonly<Record<RemoteProviderId, RemoteProvider>> = {
  openai: {
    isConfigured: hasApiKey,
    dialect: chatDialect('openai'),
    async load(settings, fetch) {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const provider = createOpenAI({
        ...access('openai', settings, fetch),
        ...(settings.organization && { organization: settings.organization }),
        ...(settings.project && { project: settings.project }),
      });
      // The package's default is the responses API, which few of the gateways behind OPENAI_BASE_URL support.
      return (model) => provider.chat(model);
    },
  },
  anthropic: {
    isConfigured: hasApiKey,
    dialect: {
      name: 'anthropic',
      systemFirst: true,
      unnamedSchemas: true,
      argumentObjects: 'input',
      parallelToolCalls: (isAllowed) => ({ anthropic: { disableParallelToolUse: !isAllowed } }),
    },
    async load(settings, fetch) {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic(access('anthropic', settings, fetch)).languageModel;
    },
  },
  google: {
    isConfigured: hasApiKey,
    // The addresses that the package knows are files of the operator's account, and videos.
    dialect: { name: 'google', unnamedSchemas: true, systemFirst: true, argumentObjects: 'args', imageUrls: false },
    async load(settings, fetch) {
      const { createGoogle } = await import('@ai-sdk/google');
      const provider = createGoogle(access('google', settings, fetch));
      return (model) => {
        // The model becomes part of the URL's path, so it must not contain path segments such as `..`.
        if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(model)) throw new ImpossibleModelError();
        return provider.languageModel(model);
      };
    },
  },
  mistral: {
    isConfigured: hasApiKey,
    dialect: chatDialect('mistral'),
    async load(settings, fetch) {
      const { createMistral } = await import('@ai-sdk/mistral');
      return createMistral(access('mistral', settings, fetch)).languageModel;
    },
  },
  groq: {
    isConfigured: hasApiKey,
    dialect: chatDialect('groq'),
    async load(settings, fetch) {
      const { createGroq } = await import('@ai-sdk/groq');
      return createGroq(access('groq', settings, fetch)).languageModel;
    },
  },
  xai: {
    isConfigured: hasApiKey,
    dialect: {
      name: 'xai',
      parallelToolCalls: (isAllowed) => ({ xai: { parallelToolCalls: isAllowed } }),
      // xAI stores prompts and answers by default.
      options: { store: false },
      finishReasonOf: incompleteReason,
    },
    async load(settings, fetch) {
      const { createXai } = await import('@ai-sdk/xai');
      return createXai(access('xai', settings, fetch)).languageModel;
    },
  },
  deepseek: {
    isConfigured: hasApiKey,
    dialect: { name: 'deepseek', strictJsonSchema: true },
    async load(settings, fetch) {
      const { createDeepSeek } = await import('@ai-sdk/deepseek');
      return createDeepSeek(access('deepseek', settings, fetch)).languageModel;
    },
  },
  azure: {
    isConfigured: ({ apiKey, resourceName, baseUrl }) => Boolean(apiKey) && Boolean(resourceName || baseUrl),
    dialect: chatDialect('openai'),
    async load({ apiKey = '', resourceName = '', baseUrl }, fetch) {
      const { createAzure } = await import('@ai-sdk/azure');
      const provider = createAzure({ apiKey, fetch, resourceName, ...(baseUrl && { baseURL: baseUrl }) });
      return (model) => provider.chat(model);
    },
  },
  'amazon-bedrock': {
    isConfigured: ({ region, apiKey, accessKeyId, secretAccessKey }) =>
      Boolean(region) && Boolean(apiKey || (accessKeyId && secretAccessKey)),
    dialect: {
      name: 'amazonBedrock',
      unnamedSchemas: true,
      systemFirst: true,
      signsBodies: true,
      argumentObjects: 'input',
      // Only Anthropic's models have the setting.
      parallelToolCalls: (isAllowed) => ({ anthropic: { disableParallelToolUse: !isAllowed } }),
    },
    async load({ region = '', apiKey = '', accessKeyId = '', secretAccessKey = '', sessionToken, baseUrl }, fetch) {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      const provider = createAmazonBedrock({
        region,
        apiKey,
        accessKeyId,
        secretAccessKey,
        ...(sessionToken && { sessionToken }),
        // Set explicitly; otherwise the package would use AWS_ENDPOINT_URL, which can be the address of the object
        // storage.
        baseURL: baseUrl || bedrockAddress(region),
        fetch,
      });
      return (model) => {
        // The package encodes all of the model for the URL's path but these, which are path segments.
        if (/^\.{1,2}$/.test(model)) throw new ImpossibleModelError();
        return provider.languageModel(model);
      };
    },
  },
  cohere: {
    isConfigured: hasApiKey,
    dialect: { name: 'cohere', unnamedSchemas: true },
    async load(settings, fetch) {
      const { createCohere } = await import('@ai-sdk/cohere');
      return createCohere(access('cohere', settings, withCohereArguments(fetch))).languageModel;
    },
  },
};

/** Imports the package for OpenAI-compatible servers and prepares it for one of them. */
export async function loadCompatible(settings: CompatibleProviderSettings, fetch: Fetch): Promise<LanguageModels> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: compatibleName,
    baseURL: settings.baseUrl,
    fetch,
    ...(settings.apiKey && { apiKey: settings.apiKey }),
    ...(settings.headers && { headers: { ...settings.headers } }),
    supportsStructuredOutputs: settings.structuredOutputs ?? false,
    includeUsage: true,
  });
  return (model) => provider.chatModel(model);
}

/** Why a response of the Responses API is incomplete. xAI's package reads it only in streams. */
function incompleteReason(body: unknown): FinishReason | undefined {
  const { incomplete_details: details } = body as { incomplete_details?: { reason?: unknown } | null };
  if (details?.reason === 'max_output_tokens') return 'length';
  return details?.reason === 'content_filter' ? 'content-filter' : undefined;
}

function access(
  id: RemoteProviderId,
  { apiKey = '', baseUrl }: RemoteProviderSettings,
  fetch: Fetch,
): { apiKey: string; baseURL: string; fetch: Fetch } {
  return { apiKey, baseURL: baseUrl || publicAddresses[id], fetch };
}

function bedrockAddress(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
