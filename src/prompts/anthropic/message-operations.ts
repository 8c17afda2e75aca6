import { JsonText } from '../../base/runtime/json-text.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { finishOf } from '../../models/language-model.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import { eventSource } from '../generation/prepare-invocation.ts';
import { servedHeaders, type PrepareCompatible } from '../openai/compatible-invocations.ts';
import {
  createMessageEncoder,
  createOriginalEncoder,
  toMessage,
  type AnthropicMessage,
} from './message-representation.ts';
import { foreignIn, readMessage, toOriginal } from './message-request.ts';

/** The header in which Anthropic's SDKs look for the id of a request. */
const requestIdHeader = 'request-id';

/** Anthropic's Messages API. */
export function messageOperations(prepare: PrepareCompatible): Pick<OperationHandlers, 'createMessage'> {
  return {
    async createMessage({ body, headers, context }) {
      context.addHeader(requestIdHeader, context.requestId);
      const read = readMessage(body);
      const invocation = await prepare(context, {
        operation: 'message',
        isStreamed: body.stream === true,
        showsThinking: true,
        tags: readTags(context.principal.tags, headers['X-Tags']),
        target: body,
        generation: read.generation,
        extra: read.extra,
        messagesAt: '#/messages',
        limitAt: '#/max_tokens',
        places: read.places,
        original: { api: 'anthropic-messages', make: () => toOriginal(context.bodyText, ownHeaders(headers), read) },
        foreignIn: (provider, isOriginal) => foreignIn(read, provider, isOriginal),
      });
      const { id, plan } = invocation;
      if (body.stream !== true) {
        const { generated } = await finishOf(invocation.answer(context.signal));
        const { provider, model, result } = generated;
        return {
          status: 200,
          headers: servedHeaders(invocation, generated),
          body:
            result.original === undefined
              ? toMessage(id, `${provider}/${model}`, result)
              : new JsonText<AnthropicMessage>(result.original),
        };
      }
      const isOriginal = plan.targets[0]?.request.original !== undefined;
      const source = isOriginal
        ? eventSource(
            { ...invocation, answer: (signal) => asTheyCame(invocation.answer(signal)) },
            createOriginalEncoder,
          )
        : eventSource(invocation, () => createMessageEncoder(id));
      const { first, stream } = await context.streamEvents(source);
      return { status: 200, headers: servedHeaders(invocation, first), stream };
    },
  };
}

/** The header fields of a request that belong to its body. */
function ownHeaders(headers: {
  readonly 'anthropic-version'?: string;
  readonly 'anthropic-beta'?: string;
}): Parameters<typeof toOriginal>[1] {
  return defined({ 'anthropic-version': headers['anthropic-version'], 'anthropic-beta': headers['anthropic-beta'] });
}

/** The events as the provider sent them, without what they say. */
async function* asTheyCame(events: AsyncIterable<GeneratedEvent>): AsyncGenerator<GeneratedEvent, void, void> {
  for await (const event of events) if (['start', 'original', 'finish'].includes(event.type)) yield event;
}
