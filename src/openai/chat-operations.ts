import type { GeneratedEvent } from '../generation/generator.ts';
import { joinTexts } from '../generation/invocations.ts';
import type { OperationHandlers } from '../http/operation.ts';
import type { Clock } from '../runtime/clock.ts';
import { chatPlaces, readChatCompletion } from './chat-request.ts';
import { createChunkEncoder, toChatCompletion, type ChatHead } from './chat-representation.ts';
import type { PrepareCompatibleRun } from './compatible-invocations.ts';
import { servedHeaders } from './served-headers.ts';

export interface ChatOperationsDependencies {
  readonly prepareRun: PrepareCompatibleRun;
  readonly clock: Pick<Clock, 'now'>;
}

/** OpenAI's chat completions. */
export function chatOperations({
  prepareRun,
  clock,
}: ChatOperationsDependencies): Pick<OperationHandlers, 'createChatCompletion'> {
  return {
    async createChatCompletion({ body, context }) {
      const run = await prepareRun({
        target: body,
        generation: readChatCompletion(body),
        messagesAt: '#/messages',
        places: chatPlaces,
        scopes: context.principal.scopes,
        keyId: context.principal.keyId,
        requestId: context.requestId,
        memory: context.memory,
        traceparent: context.traceparent,
        note: (known) => {
          context.note(known);
        },
      });
      const head: ChatHead = { id: context.resourceId, createdAt: clock.now().getTime() };
      if (body.stream !== true) {
        const generated = await run.generate(context.signal);
        const { provider, model, result } = generated;
        const headers = servedHeaders(run.plan, generated);
        return { status: 200, headers, body: toChatCompletion(head, `${provider}/${model}`, result) };
      }
      const includesUsage = body.stream_options?.include_usage === true;
      const { first, stream } = await context.streamEvents<GeneratedEvent>({
        open: (signal) => run.stream(signal),
        isLast: ({ type }) => type === 'finish',
        encoder: () => createChunkEncoder(head, { includesUsage }),
        merge: joinTexts,
      });
      return { status: 200, headers: servedHeaders(run.plan, first), stream };
    },
  };
}
