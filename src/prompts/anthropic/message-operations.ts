import { JsonText } from '../../base/runtime/json-text.ts';
import type { OperationHandlers, RequestContext } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { finishOf } from '../../models/language-model.ts';
import type { ProviderRegistry } from '../../models/provider.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import { eventSource } from '../generation/prepare-invocation.ts';
import { requireReachable } from '../generation/select-targets.ts';
import { countTokens, notCounted } from '../generation/token-count.ts';
import {
  servedHeaders,
  type CompatibleRequest,
  type CompatiblePlans,
  type PrepareCompatible,
} from '../compatible/compatible-invocations.ts';
import {
  createMessageEncoder,
  createOriginalEncoder,
  toMessage,
  type AnthropicMessage,
} from './message-representation.ts';
import {
  readMessage,
  toOriginal,
  unsupportedBy,
  writtenBody,
  type Conversation,
  type OwnHeaders,
} from './message-request.ts';

/** The header in which Anthropic's SDKs look for the id of a request. */
const requestIdHeader = 'request-id';

export interface MessageDependencies {
  readonly prepare: PrepareCompatible;
  readonly plans: CompatiblePlans;
  readonly providers: Pick<ProviderRegistry, 'get'>;
  /** Deadline of a count, in milliseconds. */
  readonly timeoutMs: number;
}

/** Anthropic's Messages API. */
export function messageOperations({
  prepare,
  plans,
  providers,
  timeoutMs,
}: MessageDependencies): Pick<OperationHandlers, 'createMessage' | 'countMessageTokens'> {
  return {
    async countMessageTokens({ body, headers, context }) {
      context.addHeader(requestIdHeader, context.requestId);
      const { principal } = context;
      const target = plans.targetOf(body, principal);
      if ('prompt' in target) throw notCounted(undefined);
      const provider = providers.get(target.model.provider);
      if (provider !== undefined && provider.countTokens === undefined) {
        requireReachable(principal.reach, [{ provider, model: target.model.model, pointer: '#/model' }]);
        throw notCounted(provider.id);
      }
      const plan = await plans.plan(translate(body, headers, context), target, principal, (known) => {
        if ('provider' in known) context.note(known);
      });
      const { requestId, traceparent, tracestate, memory } = context;
      const signal = context.endWithSession();
      const deadline = performance.now() + timeoutMs;
      const call = { principal, requestId, traceparent, tracestate, signal, deadline };
      const tokens = await countTokens(plan, memory, call);
      const named = { 'X-Provider': target.model.provider, 'X-Model': target.model.model };
      return { status: 200, headers: named, body: { input_tokens: tokens } };
    },

    async createMessage({ body, headers, context }) {
      context.addHeader(requestIdHeader, context.requestId);
      const invocation = await prepare(context, {
        operation: 'message',
        isStreamed: body.stream === true,
        showsThinking: true,
        needsArgumentObjects: true,
        tags: readTags(context.principal.tags, headers['X-Tags']),
        target: body,
        ...translate(body, headers, context),
        limitAt: '#/max_tokens',
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
            { ...invocation, answer: (signal) => originalEvents(invocation.answer(signal)) },
            createOriginalEncoder,
          )
        : eventSource(invocation, () => createMessageEncoder(id));
      const { first, stream } = await context.streamEvents(source);
      return { status: 200, headers: servedHeaders(invocation, first), stream };
    },
  };
}

/** What a plan depends on. @throws as {@link readMessage} */
function translate(
  body: Conversation,
  headers: OwnHeaders,
  context: Pick<RequestContext, 'bodyText'>,
): Pick<CompatibleRequest, 'generation' | 'extra' | 'messagesAt' | 'places' | 'original' | 'unsupportedBy'> {
  const written = writtenBody(() => context.bodyText);
  const read = readMessage(body, written);
  return {
    generation: read.generation,
    extra: read.extra,
    messagesAt: '#/messages',
    places: read.places,
    original: { api: 'anthropic-messages', make: () => toOriginal(written(), headers, read) },
    unsupportedBy: (provider, isOriginal) => unsupportedBy(read, provider, isOriginal),
  };
}

/** The events as the provider sent them, without the pieces of the answer that are read from them. */
async function* originalEvents(events: AsyncIterable<GeneratedEvent>): AsyncGenerator<GeneratedEvent, void, void> {
  for await (const event of events) if (['start', 'original', 'finish'].includes(event.type)) yield event;
}
