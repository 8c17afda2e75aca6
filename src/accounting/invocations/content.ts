import type { components } from '../../../generated/types.ts';
import {
  callsOf,
  textOf as textIn,
  type GenerateEvent,
  type GenerateRequest,
  type GenerateResult,
  type Message,
  type ToolCall,
  type ToolCallPart,
} from '../../models/language-model.ts';

/** Of which invocations the content is kept, the strictest first. */
export const contentModes = ['off', 'errors', 'all'] as const satisfies readonly Mode[];
type Mode = components['schemas']['InvocationContentMode'];
export type ContentMode = (typeof contentModes)[number];

/** The stricter of two modes. */
export function stricterOf(one: ContentMode, other: ContentMode = one): ContentMode {
  return contentModes.indexOf(other) < contentModes.indexOf(one) ? other : one;
}

/** The most characters of one content. */
const mostCharacters = 262_144;
/** Characters that a message or a call takes besides its texts. */
const overhead = 64;

type Answer = Pick<GenerateResult, 'content'>;

/** Gathers the content of one invocation. */
export class KeptContent {
  #request: GenerateRequest | undefined;
  #answer: Answer | undefined;
  #text = '';
  readonly #toolCalls: ToolCallPart[] = [];

  asked(request: GenerateRequest): void {
    this.#request = request;
  }

  /** A piece of an answer that is streamed. */
  received(event: Exclude<GenerateEvent, { readonly type: 'finish' }>): void {
    if (event.type === 'tool-call') this.#toolCalls.push(event);
    else if (event.type === 'text' && this.#text.length < mostCharacters) this.#text += event.delta;
  }

  answered(answer: Answer): void {
    this.#answer = answer;
  }

  /** The content as it is stored: JSON in the form of the contract. Undefined if nothing was sent. */
  toJson(): string | undefined {
    if (this.#request === undefined) return undefined;
    const hasPieces = this.#text !== '' || this.#toolCalls.length > 0;
    const text = { type: 'text' as const, text: this.#text };
    const pieces = hasPieces ? { content: [text, ...this.#toolCalls] } : undefined;
    return JSON.stringify(toContent(this.#request, this.#answer ?? pieces));
  }
}

/** The answer first, then the messages from the last to the first, then the rest, as far as there is room. */
function toContent(request: GenerateRequest, answer: Answer | undefined): object {
  let left = mostCharacters;
  let isTruncated = false;
  const take = (text: string): string => {
    left -= overhead;
    const kept = text.length <= left ? text : text.slice(0, Math.max(0, left)).toWellFormed();
    if (kept.length < text.length) isTruncated = true;
    left -= kept.length;
    return kept;
  };
  const takeCalls = (calls: readonly ToolCall[] = []): object => {
    if (calls.length === 0) return {};
    const taken = calls.slice(0, Math.max(0, Math.ceil(left / overhead)));
    if (taken.length < calls.length) isTruncated = true;
    return { tool_calls: taken.map((call) => ({ id: call.id, name: call.name, arguments: take(call.arguments) })) };
  };
  const takeWhole = <Name extends string>(name: Name, value: unknown): object => {
    if (value === undefined) return {};
    const { length } = JSON.stringify(value);
    if (length > left) {
      isTruncated = true;
      return {};
    }
    left -= length;
    return { [name]: value };
  };
  const takeMessage = (message: Message): object => ({
    role: message.role,
    text: take(textOf(message)),
    ...takeCalls(callsOf(message)),
    ...(message.role === 'tool' && { tool_call_id: message.toolCallId }),
  });
  const said = answer && { text: take(textIn(answer)), ...takeCalls(callsOf(answer)) };
  const messages: object[] = [];
  for (const message of request.messages.toReversed()) {
    if (left <= 0) isTruncated = true;
    else messages.push(takeMessage(message));
  }
  return {
    messages: messages.reverse(),
    ...takeWhole('parameters', request.parameters),
    ...takeWhole('response_format', request.responseFormat),
    ...takeWhole('tools', request.tools),
    ...takeWhole('tool_choice', request.toolChoice),
    ...(said && { answer: said }),
    ...(isTruncated && { truncated: true }),
  };
}

/** The text of a message, with a name for each image. */
function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap((part) => (part.type === 'text' ? part.text : part.type === 'image' ? `[${nameOf(part.url)}]` : []))
    .join('\n');
}

function nameOf(url: string): string {
  const type = /^data:([\w./+-]*)/i.exec(url)?.[1];
  return type === undefined ? url : `${type}, ${url.length} characters`;
}
