import type { JsonObject, Message, Parameters, ResponseFormat, Tool, ToolChoice } from '../../models/language-model.ts';
import { withoutNulls } from './without-nulls.ts';
import { defined } from '../../base/runtime/objects.ts';

/** What a request says to the model. Members that it leaves out are those of a stored prompt, if there is one. */
export interface RequestedGeneration {
  readonly messages: readonly Message[];
  readonly parameters?: Parameters;
  readonly responseFormat?: ResponseFormat;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
}

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
] as const;

/** The members that both APIs have in addition to OpenAI's: each only for some providers, with the names of their APIs. */
export function readExtra(body: Readonly<Partial<Record<(typeof extraNames)[number], unknown>>>): JsonObject {
  return Object.fromEntries(
    extraNames.flatMap((name) => ((body[name] ?? null) === null ? [] : [[name, body[name]]])),
  ) as JsonObject;
}

function toTool(sent: SentTool): Tool {
  const { name, description, parameters = { type: 'object', properties: {} }, strict } = withoutNulls(sent);
  return defined({ name, description, parameters: parameters as JsonObject, strict });
}

function choiceOf(choice: string | { readonly name: string }): ToolChoice {
  return typeof choice === 'string' ? (choice as 'auto' | 'none' | 'required') : { name: choice.name };
}
