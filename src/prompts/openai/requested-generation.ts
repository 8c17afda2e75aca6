import type {
  CacheHint,
  JsonObject,
  Message,
  Parameters,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../../models/language-model.ts';
import type { RequestedGeneration } from '../compatible/compatible-invocations.ts';
import { withoutNulls } from '../compatible/without-nulls.ts';
import { defined } from '../../base/runtime/objects.ts';

/** What both APIs have, and write in the same way at least inside. */
interface SentGeneration {
  readonly messages: readonly Message[];
  readonly parameters: Parameters;
  readonly responseFormat: ResponseFormat | undefined;
  readonly tools: readonly SentTool[] | undefined;
  /** The contract's pattern allows only the texts of a `ToolChoice`. */
  readonly toolChoice: string | { readonly name: string } | undefined;
}

interface SentTool {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly strict?: boolean | null;
  readonly cache_control?: CacheHint | null;
}

export function requestedGeneration(sent: SentGeneration): RequestedGeneration {
  const { messages, parameters, responseFormat, tools, toolChoice } = sent;
  return defined({
    messages,
    parameters: Object.keys(parameters).length > 0 ? parameters : undefined,
    responseFormat,
    tools: tools?.map(toTool),
    toolChoice: toolChoice === undefined ? undefined : choiceOf(toolChoice),
  });
}

const extraNames = [
  'top_k',
  'min_p',
  'typical_p',
  'repetition_penalty',
  'chat_template_kwargs',
  'thinking',
  'thinking_config',
  'safety_settings',
  'safe_prompt',
  'prompt_cache_key',
  'prompt_cache_options',
] as const;

/**
 * The members that both APIs have in addition to OpenAI's: each only for some providers, with the names of their APIs.
 * Empty ones say nothing.
 */
export function readExtra(body: Readonly<Partial<Record<(typeof extraNames)[number], unknown>>>): JsonObject {
  return Object.fromEntries(
    extraNames.flatMap((name) => {
      const value = body[name] ?? null;
      const isEmpty = typeof value === 'object' && Object.keys(value ?? {}).length === 0;
      return isEmpty ? [] : [[name, value]];
    }),
  ) as JsonObject;
}

/** The hint of a part for the provider's cache, in this service's spelling or OpenAI's. */
export function cacheHintOf(part: {
  readonly cache_control?: CacheHint;
  readonly prompt_cache_breakpoint?: object | null;
}): { cache_control?: CacheHint } {
  if (part.cache_control !== undefined) return { cache_control: part.cache_control };
  return (part.prompt_cache_breakpoint ?? null) === null ? {} : { cache_control: { type: 'ephemeral' } };
}

function toTool(sent: SentTool): Tool {
  const { parameters = { type: 'object', properties: {} }, ...tool } = withoutNulls(sent);
  const { name, description, strict, cache_control } = tool;
  return defined({ name, description, parameters: parameters as JsonObject, strict, cache_control });
}

function choiceOf(choice: string | { readonly name: string }): ToolChoice {
  return typeof choice === 'string' ? (choice as 'auto' | 'none' | 'required') : { name: choice.name };
}
