import type { JsonObject, Message, Parameters, ResponseFormat, Tool, ToolChoice } from '../providers/language-model.ts';
import { withoutNulls } from './without-nulls.ts';

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
  return {
    messages,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(tools !== undefined && { tools: tools.map(toTool) }),
    ...(toolChoice !== undefined && { toolChoice: choiceOf(toolChoice) }),
  };
}

function toTool(sent: SentTool): Tool {
  const { name, description, parameters, strict } = withoutNulls(sent);
  return {
    name,
    ...(description !== undefined && { description }),
    parameters: (parameters ?? { type: 'object', properties: {} }) as JsonObject,
    ...(strict !== undefined && { strict }),
  };
}

function choiceOf(choice: string | { readonly name: string }): ToolChoice {
  return typeof choice === 'string' ? (choice as 'auto' | 'none' | 'required') : { name: choice.name };
}
