import type { components } from '../../generated/types.ts';
import { toAttempts } from '../generation/attempts.ts';
import type { GeneratedEvent } from '../generation/generator.ts';
import type { EventSource } from '../http/event-streams.ts';
import { serverSentEvent } from '../http/server-sent-events.ts';
import { toInvocationResult } from './invocation-result.ts';

type InvocationEvent = components['schemas']['InvocationEvent'];

/** The stream of an invocation, as the contract has it. @param warnings for its last event */
export function invocationEvents(
  open: (signal: AbortSignal) => AsyncIterable<GeneratedEvent>,
  warnings: Pick<components['schemas']['InvocationResult'], 'warnings'>,
): EventSource<GeneratedEvent> {
  const encode = (event: InvocationEvent): string => serverSentEvent(event, event.type);
  return {
    open,
    isLast: ({ type }) => type === 'finish',
    encoder: () => ({
      encode: (event) => encode(toInvocationEvent(event, warnings)),
      fail: (_problem, details) =>
        encode({
          ...{ type: 'error', problem: details },
          ...(details.usage !== undefined && { usage: details.usage }),
        }),
    }),
    merge(one, next) {
      return one.type === 'text' && next.type === 'text' ? { type: 'text', delta: one.delta + next.delta } : undefined;
    },
  };
}

function toInvocationEvent(
  event: GeneratedEvent,
  warnings: Pick<components['schemas']['InvocationResult'], 'warnings'>,
): InvocationEvent {
  switch (event.type) {
    case 'start': {
      const { type, provider, model, age, attempts } = event;
      return {
        ...{ type, provider, model, cached: age !== undefined },
        ...(age !== undefined && { age }),
        ...(attempts.length > 0 && { attempts: toAttempts(attempts) }),
      };
    }
    case 'text':
      return { type: 'text', delta: event.delta };
    case 'tool-call':
      return { type: 'tool-call', toolCall: { ...event.toolCall } };
    case 'finish': {
      const { text: _text, ...result } = toInvocationResult(event.generated);
      return { type: 'finish', ...result, latencyMs: event.generated.latencyMs, ...warnings };
    }
  }
}
