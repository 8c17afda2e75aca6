import type { AmazonBedrockLanguageModelChatOptions, AmazonBedrockProvider } from '@ai-sdk/amazon-bedrock';
import type { Fetch } from '../transport/http.ts';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { baseUrlVariable, ImpossibleModelError, type Vendor, type VendorSettings } from './vendor.ts';

const address = 'https://bedrock-runtime.<AWS_BEDROCK_REGION>.amazonaws.com';

const options: RulesOf<AmazonBedrockLanguageModelChatOptions> = {
  reasoningConfig: allowed,
  serviceTier: allowed,
  additionalModelRequestFields: 'The body of the request to the provider cannot be extended.',
  anthropicBeta: reasons.beta,
  structuredOutputMode: reasons.format,
};

export const amazonBedrock: Vendor<'amazon-bedrock'> = {
  id: 'amazon-bedrock',
  name: 'Amazon Bedrock',
  defaultModel: 'us.amazon.nova-lite-v1:0',
  models: [
    'us.anthropic.claude-opus-5-5',
    'us.anthropic.claude-sonnet-5-5',
    'us.anthropic.claude-fable-5-1',
    'us.anthropic.claude-opus-4-8',
    'us.anthropic.claude-sonnet-4-6-v1',
    'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'us.amazon.nova-premier-v1:0',
    'us.amazon.nova-pro-v1:0',
    'us.amazon.nova-lite-v1:0',
    'us.amazon.nova-micro-v1:0',
    'us.meta.llama4-maverick-17b-instruct-v1:0',
    'us.meta.llama4-scout-17b-instruct-v1:0',
    'us.deepseek.r1-v1:0',
    'us.mistral.pixtral-large-2502-v1:0',
    'openai.gpt-oss-120b-1:0',
    'openai.gpt-oss-20b-1:0',
  ],

  address,
  addressOf: ({ region = '' }) => bedrockAddress(region),
  variables: [
    {
      // Not AWS_REGION, which is often set only for S3: prompts must not go to Bedrock by accident.
      name: 'AWS_BEDROCK_REGION',
      setting: 'region',
      required: true,
      description: 'AWS region of Amazon Bedrock. Also set AWS_BEARER_TOKEN_BEDROCK or AWS access keys.',
    },
    {
      name: 'AWS_BEARER_TOKEN_BEDROCK',
      setting: 'apiKey',
      secret: true,
      description: 'API key for Amazon Bedrock. It takes precedence over AWS access keys.',
    },
    {
      name: 'AWS_ACCESS_KEY_ID',
      setting: 'accessKeyId',
      secret: true,
      description: 'AWS access key id. Object storage uses it too.',
    },
    {
      name: 'AWS_SECRET_ACCESS_KEY',
      setting: 'secretAccessKey',
      secret: true,
      description: 'AWS secret access key. Object storage uses it too.',
    },
    {
      name: 'AWS_SESSION_TOKEN',
      setting: 'sessionToken',
      secret: true,
      description: 'AWS session token of temporary credentials. Object storage uses it too.',
    },
    baseUrlVariable('AWS_BEDROCK_BASE_URL', address),
  ],
  options,
  isConfigured: ({ region, apiKey, accessKeyId, secretAccessKey }) =>
    Boolean(region) && Boolean(apiKey || (accessKeyId && secretAccessKey)),
  dialect: {
    name: 'amazonBedrock',
    textParts: ['system', 'user', 'assistant', 'tool'],
    unnamedSchemas: true,
    systemFirst: true,
    signsBodies: true,
    promptCache: {
      // Other models refuse a cache point. https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
      toOptions: ({ ttl }, model) =>
        /(?:^|[./])(?:anthropic\.claude|amazon\.nova)-/.test(model)
          ? { cachePoint: { type: 'default', ...(ttl && model.includes('anthropic.') && { ttl }) } }
          : undefined,
      takesCalls: true,
      most: 4,
    },
    changesOutputLimit: true,
    resultImages: true,
    argumentObjects: 'input',
    // Only Anthropic's models have the setting.
    parallelToolCalls: (isAllowed) => ({ anthropic: { disableParallelToolUse: !isAllowed } }),
  },
  async load(settings, fetch) {
    const provider = await create(settings, fetch);
    return (model) => provider.languageModel(possible(model));
  },
  embeddings: {
    models: [
      'amazon.titan-embed-text-v2:0',
      'amazon.titan-embed-text-v1',
      'amazon.nova-2-multimodal-embeddings-v1:0',
      'cohere.embed-english-v3',
      'cohere.embed-multilingual-v3',
    ],
    dimensionsOf(dimensions, model) {
      const [option, lengths] = lengthsOf(model);
      return lengths.includes(dimensions)
        ? { providerOptions: { amazonBedrock: { [option]: dimensions } } }
        : undefined;
    },
    async load(settings, fetch) {
      const provider = await create(settings, fetch);
      return (model) => provider.embeddingModel(possible(model));
    },
  },
};

async function create(
  { region = '', apiKey = '', accessKeyId = '', secretAccessKey = '', sessionToken, baseUrl }: VendorSettings,
  fetch: Fetch,
): Promise<AmazonBedrockProvider> {
  const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
  return createAmazonBedrock({
    region,
    apiKey,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
    // Set explicitly; otherwise the package would use AWS_ENDPOINT_URL, which can be the address of the object storage.
    baseURL: baseUrl || bedrockAddress(region),
    fetch,
  });
}

/** @throws {ImpossibleModelError} */
function possible(model: string): string {
  // The package encodes all of the model for the URL's path but these, which are path segments.
  if (/^\.{1,2}$/.test(model)) throw new ImpossibleModelError();
  return model;
}

/** How the package is told the length of vectors, and which it takes, of the makers whose models it distinguishes. */
function lengthsOf(model: string): readonly [option: string, lengths: readonly number[]] {
  if (model.includes('cohere.embed-')) return ['outputDimension', [256, 512, 1_024, 1_536]];
  if (model.includes('amazon.nova-')) return ['embeddingDimension', [256, 384, 1_024, 3_072]];
  return ['dimensions', [256, 512, 1_024]];
}

function bedrockAddress(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
