import type { components } from '../../../generated/types.ts';
import type {
  AnswerPart,
  GenerateEvent,
  GenerateRequest,
  GenerateResult,
  ImagePart,
  JsonObject,
  Message,
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
/** Characters that a message or a part takes besides its texts. */
const overhead = 64;

/** The values of a stored prompt's variables by name; undefined if there are none. */
export type Variables = Readonly<Record<string, unknown>> | undefined;
type Answer = Pick<GenerateResult, 'content' | 'refusal'>;
type Part = AnswerPart | ImagePart;

/** Gathers the content of one invocation. */
export class KeptContent {
  #request: GenerateRequest | undefined;
  #variables: Variables;
  #promptMessages: number | undefined;
  #answer: Answer | undefined;
  readonly #parts: AnswerPart[] = [];
  #refusal = '';
  /** The last part, while it comes in pieces. */
  #open: { type: 'text' | 'thinking'; text: string } | undefined;
  #length = 0;

  /** @param promptMessages how many of the messages are those of a stored prompt */
  asked(request: GenerateRequest, variables: Variables, promptMessages: number | undefined): void {
    this.#request = request;
    this.#variables = variables;
    this.#promptMessages = promptMessages;
  }

  /** A piece of an answer that is streamed. */
  received(event: Exclude<GenerateEvent, { readonly type: 'finish' }>): void {
    if (event.type === 'thinking-end' || event.type === 'tool-call') this.#open = undefined;
    if (event.type === 'tool-call') this.#parts.push(event);
    const isText = event.type === 'text' || event.type === 'thinking' || event.type === 'refusal';
    if (!isText || this.#length >= mostCharacters) return;
    this.#length += event.delta.length;
    if (event.type === 'refusal') {
      this.#refusal += event.delta;
      return;
    }
    if (this.#open?.type === event.type) {
      this.#open.text += event.delta;
    } else {
      this.#open = { type: event.type, text: event.delta };
      this.#parts.push(this.#open);
    }
  }

  answered(answer: Answer): void {
    this.#answer = answer;
  }

  /** The content as it is stored: JSON in the form of the contract. Undefined if nothing was sent. */
  toJson(): string | undefined {
    if (this.#request === undefined) return undefined;
    const refusal = this.#refusal === '' ? {} : { refusal: this.#refusal };
    const pieces = this.#parts.length > 0 || this.#refusal !== '' ? { content: this.#parts, ...refusal } : undefined;
    return JSON.stringify(toContent(this.#request, this.#promptMessages, this.#variables, this.#answer ?? pieces));
  }
}

/** The answer first, then the messages from the last to the first, then the rest, as far as there is room. */
function toContent(
  request: GenerateRequest,
  promptMessages: number | undefined,
  variables: Variables,
  answer: Answer | undefined,
): object {
  let left = mostCharacters;
  let isTruncated = false;
  const take = (text: string): string => {
    left -= overhead;
    const kept = text.length <= left ? text : text.slice(0, Math.max(0, left)).toWellFormed();
    if (kept.length < text.length) isTruncated = true;
    left -= kept.length;
    return kept;
  };
  const takeParts = (content: Message['content']): object[] => {
    const parts: readonly Part[] =
      typeof content !== 'string' ? content : content === '' ? [] : [{ type: 'text', text: content }];
    const taken = parts.slice(0, Math.max(0, Math.ceil(left / overhead)));
    if (taken.length < parts.length) isTruncated = true;
    return taken.map((part) => takePart(part, take));
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
    content: takeParts(message.content),
    ...(message.role === 'tool' && { tool_call_id: message.toolCallId, ...(message.isError && { is_error: true }) }),
  });
  const said = answer && {
    content: takeParts(answer.content),
    ...(answer.refusal !== undefined && { refusal: take(answer.refusal) }),
  };
  const messages: object[] = [];
  for (const message of request.messages.toReversed()) {
    if (left <= 0) isTruncated = true;
    else messages.push(takeMessage(message));
  }
  const content = {
    messages: messages.reverse(),
    ...takeWhole('variables', variables),
    ...takeWhole('parameters', request.parameters),
    ...takeWhole('response_format', request.responseFormat),
    ...takeWhole('tools', request.tools),
    ...takeWhole('tool_choice', request.toolChoice),
    ...(said && { answer: said }),
  };
  if (isTruncated) return { ...content, truncated: true };
  return { ...content, ...(promptMessages !== undefined && { prompt_messages: promptMessages }) };
}

/** Without what a provider needs back. */
function takePart(part: Part, take: (text: string) => string): JsonObject {
  const { type } = part;
  switch (type) {
    case 'text':
    case 'thinking':
      return { type, text: take(part.text) };
    case 'image':
      return { type, url: take(nameOf(part.url)) };
    case 'tool-call':
      return { type, id: part.id, name: part.name, arguments: take(part.arguments) };
  }
}

function nameOf(url: string): string {
  const type = /^data:([\w./+-]*)/i.exec(url)?.[1];
  return type === undefined ? url : `${type}, ${url.length} characters`;
}
