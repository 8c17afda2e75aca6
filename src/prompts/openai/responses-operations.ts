import { finishOf } from '../../models/language-model.ts';
import { answeringIn, eventSource, type Answering } from '../generation/prepare-invocation.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { servedHeaders, type PrepareCompatible } from '../compatible/compatible-invocations.ts';
import { createResponseEncoder } from './response-event-representation.ts';
import { endOf, itemsOf, toResponse, type ResponseHead } from './response-resource.ts';
import { readExtra } from './requested-generation.ts';
import { readResponseCreate, responsePlaces } from './responses-request.ts';

/** OpenAI's Responses API. */
export function responsesOperations(
  prepare: PrepareCompatible,
  clock: Pick<Clock, 'now'>,
): Pick<OperationHandlers, 'createResponse'> {
  return {
    async createResponse({ body, headers: { 'X-Tags': tags }, context }) {
      const invocation = await prepare(context, {
        operation: 'response',
        isStreamed: body.stream === true,
        tags: readTags(context.principal.tags, tags, body.metadata),
        target: body,
        generation: readResponseCreate(body),
        extra: readExtra(body),
        messagesAt: '#/input',
        places: responsePlaces(body),
      });
      const { plan } = invocation;
      const createdAt = clock.now();
      const headOf = (answering?: Answering): ResponseHead => {
        const { provider, model } = answeringIn(plan, answering);
        const target = plan.targets.find((one) => one.provider.id === provider && one.request.model === model);
        if (target === undefined) throw new Error('No target of the plan answers.');
        return {
          id: invocation.id,
          createdAt,
          model: `${provider}/${model}`,
          request: target.request,
          prompt: plan.prompt,
          instructions: body.instructions ?? null,
          metadata: body.metadata ?? {},
        };
      };
      if (body.stream === true) {
        let end: Date | undefined;
        // One time for the answer and for what is kept of it for an Idempotency-Key.
        const now = (): Date => (end ??= clock.now());
        const source = eventSource(invocation, () => createResponseEncoder({ headOf, now }));
        const { first, stream } = await context.streamEvents(source);
        return { status: 200, headers: servedHeaders(invocation, first), stream };
      }
      const { generated } = await finishOf(invocation.answer(context.signal));
      const head = headOf(generated);
      const end = endOf(generated.result, itemsOf(head, generated.result), clock.now());
      return { status: 200, headers: servedHeaders(invocation, generated), body: toResponse(head, end) };
    },
  };
}
