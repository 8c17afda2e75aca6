import { useMutation } from '@tanstack/react-query';
import { AnswerError, type InvocationStream, type Schemas } from 'prompt-gateway-client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { createLiveAnswer, type AnswerSoFar, type LiveAnswer } from './live-answer.ts';

/** What an invocation of the playground sends. */
export interface InvocationRequest {
  readonly body: Schemas['InvokeRequest'];
  /** `Cache-Control` of the request. */
  readonly cacheControl: string | undefined;
  /** Whether the answer is shown while it is generated. */
  readonly isStreamed: boolean;
}

/** An invocation of the playground. Those that began together have one group. */
interface Begun {
  readonly id: number;
  readonly group: number;
  readonly startedAt: number;
  readonly request: InvocationRequest;
}

/** What came of an invocation of the playground. */
export interface Invocation extends Begun {
  /** Milliseconds until the answer, as the page measured them. */
  readonly elapsed: number;
  readonly outcome:
    | { readonly kind: 'answered'; readonly result: Schemas['InvocationResult']; readonly facts: AnswerFacts }
    | { readonly kind: 'failed'; readonly error: unknown; readonly soFar: AnswerSoFar }
    | { readonly kind: 'canceled'; readonly soFar: AnswerSoFar };
}

/** An invocation whose answer is not complete. */
export interface RunningInvocation extends Begun {
  readonly live: LiveAnswer;
}

/** What an answer says about itself, in its headers or in the events of a stream. */
export interface AnswerFacts {
  readonly provider: string;
  readonly model: string;
  readonly servedVersion: string;
  readonly latencyMs: number;
  readonly isCached: boolean;
  /** Seconds. */
  readonly age: number | undefined;
  readonly requestId: string | undefined;
  readonly invocationId: string | undefined;
}

/** The invocations of this tab of the browser. */
export interface Invocations {
  /** The newest first. */
  readonly past: readonly Invocation[];
  readonly running: readonly RunningInvocation[];
  /** Runs these at once. */
  readonly run: (requests: readonly InvocationRequest[]) => void;
  readonly cancel: () => void;
}

/** The invocations that are kept; answers can be large. */
const kept = 30;
/** Longer than any deadline of the service; who waits can cancel. */
const patience = 610_000;

/**
 * Invokes a prompt. There is no idempotency key, so a canceled call is canceled at the provider, too, and no repetition,
 * so a failure is shown as it came.
 */
export function useInvocations(promptId: string): Invocations {
  const [past, setPast] = useState<readonly Invocation[]>([]);
  const [running, setRunning] = useState<readonly RunningInvocation[]>([]);
  const controller = useRef<AbortController>(undefined);
  const lastId = useRef(0);
  const { mutateAsync } = useMutation({ mutationFn: invoke });

  const run = useCallback(
    (requests: readonly InvocationRequest[]) => {
      const aborting = new AbortController();
      controller.current = aborting;
      const group = lastId.current + 1;
      const begun = requests.map((request): RunningInvocation => ({
        id: ++lastId.current,
        group,
        startedAt: Date.now(),
        request,
        live: createLiveAnswer(),
      }));
      setRunning(begun);
      const started = performance.now();
      for (const { live, ...one } of begun) {
        const end = (outcome: Invocation['outcome']): void => {
          if (controller.current !== aborting) return;
          const elapsed = performance.now() - started;
          setRunning((now) => now.filter(({ id }) => id !== one.id));
          setPast((known) => [{ ...one, elapsed, outcome }, ...known].slice(0, kept));
        };
        mutateAsync({ promptId, request: one.request, live, signal: aborting.signal }).then(
          ({ result, facts }) => {
            end({ kind: 'answered', result, facts });
          },
          (error: unknown) => {
            const soFar = live.get();
            end(aborting.signal.aborted ? { kind: 'canceled', soFar } : { kind: 'failed', error, soFar });
          },
        );
      }
    },
    [promptId, mutateAsync],
  );
  const cancel = useCallback(() => {
    controller.current?.abort();
  }, []);
  useEffect(() => cancel, [cancel]);

  return { past, running, run, cancel };
}

interface Answered {
  readonly result: Schemas['InvocationResult'];
  readonly facts: AnswerFacts;
}

async function invoke({
  promptId,
  request: { body, cacheControl, isStreamed },
  live,
  signal,
}: {
  promptId: string;
  request: InvocationRequest;
  live: LiveAnswer;
  signal: AbortSignal;
}): Promise<Answered> {
  const options = {
    signal,
    maxRetries: 0,
    timeout: patience,
    totalTimeout: patience,
    headers: { ...(cacheControl !== undefined && { 'Cache-Control': cacheControl }) },
  };
  if (isStreamed) return readStream(gateway.prompts.stream(promptId, body, options), live);
  const call = gateway.prompts.invoke(promptId, body, { ...options, idempotencyKey: null });
  const { data, response, requestId } = await call.withResponse();
  return { result: data, facts: factsOf(response.headers, requestId) };
}

async function readStream(stream: InvocationStream, live: LiveAnswer): Promise<Answered> {
  let age: number | undefined;
  for await (const event of stream) {
    if (event.type === 'start') {
      ({ age } = event);
      live.add({ attempts: event.attempts ?? [], invocationId: event.invocation_id });
    }
    if (event.type === 'text') live.add({ text: event.delta });
  }
  const result = await stream.final();
  const { provider, model, version, latencyMs, cached: isCached, requestId } = result;
  const { invocationId } = live.get();
  const facts = { provider, model, servedVersion: String(version), latencyMs, isCached, age, requestId, invocationId };
  return { result, facts };
}

function factsOf(headers: Headers, requestId: string | undefined): AnswerFacts {
  const age = headers.get('age');
  return {
    provider: headers.get('x-provider') ?? '',
    model: headers.get('x-model') ?? '',
    servedVersion: headers.get('x-served-version') ?? '',
    latencyMs: Number(headers.get('x-latency-ms')),
    isCached: headers.get('x-cached') === 'true',
    age: age === null ? undefined : Number(age),
    requestId,
    invocationId: headers.get(idHeader) ?? undefined,
  };
}

const idHeader = 'x-invocation-id';

/** The id of its record, as far as the service said it. */
export function invocationIdOf({ outcome }: Pick<Invocation, 'outcome'>): string | undefined {
  if (outcome.kind === 'answered') return outcome.facts.invocationId;
  const { soFar } = outcome;
  if (outcome.kind === 'canceled' || !(outcome.error instanceof AnswerError)) return soFar.invocationId;
  return soFar.invocationId ?? outcome.error.headers.get(idHeader) ?? undefined;
}
