import { InvalidResponseDataError, TypeValidationError, type LanguageModelV4ToolCall } from '@ai-sdk/provider';
import { asList, isObject, membersOf } from '../../base/runtime/objects.ts';
import type { AnswerPart, FinishReason } from '../language-model.ts';

/** The longest arguments of a call, in characters. */
const mostArguments = 4 * 1024 * 1024;

/**
 * What a provider says about its answer in members that the packages do not read, or read in whole answers only, or in
 * streams only.
 */
export class AnswerSigns {
  #error: unknown;
  #reason: FinishReason | undefined;
  #refusal = '';
  /** The last piece of a refusal, which the package may give as a text. */
  #piece = '';
  #call: { name: string; arguments: string } | undefined;

  /** The error that came in the answer, in the provider's form; undefined without one. */
  get error(): unknown {
    return this.#error;
  }

  /** Why the answer is incomplete, as the Responses API says it. */
  get reason(): FinishReason | undefined {
    return this.#reason;
  }

  /** Why the model does not answer, in its own words; undefined if it does not refuse. */
  get refusal(): string | undefined {
    return this.#refusal === '' ? undefined : this.#refusal;
  }

  /**
   * A call in the form that OpenAI's API had before tools (`function_call`).
   *
   * @param content what the package has read; some servers send the call in both forms
   * @param id of the answer, because such a call has none
   */
  callIn(content: readonly Pick<AnswerPart, 'type'>[], id = ''): LanguageModelV4ToolCall | undefined {
    if (this.#call === undefined || content.some(({ type }) => type === 'tool-call')) return undefined;
    const { name: toolName, arguments: input } = this.#call;
    return { type: 'tool-call', toolCallId: `call_${id.slice(0, 200)}`, toolName, input };
  }

  /**
   * @param message an answer, or an event of a stream, as the provider sent it
   * @returns the piece of a refusal in it; empty without one
   */
  note(message: unknown): string {
    this.#piece = '';
    if (!isObject(message)) return '';
    const response = isObject(message['response']) ? message['response'] : message;
    const choice = membersOf(asList(message['choices'])[0]);
    const said = [choice['message'], choice['delta'], message['delta']].find(isObject) ?? {};
    this.#error ??= [message['error'], response['error'], choice['error'], said['error']].find(isError);
    this.#reason ??= incompleteReasons.get(membersOf(response['incomplete_details'])['reason']);
    this.#noteCall(membersOf(said['function_call']));
    const texts = message['type'] === 'response.refusal.delta' ? [message['delta']] : [said['refusal']];
    const parts = [said['content'], ...asList(message['output']).map((item) => membersOf(item)['content'])];
    texts.push(...parts.flatMap(asList).map((part) => membersOf(part)['refusal']));
    texts.push(...[message, said].map((end) => membersOf(end['stop_details'])['explanation']));
    this.#piece = texts.filter((text) => typeof text === 'string').join('');
    this.#refusal += this.#piece;
    return this.#piece;
  }

  /** Whether a text that the package gives is the refusal of the message that was noted last. */
  isRefusal(text: string): boolean {
    return this.#piece !== '' && text === this.#piece;
  }

  /**
   * Whether an error of a package says only that it does not know an event of the Responses API: that was read here, or
   * is of a later release and says nothing that an answer needs.
   */
  isOfOtherEvent(error: unknown): boolean {
    if (!TypeValidationError.isInstance(error)) return false;
    const { type } = membersOf(error.value);
    return typeof type === 'string' && /^(?:response\.|keepalive$)/.test(type) && !neededEvents.test(type);
  }

  /** The name comes first, and the arguments in pieces. */
  #noteCall({ name, arguments: text }: Readonly<Record<string, unknown>>): void {
    if (typeof name === 'string' && name !== '') this.#call ??= { name, arguments: '' };
    if (this.#call === undefined || typeof text !== 'string') return;
    this.#call.arguments += text;
    if (this.#call.arguments.length > mostArguments) {
      throw new InvalidResponseDataError({ data: undefined, message: 'Too long arguments.' });
    }
  }
}

function isError(value: unknown): boolean {
  return isObject(value) ? Object.keys(value).length > 0 : typeof value === 'string' && value.trim() !== '';
}

/** Without one of these an answer would not be whole. */
const neededEvents =
  /^response\.(?:created|in_progress|completed|incomplete|failed|error|(?:output_item|content_part|output_text|reasoning\w*|function_call_arguments)\.\w+)$/;

const incompleteReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['max_output_tokens', 'length'],
  ['content_filter', 'content-filter'],
]);
