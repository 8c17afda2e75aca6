import type { components } from '../../../generated/types.ts';
import { toCompatibleError } from '../../base/errors/compatible-error.ts';
import { saidByProvider } from '../../base/errors/problem-error.ts';
import { CallFlattener } from '../generation/flat-calls.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import type { Answering } from '../generation/prepare-invocation.ts';
import type { EventEncoder } from '../../http/event-streams.ts';
import { serverSentEvent } from '../../http/server-sent-events.ts';
import { isCut, type ToolCall } from '../../models/language-model.ts';
import {
  callItem,
  endOf,
  inProgress,
  messageItem,
  refusalPart,
  textPart,
  toResponse,
  usageOf,
  type ResponseHead,
  type ResponseItem,
  type ResponsePart,
  type ResponseState,
} from './response-resource.ts';

type ResponseEvent = components['schemas']['ResponseEvent'];
type WithoutNumber<Event> = Event extends unknown ? Omit<Event, 'sequence_number'> : never;

/** A message to which the model still adds text, or the text of a refusal. */
interface OpenMessage {
  readonly kind: 'text' | 'refusal';
  readonly index: number;
  text: string;
}

function partOf({ kind, text }: OpenMessage): ResponsePart {
  return kind === 'refusal' ? refusalPart(text) : textPart(text);
}

export interface ResponseEncoderOptions {
  /** @param answering undefined until somebody answers */
  readonly headOf: (answering?: Answering) => ResponseHead;
  readonly now: () => Date;
}

/**
 * Writes the events of the Responses API. Each has the next `sequence_number`; `[DONE]` ends the stream, as the Open
 * Responses specification requires. A failure is `error`, in the forms of both specifications, and `response.failed`.
 */
export function createResponseEncoder({ headOf, now }: ResponseEncoderOptions): EventEncoder<GeneratedEvent> {
  let head = headOf();
  let sequence = 0;
  let message: OpenMessage | undefined;
  const output: ResponseItem[] = [];
  const flattener = new CallFlattener();

  const write = (event: WithoutNumber<ResponseEvent>): string => {
    const { type, ...members } = event;
    return serverSentEvent({ type, sequence_number: sequence++, ...members }, type);
  };
  const end = (state: ResponseState): string =>
    write({ type: `response.${state.status}`, response: toResponse(head, state) }) + serverSentEvent('[DONE]');

  const place = ({ index }: OpenMessage): { item_id: string; output_index: number; content_index: number } => ({
    item_id: messageItem(head.id, index, undefined, 'in_progress').id,
    output_index: index,
    content_index: 0,
  });

  const openMessage = (kind: OpenMessage['kind']): [OpenMessage, string] => {
    if (message?.kind === kind) return [message, ''];
    const closed = closeMessage();
    message = { kind, index: output.length, text: '' };
    const { index } = message;
    const item = messageItem(head.id, index, undefined, 'in_progress');
    return [
      message,
      closed +
        write({ type: 'response.output_item.added', output_index: index, item }) +
        write({ type: 'response.content_part.added', ...place(message), part: partOf(message) }),
    ];
  };

  const closeMessage = (status: ResponseItem['status'] = 'completed'): string => {
    if (message === undefined) return '';
    const { kind, index, text } = message;
    const at = place(message);
    const part = partOf(message);
    const item = messageItem(head.id, index, part, status);
    output.push(item);
    message = undefined;
    return (
      (kind === 'refusal'
        ? write({ type: 'response.refusal.done', ...at, refusal: text })
        : write({ type: 'response.output_text.done', ...at, text, logprobs: [] })) +
      write({ type: 'response.content_part.done', ...at, part }) +
      write({ type: 'response.output_item.done', output_index: index, item })
    );
  };

  const writeCall = (call: ToolCall): string => {
    const index = output.length;
    const item = callItem(head.id, index, call, 'completed');
    output.push(item);
    const at = { item_id: item.id, output_index: index };
    const added = callItem(head.id, index, { ...call, arguments: '' }, 'in_progress');
    return (
      write({ type: 'response.output_item.added', output_index: index, item: added }) +
      write({ type: 'response.function_call_arguments.delta', ...at, delta: call.arguments }) +
      write({ type: 'response.function_call_arguments.done', ...at, arguments: call.arguments }) +
      write({ type: 'response.output_item.done', output_index: index, item })
    );
  };

  return {
    encode(event) {
      switch (event.type) {
        case 'start':
          head = headOf(event);
          return (['response.created', 'response.in_progress'] as const)
            .map((type) => write({ type, response: toResponse(head, inProgress) }))
            .join('');
        case 'text': {
          const [open, opened] = openMessage('text');
          open.text += event.delta;
          return (
            opened + write({ type: 'response.output_text.delta', ...place(open), delta: event.delta, logprobs: [] })
          );
        }
        case 'refusal': {
          const [open, opened] = openMessage('refusal');
          open.text += event.delta;
          return opened + write({ type: 'response.refusal.delta', ...place(open), delta: event.delta });
        }
        case 'thinking':
        case 'thinking-end':
        case 'tool-call': {
          const call = flattener.take(event);
          return closeMessage() + (call === undefined ? '' : writeCall(call));
        }
        case 'original':
          return '';
        case 'finish': {
          const { result } = event.generated;
          // An answer without any text or call is an empty message.
          const opened = output.length === 0 && message === undefined ? openMessage('text')[1] : '';
          const closed = closeMessage(isCut(result) ? 'incomplete' : 'completed');
          const state = endOf(result, output, now());
          return opened + closed + end(state);
        }
      }
    },
    fail(problem) {
      const { type, status, message: detail, errors, extensions } = problem;
      const { error } = toCompatibleError({ type, status, detail, errors, ...saidByProvider(problem) });
      const { message: text, code, param } = error;
      if (message !== undefined) output.push(messageItem(head.id, message.index, partOf(message), 'incomplete'));
      const state: ResponseState = {
        ...inProgress,
        status: 'failed',
        error: { code: type === 'provider-rate-limited' ? 'rate_limit_exceeded' : 'server_error', message: text },
        output,
        usage: extensions.usage === undefined ? null : usageOf(extensions.usage),
      };
      return write({ type: 'error', code, message: text, param, error }) + end(state);
    },
  };
}
