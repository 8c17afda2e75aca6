import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isObject, membersOf } from '../../base/runtime/objects.ts';
import type { OriginalPiece } from '../language-model.ts';
import { OriginalEvent } from './original-answers.ts';
import { finishOf, noUsage, signatureOf, wrongAnswer } from './anthropic-answer.ts';

/** A block that has begun and not ended. */
interface OpenBlock {
  readonly type: string;
  /** The call, of `tool_use`. */
  readonly call: { readonly toolCallId: string; readonly toolName: string } | undefined;
  /** Its arguments so far. */
  input: string;
}

const eventName = /^[a-z_]{1,100}$/;

/**
 * Reads the events of one stream of Anthropic's Messages API. It gives each as it came, and what it means. Events whose
 * order makes no sense are refused, because the SDKs of callers rely on it. Events, blocks and deltas that are not known
 * are passed on.
 *
 * @throws InvalidResponseDataError for what is no event of such a stream
 */
export class AnthropicEvents {
  readonly #open = new Map<number, OpenBlock>();
  #blocks = 0;
  #hasBegun = false;
  #stopReason: unknown;

  /** @param name of the event, if it has one @param data its text */
  read(name: string | undefined, data: string): LanguageModelV4StreamPart[] {
    const event: unknown = parse(data);
    if (!isObject(event)) throw wrongAnswer();
    const { type } = event;
    if (typeof type !== 'string' || !eventName.test(type) || (name !== undefined && name !== type)) throw wrongAnswer();
    if (type === 'error') return [{ type: 'error', error: event }];
    const isFirst = type === 'message_start';
    if (type !== 'ping' && isFirst === this.#hasBegun) throw wrongAnswer();
    const original = new OriginalEvent({
      name: type,
      data: inOneLine(data),
      value: event,
      added: addedBy(event),
      isContent: !isFirst && type !== 'ping',
    });
    return [{ type: 'raw', rawValue: original }, ...this.#meaning(type, event)];
  }

  #meaning(type: string, event: Readonly<Record<string, unknown>>): LanguageModelV4StreamPart[] {
    switch (type) {
      case 'message_start':
        return this.#begin(event['message']);
      case 'content_block_start':
        return this.#start(event['index'], event['content_block']);
      case 'content_block_delta':
        return this.#add(event['index'], membersOf(event['delta']));
      case 'content_block_stop':
        return this.#stop(event['index']);
      case 'message_delta':
        this.#stopReason = membersOf(event['delta'])['stop_reason'] ?? this.#stopReason;
        return [];
      case 'message_stop':
        if (this.#open.size > 0 || typeof this.#stopReason !== 'string') throw wrongAnswer();
        return [{ type: 'finish', finishReason: finishOf(this.#stopReason), usage: noUsage }];
      default:
        return [];
    }
  }

  #begin(message: unknown): LanguageModelV4StreamPart[] {
    const { type, id, model } = membersOf(message);
    if (type !== 'message' || typeof id !== 'string' || typeof model !== 'string') throw wrongAnswer();
    this.#hasBegun = true;
    return [{ type: 'response-metadata', id, modelId: model }];
  }

  #start(index: unknown, block: unknown): LanguageModelV4StreamPart[] {
    const { type, id, name, text, thinking, data, input } = membersOf(block);
    if (index !== this.#blocks || typeof type !== 'string') throw wrongAnswer();
    this.#blocks += 1;
    const isCall = type === 'tool_use';
    if (isCall && (typeof id !== 'string' || typeof name !== 'string')) throw wrongAnswer();
    const call = isCall ? { toolCallId: String(id), toolName: String(name) } : undefined;
    const given = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
    this.#open.set(index, { type, call, input: given });
    const key = String(index);
    if (type === 'text' && typeof text === 'string') return [{ type: 'text-delta', id: key, delta: text }];
    if (type === 'thinking') {
      return [
        { type: 'reasoning-start', id: key },
        ...(typeof thinking === 'string' ? [{ type: 'reasoning-delta' as const, id: key, delta: thinking }] : []),
      ];
    }
    if (type !== 'redacted_thinking') return [];
    return [{ type: 'reasoning-start', id: key, ...signatureOf('redactedData', data) }];
  }

  #add(
    index: unknown,
    { type, text, thinking, signature, partial_json }: Readonly<Record<string, unknown>>,
  ): LanguageModelV4StreamPart[] {
    const block = this.#open.get(index as number);
    if (block === undefined) throw wrongAnswer();
    const id = String(index);
    if (type === 'text_delta' && typeof text === 'string') return [{ type: 'text-delta', id, delta: text }];
    if (type === 'thinking_delta' && typeof thinking === 'string') {
      return [{ type: 'reasoning-delta', id, delta: thinking }];
    }
    if (type === 'signature_delta')
      return [{ type: 'reasoning-delta', id, delta: '', ...signatureOf('signature', signature) }];
    if (type !== 'input_json_delta' || typeof partial_json !== 'string' || block.call === undefined) return [];
    block.input += partial_json;
    return [{ type: 'tool-input-delta', id: block.call.toolCallId, delta: partial_json }];
  }

  #stop(index: unknown): LanguageModelV4StreamPart[] {
    const block = this.#open.get(index as number);
    if (block === undefined) throw wrongAnswer();
    this.#open.delete(index as number);
    const { type, call, input } = block;
    if (call !== undefined) return [{ type: 'tool-call', ...call, input: input === '' ? '{}' : input }];
    return type.endsWith('thinking') ? [{ type: 'reasoning-end', id: String(index) }] : [];
  }
}

/** The text that an event adds to a block, if it has nothing else. */
function addedBy({ index, delta, ...others }: Readonly<Record<string, unknown>>): OriginalPiece['added'] {
  const { type: kind, ...members } = membersOf(delta);
  const [[member, text] = [], ...more] = Object.entries(members);
  const isAlone = more.length === 0 && Object.keys(others).length === 1;
  if (!isAlone || member === undefined || typeof index !== 'number' || typeof kind !== 'string') return undefined;
  return textMembers.get(kind) === member && typeof text === 'string' ? { index, kind, member, text } : undefined;
}

const textMembers: ReadonlyMap<string, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
]);

/** JSON can have line ends only between its parts. */
function inOneLine(data: string): string {
  return data.replace(/[\r\n]+/g, ' ');
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw wrongAnswer();
  }
}
