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
  const createEncoder = (): EventEncoder<GeneratedEvent> => {
    const calls = new CallFlattener();
    return {
      // The end of the answer has the whole refusal.
      encode: (event) =>
        event.type === 'original' || event.type === 'refusal' ? '' : encode(toInvocationEvent(event, id, plan, calls)),
      fail: (_problem, details) =>
        encode({ type: 'error', problem: details, ...(details.usage !== undefined && { usage: details.usage }) }),
    };
  };
  return eventSource(invocation, createEncoder);
}

function toInvocationEvent(
  event: Exclude<GeneratedEvent, { readonly type: 'original' | 'refusal' }>,
  id: string,
  plan: PromptPlan,
  calls: CallFlattener,
): InvocationEvent {
  switch (event.type) {
    case 'start': {
      const { type, provider, model, age, attempts } = event;
      return {
        type,
        invocation_id: id,
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
      calls.take(event);
      return { type: 'thinking', delta: event.delta };
    case 'thinking-end': {
      calls.take(event);
      const { provider_metadata } = event;
      return { type: 'thinking-end', ...(provider_metadata !== undefined && { provider_metadata }) };
    }
    case 'tool-call':
      return { type: 'tool-call', tool_call: calls.flatten(event) };
    case 'finish': {
      const { generated } = event;
      const { text: _text, content: _content, ...result } = toInvocationResult(generated);
      return { type: 'finish', ...result, latency_ms: generated.latencyMs, ...toWarnings(plan, generated) };
    }
  }
}
