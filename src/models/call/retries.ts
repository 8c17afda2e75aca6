import { setTimeout as sleep } from 'node:timers/promises';
import type { FairQueue } from '../../base/limits/fair-queue.ts';
import { isRefusal } from '../../base/errors/refusal.ts';
import type { Random } from '../../base/runtime/random.ts';
import type {
  AttemptEnd,
  CallOptions,
  GenerateRequest,
  GenerateResult,
  TokenCeiling,
  Usage,
} from '../language-model.ts';
import type { CallSpan, TraceContext, TracedCall } from './call-span.ts';
import type { CalledProvider } from './classify.ts';
import { timeout, toAttempt, toProblem, unfitAnswer, type Failure } from './failures.ts';
import { isPlausible, type Plausible } from './usage.ts';

/** A failed attempt that is followed by another. */
export interface RetryNotice {
  readonly request_id: string | undefined;
  readonly invocation_id: string | undefined;
  readonly provider: string;
  readonly model: string;
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly problem: Failure['type'];
  readonly status: number | undefined;
  readonly provider_code: string | undefined;
  readonly provider_message: string | undefined;
  /** The pause before the next attempt, in milliseconds. */
  readonly delay: number;
}

/** Numbers of tokens that a provider gave, and that are not plausible. */
export interface ImplausibleUsage {
  readonly request_id: string | undefined;
  readonly invocation_id: string | undefined;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** The most that the request allows. */
  readonly ceiling: TokenCeiling;
}

export interface AttemptDependencies {
  /** At least 0, below 1. */
  readonly random: Random;
  readonly onRetry?: (notice: RetryNotice) => void;
  /** Called once for each call to a provider, when it has ended: `ok`, `canceled`, or the type of the problem. */
  readonly onAttempt?: (provider: string, outcome: string) => void;
  /** Called once for each call to a provider whose numbers of tokens are not plausible. They count as if it had given none. */
  readonly onImplausible?: (said: ImplausibleUsage) => void;
  /** Begins the span of a call; undefined if no spans are reported. */
  readonly beginCall?: (call: Omit<TracedCall, 'isListed' | 'address'>) => CallSpan;
}

export type AttemptResult<Result> = { readonly result: Result } | { readonly failure: Failure };

/** An attempt that has its place in the queue, and is written down. */
export interface Turn {
  /** Aborted at the deadline, and when that of the call is. */
  readonly signal: AbortSignal;
  /** Gives back the place. */
  leave(): void;
  /** The trace context to send, as header fields. */
  readonly traceFields: Record<string, string> | undefined;
  /** Reports usage that is not plausible. */
  readonly plausible: Plausible;
  /** Whether the answer can be used. @param until ends the check; the signal of the call if left out */
  check(result: GenerateResult, until?: AbortSignal): Promise<AttemptResult<GenerateResult>>;
  /** Call it once, when the attempt has ended. */
  end(end: AttemptEnd): void;
}

/** How an attempt ended that failed. @param signal of the attempt */
export function failedEnd(failure: Failure, signal: AbortSignal): AttemptEnd {
  const { type, detail, status, code, message, usage, mayBeBilled, refused } = failure;
  const isLate = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  const isCanceled = signal.aborted && !isLate;
  const end = { code, usage, refused, isUnbilled: !isCanceled && !mayBeBilled };
  return isCanceled ? { ...end, outcome: 'canceled' } : { ...end, outcome: type, detail, status, message };
}

/** Checks a whole answer as its caller says. @param until ends the check */
export async function checkAnswer(
  { check, signal }: Pick<CallOptions, 'check' | 'signal'>,
  result: GenerateResult,
  until = signal,
): Promise<AttemptResult<GenerateResult>> {
  const checked = (await check?.(result, until)) ?? { result };
  return 'mistake' in checked ? { failure: unfitAnswer(checked.mistake, result) } : checked;
}

/** Attempts of one call, including the first, unless the caller allows fewer. */
const mostAttempts = 3;

/** The pause before the first retry, in milliseconds; it is twice as long before the second. */
const firstBackoff = 250;

/** The longest delay of a timer, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/**
 * Calls a provider until it succeeds.
 *
 * Repeats a call at most twice: after rate limits, overload and connections that could not be opened. What may have
 * been billed (server errors, broken connections, incomplete and invalid answers) is repeated `call.retries` times. The
 * pause between attempts is what `Retry-After` asks for, else 250 and 500 ms, shortened by a random part of up to a
 * half. If a pause would reach the deadline, the call fails at once. The first attempt over a kept connection that its
 * server had closed is repeated without a pause, whatever `call.retries` says; the provider may have got it, so the next
 * is an attempt of its own. One deadline covers everything: waiting in the queue, attempts and pauses.
 *
 * @param provider its id, and the most tokens that it can charge for a request
 * @param queue Each attempt waits for a place.
 * @param attempt Calls the provider once, leaves the place, and ends its turn; of an attempt that succeeded, perhaps
 *   later.
 * @throws ProblemError `provider-*` (502), also if budgets do not allow another attempt; `budget-exceeded`, `cost-unknown`
 *   (402); `database-unavailable` (503) if an attempt could not be written down.
 * @throws The reason of `call.signal` when that is aborted; the call to the provider is canceled then.
 */
