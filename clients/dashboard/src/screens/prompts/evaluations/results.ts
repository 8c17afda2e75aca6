import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../../app/gateway.ts';
import { readLines } from '../../../shared/json-lines.ts';
import { evaluationKeys, type Evaluation } from './queries.ts';

/** The outcomes by which results can be chosen. */
export const outcomes = ['regressed', 'improved', 'same', 'failed', 'passed', 'error'] as const;
export type Outcome = (typeof outcomes)[number];

/** What came of a case, as the contract describes a line of the results. */
export interface CaseResult {
  readonly case: string;
  readonly group?: string;
  readonly outcome: string;
  /** Absent if the content of the case was erased. */
  readonly candidate?: SideResult;
  readonly baseline?: SideResult;
}

/** What came of a case on one side. */
export interface SideResult {
  /** Absent if no answer was to be had. */
  readonly passed?: boolean;
  readonly provider?: string;
  readonly model?: string;
  readonly latency_ms?: number;
  readonly cost?: Schemas['Cost'] | null;
  readonly invocation_id?: string;
  readonly answer?: Schemas['InvocationResult'];
  readonly checks?: readonly CheckResult[];
  /** Why the answer could not be used. */
  readonly failure?: string;
  readonly error?: { readonly type?: string; readonly title?: string; readonly detail?: string };
}

export interface CheckResult {
  readonly type: string;
  readonly pass: boolean;
  readonly score?: number;
  readonly reason?: string;
}

/** The first results, and whether there are more. */
export interface FirstResults {
  readonly results: readonly CaseResult[];
  readonly hasMore: boolean;
}

/**
 * The first results with an outcome, or the first of all. The rest is not read: the results of an evaluation can have
 * more than fits into the memory of a page.
 */
export function useResults(id: string, outcome: Outcome | undefined, count: number): UseQueryResult<FirstResults> {
  return useQuery({
    queryKey: evaluationKeys.results(id, outcome, count),
    queryFn: async ({ signal }): Promise<FirstResults> => {
      const query = outcome === undefined ? {} : { outcome };
      const { data, response } = await gateway.raw.GET('/api/v1/evaluations/{id}/results', {
        params: { path: { id }, query },
        parseAs: 'stream',
        signal,
      });
      // The method throws what the page can show.
      if (!response.ok || data === undefined || data === null) throw await failureOf(id, query, signal);
      const results: CaseResult[] = [];
      let hasMore = false;
      await readLines<CaseResult>(data, (result) => {
        hasMore = results.length === count;
        if (!hasMore) results.push(result);
        return !hasMore;
      });
      return { results, hasMore };
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 60_000,
    structuralSharing: false,
  });
}

async function failureOf(id: string, query: { outcome?: Outcome }, signal: AbortSignal): Promise<unknown> {
  try {
    await gateway.evaluations.exportResults(id, query, { signal });
  } catch (error) {
    return error;
  }
  return new Error('The service answered the second time. Try again.');
}

/** A case of the evaluation's data set; `null` if the data set was deleted in the meantime. */
export function useCase(
  { id, dataset: { name, version }, created_at }: Evaluation,
  caseId: string,
  isAsked: boolean,
): UseQueryResult<Schemas['DatasetCase'] | null> {
  return useQuery({
    queryKey: evaluationKeys.case(id, caseId),
    queryFn: async ({ signal }) => {
      const present = await gateway.datasets.get(name, { signal });
      // One with the same name, which was created later, has other cases.
      if (present.created_at > created_at) return null;
      const { data, response } = await gateway.raw.GET('/api/v1/datasets/{name}/versions/{version}/export', {
        params: { path: { name, version } },
        parseAs: 'stream',
        signal,
      });
      if (!response.ok || data === undefined || data === null) return null;
      let found: Schemas['DatasetCase'] | null = null;
      await readLines<Schemas['DatasetCase']>(data, (one) => {
        if (one.id === caseId) found = one;
        return found === null;
      });
      return found as Schemas['DatasetCase'] | null;
    },
    enabled: isAsked,
    staleTime: Infinity,
    gcTime: 60_000,
  });
}
