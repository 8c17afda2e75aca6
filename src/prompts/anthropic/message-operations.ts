import { JsonText } from '../../base/runtime/json-text.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { finishOf, type OriginalRequest } from '../../models/language-model.ts';
import type { ProviderRegistry } from '../../models/provider.ts';
import { withinReach } from '../../models/within-reach.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import { eventSource } from '../generation/prepare-invocation.ts';
import { requireReachable } from '../generation/select-targets.ts';
import { countTokens, notCounted } from '../generation/token-count.ts';
import {
  servedHeaders,
  type CompatibleRequest,
  type createCompatiblePlans,
  type PrepareCompatible,
} from '../openai/compatible-invocations.ts';
import { readTarget, type TargetMembers } from '../openai/target.ts';
import {
  createMessageEncoder,
  createOriginalEncoder,
  toMessage,
  type AnthropicMessage,
} from './message-representation.ts';
import { foreignIn, readMessage, toOriginal, type ReadMessage } from './message-request.ts';

/** The header in which Anthropic's SDKs look for the id of a request. */
const requestIdHeader = 'request-id';

export interface MessageDependencies {
  readonly prepare: PrepareCompatible;
  readonly plan: ReturnType<typeof createCompatiblePlans>;
  readonly providers: Pick<ProviderRegistry, 'get' | 'list'>;
  /** Deadline of a count, in milliseconds. */
  readonly timeoutMs: number;
}

/** Anthropic's Messages API. */
export function messageOperations({
  prepare,
  plan: planCompatible,
  providers,
  timeoutMs,
}: MessageDependencies): Pick<OperationHandlers, 'createMessage' | 'countMessageTokens'> {
  return {
    async countMessageTokens({ body, headers, context }) {
      context.addHeader(requestIdHeader, context.requestId);
      const { principal } = context;
      const { reach } = principal;
      const target = readTarget(body, principal.scopes, { list: () => withinReach(providers.list(), reach) });
      if ('prompt' in target) throw notCounted(undefined);
      const provider = providers.get(target.model.provider);
      if (provider !== undefined && provider.countTokens === undefined) {
        requireReachable(reach, [{ provider, model: target.model.model, pointer: '#/model' }]);
        throw notCounted(provider.id);
      }
      const read = readMessage(body);
      const plan = await planCompatible(
        planned(read, body, () => toOriginal(context.bodyText, ownHeaders(headers), read)),
        principal,
        (known) => {
          if ('provider' in known) context.note(known);
        },
      );
      const { requestId, traceparent, tracestate } = context;
      const signal = context.endWithSession();
      const deadline = performance.now() + timeoutMs;
      const tokens = await countTokens(plan, { principal, requestId, traceparent, tracestate, signal, deadline });
      const named = { 'X-Provider': target.model.provider, 'X-Model': target.model.model };
      return { status: 200, headers: named, body: { input_tokens: tokens } };
    },

    async createMessage({ body, headers, context }) {
      context.addHeader(requestIdHeader, context.requestId);
      const read = readMessage(body);
      const invocation = await prepare(context, {
        operation: 'message',
        isStreamed: body.stream === true,
        showsThinking: true,
        needsArgumentObjects: true,
        tags: readTags(context.principal.tags, headers['X-Tags']),
        ...planned(read, body, () => toOriginal(context.bodyText, ownHeaders(headers), read)),
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
            { ...invocation, answer: (signal) => asTheyCame(invocation.answer(signal)) },
            createOriginalEncoder,
          )
        : eventSource(invocation, () => createMessageEncoder(id));
      const { first, stream } = await context.streamEvents(source);
      return { status: 200, headers: servedHeaders(invocation, first), stream };
    },
  };
}

/** What a plan depends on. */
function planned(
  read: ReadMessage,
  target: TargetMembers,
  make: () => OriginalRequest,
): Pick<CompatibleRequest, 'target' | 'generation' | 'extra' | 'messagesAt' | 'places' | 'original' | 'foreignIn'> {
  return {
    target,
    generation: read.generation,
    extra: read.extra,
    messagesAt: '#/messages',
    places: read.places,
    original: { api: 'anthropic-messages', make },
    foreignIn: (provider, isOriginal) => foreignIn(read, provider, isOriginal),
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
