import { useMutation } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { gateway } from '../../../app/gateway.ts';

/** What an invocation of the playground sends. */
export interface InvocationRequest {
  readonly body: Schemas['InvokeRequest'];
  /** `Cache-Control` of the request. */
  readonly cacheControl: string | undefined;
}

/** What came of an invocation of the playground. */
export interface Invocation {
  readonly id: number;
  readonly startedAt: number;
  /** Milliseconds until the answer, as the page measured them. */
  readonly elapsed: number;
  readonly request: InvocationRequest;
  readonly outcome:
    | { readonly kind: 'answered'; readonly result: Schemas['InvocationResult']; readonly facts: AnswerFacts }
    | { readonly kind: 'failed'; readonly error: unknown }
    | { readonly kind: 'canceled' };
}

/** What the headers of an answer say. */
export interface AnswerFacts {
  readonly provider: string;
  readonly model: string;
  readonly servedVersion: string;
  readonly latencyMs: number;
  readonly isCached: boolean;
  /** Seconds. */
  readonly age: number | undefined;
  readonly requestId: string | undefined;
}

/** The invocations of this tab of the browser. */
export interface Invocations {
  /** The newest first. */
  readonly past: readonly Invocation[];
  /** When the one that is running began. */
  readonly runningSince: number | undefined;
  readonly run: (request: InvocationRequest) => void;
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
  const [runningSince, setRunningSince] = useState<number>();
  const controller = useRef<AbortController>(undefined);

  const { mutate } = useMutation({
    mutationFn: async ({
      request: { body, cacheControl },
      signal,
    }: {
      request: InvocationRequest;
      signal: AbortSignal;
    }) => {
      const call = gateway.prompts.invoke(promptId, body, {
        signal,
        idempotencyKey: null,
        maxRetries: 0,
        timeout: patience,
        totalTimeout: patience,
        headers: { ...(cacheControl !== undefined && { 'Cache-Control': cacheControl }) },
      });
      const { data, response, requestId } = await call.withResponse();
      return { kind: 'answered', result: data, facts: factsOf(response.headers, requestId) } as const;
    },
  });

  const run = useCallback(
    (request: InvocationRequest) => {
      const aborting = new AbortController();
      controller.current = aborting;
      const startedAt = Date.now();
      const started = performance.now();
      const end = (outcome: Invocation['outcome']): void => {
        if (controller.current !== aborting) return;
        const elapsed = performance.now() - started;
        setRunningSince(undefined);
        setPast((known) =>
          [{ id: (known[0]?.id ?? 0) + 1, startedAt, elapsed, request, outcome }, ...known].slice(0, kept),
        );
      };
      setRunningSince(startedAt);
      mutate(
        { request, signal: aborting.signal },
        {
          onSuccess: end,
          onError: (error) => {
            end(aborting.signal.aborted ? { kind: 'canceled' } : { kind: 'failed', error });
          },
        },
      );
    },
    [mutate],
  );
  const cancel = useCallback(() => {
    controller.current?.abort();
  }, []);
  useEffect(() => cancel, [cancel]);

  return { past, runningSince, run, cancel };
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
  };
}
