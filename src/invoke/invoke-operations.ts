import type { OperationHandlers } from '../http/operation.ts';
import { toInvocationResult } from './invocation-result.ts';
import type { Invoke } from './invoke.ts';
import { unknownVariableWarnings } from './render-prompt.ts';

export function invokeOperations(invoke: Invoke): Pick<OperationHandlers, 'invokePrompt'> {
  return {
    async invokePrompt({ path, headers, body, context }) {
      const { promptId, version, provider, model, unknownVariables, result, latencyMs, age } = await invoke({
        keyId: context.principal.keyId,
        slugOrId: path.slugOrId,
        version: body?.version,
        label: body?.label,
        variables: body?.variables,
        provider: body?.provider,
        model: body?.model,
        timeoutMs: headers['X-Timeout-Ms'],
        cacheControl: headers['Cache-Control'],
        signal: context.signal,
        traceparent: context.traceparent,
        note: (chosen) => {
          context.note(chosen);
        },
      });
      return {
        status: 200,
        headers: {
          'X-Prompt-Id': promptId,
          'X-Provider': provider,
          'X-Model': model,
          'X-Latency-Ms': latencyMs,
          'X-Cached': age !== undefined,
          'X-Served-Version': version,
          ...(body?.version !== undefined && { 'X-Prompt-Version': body.version }),
          ...(age !== undefined && { Age: age }),
        },
        body: { ...toInvocationResult(result), ...unknownVariableWarnings(unknownVariables) },
      };
    },
  };
}
