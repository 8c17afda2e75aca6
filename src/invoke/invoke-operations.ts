import type { components } from '../../generated/types.ts';
import { insufficientScope } from '../errors/insufficient-scope.ts';
import type { OperationHandlers, Principal } from '../http/operation.ts';
import type { Generated } from '../generation/generator.ts';
import type { Overrides } from '../generation/overrides.ts';
import type { Planner, PromptRequest } from '../generation/planner.ts';
import { readConversation } from './conversation.ts';
import { invocationEvents } from './invocation-event-representation.ts';
import { toInvocationResult, toWarnings, written } from './invocation-result.ts';
import type { Invoke } from './invoke.ts';
import { toRenderedPrompt } from './rendered-prompt.ts';

type InvokeRequest = NonNullable<components['schemas']['InvokeRequest']>;

export function invokeOperations(
  invoke: Invoke,
  planner: Pick<Planner, 'preview'>,
): Pick<OperationHandlers, 'invokePrompt' | 'renderPrompt'> {
  return {
    async renderPrompt({ path, body, context }) {
      requireScopeOf(body, context.principal);
      const preview = await planner.preview({
        slugOrId: path.slugOrId,
        ...toPromptRequest(body),
        onPrompt: (found) => {
          context.note(found);
        },
      });
      return { status: 200, body: toRenderedPrompt(preview) };
    },
    async invokePrompt({ path, headers, body, context }) {
      requireScopeOf(body, context.principal);
      const { plan, selected, generate, stream } = await invoke({
        request: { slugOrId: path.slugOrId, ...toPromptRequest(body) },
        keyId: context.principal.keyId,
        requestId: context.requestId,
        memory: context.memory,
        timeoutMs: headers['X-Timeout-Ms'],
        cacheControl: headers['Cache-Control'],
        traceparent: context.traceparent,
        note: (known) => {
          context.note(known);
        },
      });
      const { prompt, unknownVariables } = plan;
      const versions = {
        'X-Prompt-Id': prompt.id,
        'X-Served-Version': prompt.version,
        ...(body?.version !== undefined && { 'X-Prompt-Version': body.version }),
      };
      if (body?.stream === true) {
        const began = performance.now();
        const streamed = await context.streamEvents(invocationEvents(stream, unknownVariables));
        const latencyMs = Math.round(performance.now() - began);
        const answering = streamed.first?.type === 'start' ? streamed.first : { ...selected, age: undefined };
        return {
          status: 200,
          headers: { ...versions, ...answerHeaders(answering, latencyMs) },
          stream: streamed.stream,
        };
      }
      const generated = await generate(context.signal);
      return {
        status: 200,
        headers: { ...versions, ...answerHeaders(generated, generated.latencyMs) },
        body: written({ ...toInvocationResult(generated), ...toWarnings(unknownVariables, generated) }),
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

function answerHeaders(
  { provider, model, age }: Pick<Generated, 'provider' | 'model' | 'age'>,
  latencyMs: number,
): AnswerHeaders {
  return {
    'X-Provider': provider,
    'X-Model': model,
    'X-Latency-Ms': latencyMs,
    'X-Cached': age !== undefined,
    ...(age !== undefined && { Age: age }),
  };
}

/** Members that could reach other tools, options and models than those of the prompt. */
const guarded = ['tools', 'tool_choice', 'provider_options', 'fallbacks'] as const;

/** @throws {ProblemError} insufficient-scope */
function requireScopeOf(body: InvokeRequest | undefined, { scopes }: Principal): void {
  if (body === undefined || scopes.has('providers:invoke')) return;
  if (guarded.some((member) => body[member] !== undefined)) throw insufficientScope('providers:invoke');
}

function toPromptRequest(body: InvokeRequest = {}): Omit<PromptRequest, 'slugOrId'> {
  const { variables, version, label, provider, model, messages, unsupported } = body;
  return {
    variables,
    version,
    label,
    provider,
    model,
    unsupported,
    ...toOverrides(body),
    messages: messages && (() => readConversation(messages)),
  };
}

/** The members have the same values; the generated types do not know that JSON is plain. */
function toOverrides(body: InvokeRequest): Overrides {
  return {
    parameters: body.parameters,
    responseFormat: body.response_format,
    tools: body.tools,
    toolChoice: body.tool_choice,
    providerOptions: body.provider_options,
    fallbacks: body.fallbacks,
    retries: body.retries,
  } as Overrides;
}
