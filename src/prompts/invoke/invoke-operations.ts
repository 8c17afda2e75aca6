import { finishOf } from '../../models/language-model.ts';
import type { components } from '../../../generated/types.ts';
import type { Budgeting } from '../../accounting/budgets/budgets.ts';
import { insufficientScope } from '../../base/errors/insufficient-scope.ts';
import type { OperationHandlers, AuthenticatedPrincipal } from '../../http/operation.ts';
import { answeringIn, type Answering, type PrepareInvocation } from '../generation/prepare-invocation.ts';
import type { Planner, PromptRequest } from '../generation/planner.ts';
import { parseCacheControl } from './cache-control.ts';
import { contentFields, guardedFields, readOverrides } from '../prompt.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import { conversationPlaces, readConversation } from './conversation.ts';
import { atOwnPlaces } from '../generation/own-places.ts';
import { invocationEvents } from './invocation-event-representation.ts';
import { toInvocationResult, toWarnings, written } from '../generation/invocation-result.ts';
import { toRenderedPrompt } from './rendered-prompt.ts';

type InvokeRequest = NonNullable<components['schemas']['InvokeRequest']>;

export interface InvokeOperationsDependencies {
  readonly planner: Pick<Planner, 'fromPrompt' | 'preview'>;
  readonly prepare: PrepareInvocation;
  readonly budgets: Pick<Budgeting, 'assumedOutputTokens'>;
  /** Deadline of all calls to providers, in milliseconds. A request can shorten it, not extend it. */
  readonly timeoutMs: number;
  /** The largest age in seconds of cached answers for invocations without `Cache-Control`; 0 for no cached answers. */
  readonly cacheMaxAge: number;
}

export function invokeOperations({
  planner,
  prepare,
  budgets,
  timeoutMs,
  cacheMaxAge,
}: InvokeOperationsDependencies): Pick<OperationHandlers, 'invokePrompt' | 'renderPrompt'> {
  return {
    async renderPrompt({ path, body, context }) {
      requireScopeOf(body, context.principal);
      const preview = await planner.preview({
        slugOrId: path.slugOrId,
        ...toPromptRequest(body),
        reach: context.principal.reach,
        note: (known) => {
          context.note('prompt' in known ? { prompt: known.prompt, version: known.version } : known);
        },
      });
      const { principal } = context;
      const assumed = budgets.assumedOutputTokens({ principal, promptId: preview.prompt.id });
      return { status: 200, body: await toRenderedPrompt(preview, assumed) };
    },
    async invokePrompt({ path, headers, body, context }) {
      requireScopeOf(body, context.principal);
      const invocation = await prepare(
        context,
        async (note) => {
          try {
            return await planner.fromPrompt({
              slugOrId: path.slugOrId,
              ...toPromptRequest(body),
              reach: context.principal.reach,
              note,
            });
          } catch (error) {
            throw atOwnPlaces(error, conversationPlaces(body?.messages ?? []));
          }
        },
        {
          operation: 'invoke',
          isStreamed: body?.stream === true,
          showsThinking: true,
          tags: readTags(context.principal.tags, headers['X-Tags']),
          timeoutMs: Math.min(headers['X-Timeout-Ms'] ?? timeoutMs, timeoutMs),
          cache: parseCacheControl(headers['Cache-Control'], cacheMaxAge),
        },
      );
      const { prompt } = invocation.plan;
      const versions = {
        'X-Invocation-Id': invocation.id,
        'X-Prompt-Id': prompt.id,
        'X-Served-Version': prompt.version,
        ...(body?.version !== undefined && { 'X-Prompt-Version': body.version }),
      };
      if (body?.stream === true) {
        const began = performance.now();
        const { first, stream } = await context.streamEvents(invocationEvents(invocation));
        const latencyMs = Math.round(performance.now() - began);
        const headers = { ...versions, ...answerHeaders(answeringIn(invocation.plan, first), latencyMs) };
        return { status: 200, headers, stream };
      }
      const { generated } = await finishOf(invocation.answer(context.signal));
      return {
        status: 200,
        headers: { ...versions, ...answerHeaders(generated, generated.latencyMs) },
        body: written({ ...toInvocationResult(generated), ...toWarnings(invocation.plan, generated) }),
      };
    },
  };
}

interface AnswerHeaders {
  readonly 'X-Provider': string;
  readonly 'X-Model': string;
  readonly 'X-Latency-Ms': number;
  readonly 'X-Cached': boolean;
  readonly Age?: number;
}

function answerHeaders({ provider, model, age }: Answering, latencyMs: number): AnswerHeaders {
  return {
    'X-Provider': provider,
    'X-Model': model,
    'X-Latency-Ms': latencyMs,
    'X-Cached': age !== undefined,
    ...(age !== undefined && { Age: age }),
  };
}

/** @throws {ProblemError} insufficient-scope */
function requireScopeOf(body: InvokeRequest | undefined, { scopes }: AuthenticatedPrincipal): void {
  if (body?.draft !== undefined && !scopes.has('prompts:write')) throw insufficientScope('prompts:write');
  if (body === undefined || scopes.has('providers:invoke')) return;
  if (guardedFields.some((member) => body[member] !== undefined)) throw insufficientScope('providers:invoke');
}

function toPromptRequest(body: InvokeRequest = {}): Omit<PromptRequest, 'slugOrId' | 'reach' | 'note'> {
  const { variables, version, label, provider, model, draft, messages, unsupported } = body;
  return {
    variables,
    version,
    label,
    provider,
    model,
    unsupported,
    draft: draft && contentFields.readChange(draft),
    overrides: readOverrides(body),
    messages: messages && (() => readConversation(messages)),
  };
}
