import type { GeneratedEvent } from '../generation/generator.ts';
import type { Plan, Target } from '../generation/plan.ts';
import { joinTexts } from '../generation/invocations.ts';
import type { OperationHandlers } from '../http/operation.ts';
import type { Clock } from '../runtime/clock.ts';
import type { PrepareCompatibleRun } from './compatible-invocations.ts';
import { createResponseEncoder } from './response-event-representation.ts';
import { endOf, itemsOf, toResponse, type ResponseHead } from './response-resource.ts';
import { readResponseCreate, responsePlaces } from './responses-request.ts';
import { servedHeaders, type Answering } from './served-headers.ts';

export interface ResponsesOperationsDependencies {
  readonly prepareRun: PrepareCompatibleRun;
  readonly clock: Pick<Clock, 'now'>;
}

/** OpenAI's Responses API. */
export function responsesOperations({
  prepareRun,
  clock,
}: ResponsesOperationsDependencies): Pick<OperationHandlers, 'createResponse'> {
  return {
    async createResponse({ body, context }) {
      const { plan, generate, stream } = await prepareRun({
        target: body,
        generation: readResponseCreate(body),
        messagesAt: '#/input',
        places: responsePlaces(body),
        scopes: context.principal.scopes,
        keyId: context.principal.keyId,
        requestId: context.requestId,
        memory: context.memory,
        traceparent: context.traceparent,
        note: (known) => {
          context.note(known);
        },
      });
      const createdAt = clock.now();
      const headOf = (answering?: Answering): ResponseHead => {
        const { provider, request } = targetOf(plan, answering);
        return {
          id: context.resourceId,
          createdAt,
          model: `${provider.id}/${request.model}`,
          request,
          prompt: plan.prompt,
          instructions: body.instructions ?? null,
          metadata: body.metadata ?? {},
        };
      };
      if (body.stream === true) {
        const { first, stream: answer } = await context.streamEvents<GeneratedEvent>({
          open: stream,
          isLast: ({ type }) => type === 'finish',
          encoder: () => createResponseEncoder({ headOf, now: clock.now }),
          merge: joinTexts,
        });
        return { status: 200, headers: servedHeaders(plan, first), stream: answer };
      }
      const generated = await generate(context.signal);
      const head = headOf(generated);
      const end = endOf(generated.result, itemsOf(head, generated.result), clock.now());
      return { status: 200, headers: servedHeaders(plan, generated), body: toResponse(head, end) };
    },
  };
}

/** The target that answers; before that is known, the first. */
function targetOf({ targets }: Plan, answering: Answering | undefined): Target {
  const target = targets.find(
    ({ provider, request }) => provider.id === answering?.provider && request.model === answering.model,
  );
  const found = target ?? targets[0];
  if (found === undefined) throw new Error('A plan has no target.');
  return found;
}
