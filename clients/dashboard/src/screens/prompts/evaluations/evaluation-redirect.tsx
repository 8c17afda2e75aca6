import { Skeleton } from '@mantine/core';
import { getRouteApi, Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../../../shared/page.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { useEvaluation } from './queries.ts';

const route = getRouteApi('/evaluations/$evaluationId');

/** Leads to an evaluation where its prompt is not known: from the audit log, or from a record. */
export function EvaluationRedirect(): ReactNode {
  const texts = useOwnTexts(evaluations);
  const { evaluationId } = route.useParams();
  const { data, error, refetch } = useEvaluation(evaluationId);
  if (data !== undefined) {
    const params = { promptId: data.prompt_id, evaluationId };
    return <Navigate to="/prompts/$promptId/evaluations/$evaluationId" params={params} replace />;
  }
  return (
    <Page title={texts.page.facts}>
      {error === null ? <Skeleton h={240} /> : <ProblemAlert error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}
