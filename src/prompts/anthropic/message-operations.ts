import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { finishOf } from '../../models/language-model.ts';
import { eventSource } from '../generation/prepare-invocation.ts';
import { servedHeaders, type PrepareCompatible } from '../openai/compatible-invocations.ts';
import { createMessageEncoder, toMessage } from './message-representation.ts';
import { foreignIn, readMessage } from './message-request.ts';

/** The header in which Anthropic's SDKs look for the id of a request. */
const requestIdHeader = 'request-id';

/** Anthropic's Messages API. */
export function messageOperations(prepare: PrepareCompatible): Pick<OperationHandlers, 'createMessage'> {
  return {
    async createMessage({ body, headers: { 'X-Tags': tags }, context }) {
      context.addHeader(requestIdHeader, context.requestId);
      const read = readMessage(body);
      const invocation = await prepare(context, {
        operation: 'message',
        isStreamed: body.stream === true,
        showsThinking: true,
        tags: readTags(context.principal.tags, tags),
        target: body,
        generation: read.generation,
        extra: read.extra,
        messagesAt: '#/messages',
        limitAt: '#/max_tokens',
        places: read.places,
        foreignIn: (provider) => foreignIn(read, provider),
      });
      const { id } = invocation;
      if (body.stream !== true) {
        const { generated } = await finishOf(invocation.answer(context.signal));
        const { provider, model, result } = generated;
        const headers = servedHeaders(invocation, generated);
        return { status: 200, headers, body: toMessage(id, `${provider}/${model}`, result) };
      }
      const source = eventSource(invocation, () => createMessageEncoder(id));
      const { first, stream } = await context.streamEvents(source);
      return { status: 200, headers: servedHeaders(invocation, first), stream };
    },
  };
}
