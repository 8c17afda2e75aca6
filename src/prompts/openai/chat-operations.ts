import { finishOf } from '../../models/language-model.ts';
import { eventSource } from '../generation/prepare-invocation.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { chatPlaces, readChatCompletion, readChatExtra } from './chat-request.ts';
import { createChunkEncoder, toChatCompletion, type ChatHead } from './chat-representation.ts';
import { servedHeaders, type PrepareCompatible } from '../compatible/compatible-invocations.ts';

/** OpenAI's chat completions. */
export function chatOperations(
  prepare: PrepareCompatible,
  clock: Pick<Clock, 'now'>,
): Pick<OperationHandlers, 'createChatCompletion'> {
  return {
    async createChatCompletion({ body, headers: { 'X-Tags': tags }, context }) {
      const invocation = await prepare(context, {
        operation: 'chat-completion',
        isStreamed: body.stream === true,
        tags: readTags(context.principal.tags, tags, body.metadata),
        target: body,
        generation: readChatCompletion(body),
        extra: readChatExtra(body),
        messagesAt: '#/messages',
        places: chatPlaces(body),
      });
      const head: ChatHead = { id: invocation.id, createdAt: clock.now().getTime() };
      if (body.stream !== true) {
        const { generated } = await finishOf(invocation.answer(context.signal));
        const { provider, model, result } = generated;
        const headers = servedHeaders(invocation, generated);
        return { status: 200, headers, body: toChatCompletion(head, `${provider}/${model}`, result) };
      }
      const includesUsage = body.stream_options?.include_usage === true;
      const source = eventSource(invocation, () => createChunkEncoder(head, { includesUsage }));
      const { first, stream } = await context.streamEvents(source);
      return { status: 200, headers: servedHeaders(invocation, first), stream };
    },
  };
}
