import { ProblemError } from '../../base/errors/problem-error.ts';
import { readTags } from '../../accounting/invocations/tags.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { finishOf } from '../../models/language-model.ts';
import type { ProviderRegistry } from '../../models/provider.ts';
import { withinReachOfPrompts } from '../../models/within-reach.ts';
import { toInvocationResult } from '../generation/invocation-result.ts';
import type { Planner } from '../generation/planner.ts';
import type { PrepareInvocation } from '../generation/prepare-invocation.ts';

export interface TestProviderDependencies {
  readonly planner: Pick<Planner, 'direct'>;
  readonly providers: Pick<ProviderRegistry, 'list'>;
  readonly prepare: PrepareInvocation;
  /** Deadline of all calls to providers, in milliseconds. */
  readonly timeoutMs: number;
}

/** Enough for models that think first. */
const mostOutputTokens = 256;
const longestMs = 30_000;

export function providerTestOperations({
  planner,
  providers,
  prepare,
  timeoutMs,
}: TestProviderDependencies): Pick<OperationHandlers, 'testProvider'> {
  return {
    async testProvider({ path: { id }, body, context }) {
      const { reach } = context.principal;
      const provider = withinReachOfPrompts(providers.list(), reach).find((known) => known.id === id);
      if (provider === undefined) {
        throw new ProblemError('provider-not-found', { detail: `There is no provider ${JSON.stringify(id)}.` });
      }
      const model = body?.model ?? provider.defaultModel;
      const request = {
        model,
        messages: [{ role: 'user', content: 'Reply with OK.' } as const],
        parameters: { max_output_tokens: mostOutputTokens },
      };
      const { id: invocation_id, answer } = await prepare(
        context,
        (note) => {
          note({ provider: id, model });
          return planner.direct({ provider: id, request, unsupported: 'ignore', reach });
        },
        {
          operation: 'provider-test',
          isStreamed: false,
          tags: readTags(context.principal.tags, undefined),
          timeoutMs: Math.min(longestMs, timeoutMs),
        },
      );
      const { generated } = await finishOf(answer(context.signal));
      const { text, usage, cost } = toInvocationResult(generated);
      return { status: 200, body: { invocation_id, model, text, latency_ms: generated.latencyMs, usage, cost } };
    },
  };
}
