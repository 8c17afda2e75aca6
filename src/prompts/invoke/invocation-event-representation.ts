import type { components } from '../../../generated/types.ts';
import { toAttempts } from '../generation/attempts.ts';
import { CallFlattener } from '../generation/flat-calls.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import { eventSource, type Invocation } from '../generation/prepare-invocation.ts';
import type { PromptPlan } from '../generation/planner.ts';
import type { EventEncoder, EventSource } from '../../http/event-streams.ts';
import { serverSentEvent } from '../../http/server-sent-events.ts';
import { toInvocationResult, toWarnings, written } from '../generation/invocation-result.ts';

type InvocationEvent = components['schemas']['InvocationEvent'];

/** The stream of an invocation, as the contract has it. */
export function invocationEvents(invocation: Invocation<PromptPlan>): EventSource<GeneratedEvent> {
  const { id, plan } = invocation;
  const encode = (event: InvocationEvent): string =>
    serverSentEvent(event.type === 'finish' ? written(event) : event, event.type);
  const encoder = (): EventEncoder<GeneratedEvent> => {
    const flattener = new CallFlattener();
    return {
      encode: (event) => {
        const shown = toInvocationEvent(event, id, plan, flattener);
        return shown === undefined ? '' : encode(shown);
      },
      fail: (_problem, details) =>
        encode({ type: 'error', problem: details, ...(details.usage !== undefined && { usage: details.usage }) }),
    };
  };
  return eventSource(invocation, encoder);
}

function toInvocationEvent(
  event: GeneratedEvent,
  invocationId: string,
  plan: PromptPlan,
  flattener: CallFlattener,
): InvocationEvent | undefined {
  switch (event.type) {
    case 'start': {
      const { type, provider, model, age, attempts } = event;
      return {
        type,
        invocationId,
        provider,
        model,
        cached: age !== undefined,
        ...(age !== undefined && { age }),
        ...(attempts.length > 0 && { attempts: toAttempts(attempts) }),
      };
    }
    case 'text':
      return { type: 'text', delta: event.delta };
    case 'thinking':
    case 'thinking-end':
    case 'tool-call': {
      const toolCall = flattener.take(event);
      return toolCall && { type: 'tool-call', toolCall };
    }
    case 'finish': {
      const { generated } = event;
      const { text: _text, ...result } = toInvocationResult(generated);
      return { type: 'finish', ...result, latencyMs: generated.latencyMs, ...toWarnings(plan, generated) };
    }
  }
}
