import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { gateway } from '../../../app/gateway.ts';
import { every } from '../../../app/query-client.ts';
import { useList, type ListState } from '../../../shared/use-list.ts';

export type Evaluation = Schemas['Evaluation'];

/** Keys of what these screens read. */
export const evaluationKeys = {
  list: (promptId: string) => ['prompts', 'of', promptId, 'evaluations'] as const,
  evaluation: (id: string) => ['evaluations', id] as const,
  results: (id: string, outcome: string | undefined, count: number) =>
    ['evaluations', id, 'results', outcome, count] as const,
  calibration: (id: string) => ['evaluations', id, 'calibration'] as const,
  answers: (id: string) => ['evaluations', id, 'answers'] as const,
  case: (id: string, caseId: string) => ['evaluations', id, 'case', caseId] as const,
};

/** Whether more comes of an evaluation. */
export function isActive({ status }: Pick<Evaluation, 'status'>): boolean {
  return status === 'planning' || status === 'queued' || status === 'running';
}

/** The evaluations of a prompt, the newest first; read again while the page is visible. */
export function useEvaluations(promptId: string): ListState<Evaluation> {
  return useList({
    queryKey: evaluationKeys.list(promptId),
    load: (position, options) => gateway.evaluations.list(promptId, position, options),
    idOf: ({ id }) => id,
    isLive: true,
    limit: 20,
  });
}

/** The end is shown soon to those who wait for it. */
const whileActive = every(1_000, 10_000);

/** One evaluation, again every second until it has ended. Nothing is read without an id. */
export function useEvaluation(id: string | undefined): UseQueryResult<Evaluation> {
  return useQuery({
    queryKey: evaluationKeys.evaluation(id ?? ''),
    queryFn: ({ signal }) => gateway.evaluations.get(id ?? '', { signal }),
    enabled: id !== undefined,
    refetchInterval: (query) =>
      query.state.data !== undefined && isActive(query.state.data) && whileActive.refetchInterval(query),
  });
}

/** What a gate asks of a judge. The contract has the same numbers. */
export const neededOfJudges = { marks: 50, j: 0.5 };

/** How well the judges of an evaluation agree with people. */
export function useCalibration(id: string, isEnabled = true): UseQueryResult<Schemas['EvaluationCalibration']> {
  return useQuery({
    queryKey: evaluationKeys.calibration(id),
    queryFn: ({ signal }) => gateway.evaluations.getCalibration(id, { signal }),
    enabled: isEnabled,
  });
}