export async function repeat<Result>(
  { id: provider, ceilingOf }: Pick<CalledProvider, 'id' | 'ceilingOf'>,
  request: GenerateRequest,
  call: CallOptions,
  queue: FairQueue,
  { random, onRetry, onAttempt, onImplausible, beginCall }: AttemptDependencies,
  attempt: (turn: Turn) => Promise<AttemptResult<Result>>,
): Promise<Result> {
  const { model } = request;
  const { signal, requestId, maxAttempts = mostAttempts, retries = 0, onFailedAttempt, attemptLog, onEnd } = call;
  const { traceparent, tracestate } = call;
  const place = { key: call.principal.family, background: call.background ?? false };
  let billed = 0;
  let hadStale = false;
  let last: Failure | undefined;
  const ceiling = await ceilingOf(request);
  signal.throwIfAborted();

  // One controller for the caller's signal and the deadline costs less than AbortSignal.any with AbortSignal.timeout.
  const ending = new AbortController();
  const cancel = (): void => {
    ending.abort(signal.reason);
  };
  signal.addEventListener('abort', cancel, { once: true });
  const expire = (): void => {
    const left = call.deadline - performance.now();
    if (left > 0) timer = setTimeout(expire, Math.min(left, longestTimer));
    else ending.abort(new DOMException('The deadline passed.', 'TimeoutError'));
  };
  let timer = setTimeout(expire, Math.min(Math.max(call.deadline - performance.now(), 0), longestTimer));

  /** @returns undefined if the caller left, or the deadline passed, before anything was sent */
  const takeTurn = async (): Promise<Turn | undefined> => {
    const leave = await queue.enter({ ...place, signal: ending.signal }).catch(() => undefined);
    if (leave === undefined) return undefined;
    try {
      const open = await attemptLog?.begin(provider, request, ceiling, ending.signal);
      if (!ending.signal.aborted) {
        const span = beginCall?.({ provider, model, invocationId: attemptLog?.id, traceparent, tracestate });
        let isReported = false;
        return {
          signal: ending.signal,
          leave,
          traceFields: toFields(span?.context ?? { traceparent, tracestate }),
          plausible(usage) {
            if (isPlausible(usage, ceiling)) return usage;
            const said = { request_id: requestId, invocation_id: attemptLog?.id, provider, model, usage, ceiling };
            if (!isReported) onImplausible?.(said);
            isReported = true;
            return undefined;
          },
          check: (result, until) => checkAnswer(call, result, until),
          end(end) {
            onAttempt?.(provider, end.outcome);
            const cost = open?.end(end);
            onEnd?.(end, cost);
            span?.end(end, cost);
          },
        };
      }
      open?.withdraw();
    } catch (error) {
      leave();
      if (last !== undefined && isRefusal(error)) throw toProblem(withoutWait(last), provider, model);
      if (!ending.signal.aborted) throw error;
    }
    leave();
    return undefined;
  };

  try {
    for (let number = 1; ; number += 1) {
      const turn = await takeTurn();
      const outcome = turn === undefined ? { failure: timeout('turn') } : await attempt(turn);
      if ('result' in outcome) return outcome.result;

      signal.throwIfAborted();
      const { failure } = outcome;
      last = failure;
      const { type: problem, status, message, code, mayBeBilled } = failure;
      onFailedAttempt?.(toAttempt(failure, provider, model));
      const isAtOnce = failure.isStale === true && !hadStale;
      if (isAtOnce) hadStale = true;
      else if (mayBeBilled) billed += 1;

      if (!failure.retryable || billed > retries) throw toProblem(withoutWait(failure), provider, model);
      // What was repeated in vain does not get better by one more pause of this length.
      if (number >= maxAttempts) throw toProblem(number > 1 ? withoutWait(failure) : failure, provider, model);
      const delay = isAtOnce ? 0 : pause(failure, number, random);
      if (performance.now() + delay >= call.deadline) throw toProblem(failure, provider, model);
      onRetry?.({
        request_id: requestId,
        invocation_id: attemptLog?.id,
        provider,
        model,
        attempt: number,
        problem,
        status,
        provider_code: code,
        provider_message: message,
        delay,
      });
      await sleep(delay, undefined, { signal: ending.signal }).catch(() => {
        signal.throwIfAborted();
        throw toProblem(failure, provider, model);
      });
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

/** A `tracestate` without a `traceparent` means nothing. */
function toFields({ traceparent, tracestate }: TraceContext): Turn['traceFields'] {
  return traceparent === undefined ? undefined : { traceparent, ...(tracestate !== undefined && { tracestate }) };
}

function withoutWait(failure: Failure): Failure {
  return { ...failure, retryAfter: undefined };
}

/** How long to wait before the next attempt, in milliseconds. */
function pause(failure: Failure, attempt: number, random: Random): number {
  const backoff = firstBackoff * 2 ** (attempt - 1) * (1 - random.fraction() / 2);
  return Math.max(backoff, failure.retryAfter ?? 0);
}
