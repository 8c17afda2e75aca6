import type { GoogleLanguageModelOptions } from '@ai-sdk/google';
import { allowed, reasons, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, ImpossibleModelError, type Vendor } from './vendor.ts';

const address = 'https://generativelanguage.googleapis.com/v1beta';

const options: RulesOf<GoogleLanguageModelOptions> = {
  mediaResolution: allowed,
  safetySettings: allowed,
  serviceTier: allowed,
  thinkingConfig: allowed,
  threshold: allowed,
  audioTimestamp: reasons.unused,
  cachedContent: reasons.storage,
  continuationToken: reasons.storage,
  imageConfig: reasons.unused,
  labels: reasons.unused,
  requestType: reasons.unused,
  responseModalities: reasons.format,
  retrievalConfig: reasons.serverTools,
  sharedRequestType: reasons.unused,
  streamFunctionCallArguments: reasons.unused,
  structuredOutputs: reasons.format,
};

export const google: Vendor<'google'> = {
  id: 'google',
  name: 'Google Gemini',
  defaultModel: 'gemini-3.8-flash',
  models: [
    'gemini-4-argon',
    'gemini-4-carbon',
    'gemini-4-hydrogen',
    'gemini-3.8-flash',
    'gemini-3.7-flash',
    'gemini-3.6-flash',
    'gemini-3.5-flash',
    'gemini-3.5-flash-lite',
    'gemini-3.1-pro-preview',
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    'gemini-2.5-flash-lite',
    'gemini-pro-latest',
    'gemini-flash-latest',
    'gemini-flash-lite-latest',
  ],

  address,
  variables: [
    apiKeyVariable('GOOGLE_GENERATIVE_AI_API_KEY', 'Google Gemini'),
    baseUrlVariable('GOOGLE_BASE_URL', address),
  ],
  options,
  ownMembers: ['thinking_config.thinking_budget', 'thinking_config.thinking_level', 'safety_settings'],
  // The addresses that the package knows are files of the operator's account, and videos.
  dialect: {
    name: 'google',
    textParts: ['system', 'user', 'assistant'],
    unnamedSchemas: true,
    systemFirst: true,
    argumentObjects: 'args',
    imageUrls: false,
  },
  async load(settings, fetch) {
    const { createGoogle } = await import('@ai-sdk/google');
    const provider = createGoogle(accessTo(address, settings, fetch));
    return (model) => provider.languageModel(possible(model));
  },
  embeddings: {
    models: ['gemini-embedding-001', 'gemini-embedding-2'],
    async load(settings, fetch) {
      const { createGoogle } = await import('@ai-sdk/google');
      const provider = createGoogle(accessTo(address, settings, fetch));
      return (model) => provider.embeddingModel(possible(model));
    },
  },
};

/** @throws {ImpossibleModelError} */
function possible(model: string): string {
  // The model becomes part of the URL's path, so it must not contain path segments such as `..`.
  if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(model)) throw new ImpossibleModelError();
  return model;
}
