import type { CohereLanguageModelChatOptions } from '@ai-sdk/cohere';
import type { Fetch } from '../transport/http.ts';
import { beginning, mapAnswers, standIn } from '../transport/tool-arguments.ts';
import { allowed, type RulesOf } from './option-rules.ts';
import { accessTo, apiKeyVariable, baseUrlVariable, type Vendor } from './vendor.ts';

const address = 'https://api.cohere.com/v2';

const options: RulesOf<CohereLanguageModelChatOptions> = {
  thinking: allowed,
};

export const cohere: Vendor<'cohere'> = {
  id: 'cohere',
  name: 'Cohere',
  defaultModel: 'command-a-03-2025',
  models: ['command-a-03-2025', 'command-a-reasoning-08-2025', 'command-r7b-12-2024', 'command-r-08-2024'],

  address,
  variables: [apiKeyVariable('COHERE_API_KEY', 'Cohere'), baseUrlVariable('COHERE_BASE_URL', address)],
  options,
  ownMembers: ['thinking.type', 'thinking.token_budget'],
  dialect: { name: 'cohere', textParts: [], unnamedSchemas: true },
  async load(settings, fetch) {
    const { createCohere } = await import('@ai-sdk/cohere');
    return createCohere(accessTo(address, settings, withExactArguments(fetch))).languageModel;
  },
  embeddings: {
    models: [
      'embed-v4.0',
      'embed-english-v3.0',
      'embed-multilingual-v3.0',
      'embed-english-light-v3.0',
      'embed-multilingual-light-v3.0',
    ],
    dimensionsOf: (dimensions) =>
      [256, 512, 1_024, 1_536].includes(dimensions)
        ? { providerOptions: { cohere: { outputDimension: dimensions } } }
        : undefined,
    async load(settings, fetch) {
      const { createCohere } = await import('@ai-sdk/cohere');
      return createCohere(accessTo(address, settings, fetch)).embeddingModel;
    },
  },
};

/**
 * For the package, which parses the arguments of streamed calls and writes them anew, and reads `null` as `{}`:
 * they are read as they came.
 */
function withExactArguments(fetch: Fetch): Fetch {
  return mapAnswers(fetch, '"tool_calls"', putWholeCalls, putPieces);
}

interface SentMessage {
  readonly type?: unknown;
  readonly message?: { readonly tool_calls?: readonly SentCall[] };
  readonly delta?: { readonly message?: { readonly tool_calls?: SentCall } };
}

interface SentCall {
  readonly function?: { arguments?: unknown };
}

function putWholeCalls(text: string): string {
  const answer = parseMessage(text);
  if (answer === undefined) return text;
  for (const { function: called } of answer.message?.tool_calls ?? []) {
    if (typeof called?.arguments === 'string') called.arguments = JSON.stringify(standIn(called.arguments));
  }
  return JSON.stringify(answer);
}

/** The pieces together are a stand-in. An event before the end of a call ends it. */
function putPieces(line: string): string {
  if (!line.startsWith('data:') || !line.includes('"tool-call-')) return line;
  const event = parseMessage(line.slice('data:'.length));
  if (event === undefined) return line;
  if (event.type === 'tool-call-end') {
    const last = { type: 'tool-call-delta', delta: { message: { tool_calls: { function: { arguments: '"}' } } } } };
    return `data: ${JSON.stringify(last)}\n\n${line}`;
  }
  const called = event.delta?.message?.tool_calls?.function;
  if (typeof called?.arguments !== 'string') return line;
  const piece = JSON.stringify(called.arguments).slice(1, -1);
  called.arguments = event.type === 'tool-call-start' ? `${beginning}"${piece}` : piece;
  return `data: ${JSON.stringify(event)}`;
}

/** Undefined for what is not JSON: the package will say so. */
function parseMessage(text: string): SentMessage | undefined {
  try {
    return JSON.parse(text) as SentMessage;
  } catch {
    return undefined;
  }
}
