import { Alert, Button, Group, List, Progress, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAlertTriangle, IconArrowLeft, IconRepeat, IconTag } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useEffect, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { useScope, useSeesCases } from '../../../app/session-context.ts';
import { AskButton } from '../../../shared/ask-button.tsx';
import { FactTable } from '../../../shared/fact-table.tsx';
import { JsonView } from '../../../shared/json-view.tsx';
import { LinkButton, TextLink } from '../../../shared/links.tsx';
import { knownProblem, ProblemAlert } from '../../../shared/problem-alert.tsx';
import { Section } from '../../../shared/section.tsx';
import { Time } from '../../../shared/time.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { problemName } from '../../invocations/queries.ts';
import { SetLabelDialog } from '../labels/set-label-dialog.tsx';
import { useLabels } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { EvaluationStatus } from './evaluation-status.tsx';
import { IntervalChart } from './interval-chart.tsx';
import { Judges } from './judges.tsx';
import { evaluationKeys, isActive, useEvaluation, type Evaluation } from './queries.ts';
import { Refusal } from './refusal.tsx';
import { ResultList } from './result-list.tsx';
import { verdictSentences } from './verdict-text.ts';

const route = getRouteApi('/prompts/$promptId/evaluations/$evaluationId');

/** One evaluation: how far it is, then its verdict and the cases. */
export function EvaluationScreen(): ReactNode {
  const { promptId, evaluationId } = route.useParams();
  const { form: texts } = useOwnTexts(evaluations);
  const queryClient = useQueryClient();
  const { data, error, refetch } = useEvaluation(evaluationId);
  const hasEnded = data !== undefined && !isActive(data);

  // The list shows it as it was when it began.
  useEffect(() => {
    if (hasEnded) void queryClient.invalidateQueries({ queryKey: evaluationKeys.list(promptId) });
  }, [hasEnded, queryClient, promptId]);

  return (
    <Stack gap="lg">
      <Group>
        <LinkButton
          to="/prompts/$promptId/evaluations"
          params={{ promptId }}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconArrowLeft size={14} />}
        >
          {texts.back}
        </LinkButton>
      </Group>
      {error !== null && <ProblemAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined ? error === null && <Skeleton h={240} /> : <LoadedEvaluation evaluation={data} />}
    </Stack>
  );
}

function LoadedEvaluation({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const { status } = evaluation;
  const hasResults = status === 'ended' || (status === 'canceled' && evaluation.cases_done > 0);
  return (
    <>
      <Heading evaluation={evaluation} />
      {isActive(evaluation) && <Running evaluation={evaluation} />}
      {status === 'canceled' && <Canceled evaluation={evaluation} />}
      {evaluation.refusal !== undefined && <Refusal refusal={evaluation.refusal} />}
      <Problems evaluation={evaluation} />
      <SimpleGrid cols={{ base: 1, lg: evaluation.verdict === undefined ? 1 : 2 }} style={{ alignItems: 'start' }}>
        <Stack>
          <Verdict evaluation={evaluation} />
          <Judges evaluation={evaluation} />
        </Stack>
        <Facts evaluation={evaluation} />
      </SimpleGrid>
      {hasResults && <ResultList evaluation={evaluation} />}
    </>
  );
}

function Heading({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const { page: texts } = useOwnTexts(evaluations);
  const { labels: labelTexts } = useTexts();
  const { stored } = useWorkspace();
  const { id: promptId, version: newest } = stored.data;
  const canStart = useScope('prompts:invoke');
  const canRelease = useScope('prompts:release');
  const { data: labels = [] } = useLabels(promptId);
  const [isSetting, setting] = useDisclosure(false);
  const { version } = evaluation.candidate;
  return (
    <Group gap="sm">
      <EvaluationStatus evaluation={evaluation} />
      <Text size="sm" c="dimmed">
        <Time value={evaluation.created_at} />
      </Text>
      <Group gap="xs" ms="auto">
        {evaluation.verdict !== undefined && canRelease && (
          <Button variant="default" size="xs" leftSection={<IconTag size={14} />} onClick={setting.open}>
            {labelTexts.setOn(version)}
          </Button>
        )}
        {canStart && isActive(evaluation) && <Cancel evaluation={evaluation} />}
        {canStart && !isActive(evaluation) && (
          <LinkButton
            to="/prompts/$promptId/evaluations/new"
            params={{ promptId }}
            search={{ from: evaluation.id }}
            variant="default"
            size="xs"
            leftSection={<IconRepeat size={14} />}
          >
            {texts.again}
          </LinkButton>
        )}
      </Group>
      <SetLabelDialog
        promptId={promptId}
        newest={newest}
        labels={labels}
        target={{ version }}
        isOpen={isSetting}
        onClose={setting.close}
      />
    </Group>
  );
}

function Cancel({ evaluation: { id } }: { evaluation: Evaluation }): ReactNode {
  const { page: texts } = useOwnTexts(evaluations);
  const queryClient = useQueryClient();
  return (
    <AskButton
      action={texts.cancel}
      size="xs"
      title={texts.cancelTitle}
      text={texts.cancelText}
      confirm={texts.cancel}
      isDangerous
      send={() => gateway.evaluations.cancel(id)}
      onDone={(after) => {
        queryClient.setQueryData(evaluationKeys.evaluation(id), after);
        return after.status === 'canceled' ? texts.cancelDone : undefined;
      }}
    />
  );
}

/** How far it is. How the cases went is not known yet, on purpose. */
function Running({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const { page: texts } = useOwnTexts(evaluations);
  const format = useFormat();
  const { status, cases_done: done, dataset } = evaluation;
  const text =
    status === 'running'
      ? texts.running(format.number(done), format.number(dataset.cases))
      : status === 'queued'
        ? texts.queued
        : texts.planning;
  return (
    <Section title={texts.progress}>
      <Text role="status">{text}</Text>
      <Progress value={(100 * done) / Math.max(1, dataset.cases)} aria-label={texts.progress} />
      <Text size="sm" c="dimmed">
        {texts.blind}
      </Text>
    </Section>
  );
}

function Canceled({
  evaluation: { canceled_reason: why = '', refused_by: budget },
}: {
  evaluation: Evaluation;
}): ReactNode {
  const { page: texts } = useOwnTexts(evaluations);
  return (
    <Alert color="gray" icon={<IconAlertTriangle />}>
      {texts.canceledReason[why] ?? texts.canceled}{' '}
      {budget !== undefined && (
        <TextLink to="/costs/budgets/$name" params={{ name: budget }} underline="always" size="sm">
          {texts.budget(budget)}
        </TextLink>
      )}
    </Alert>
  );
}

function Problems({ evaluation: { problems } }: { evaluation: Evaluation }): ReactNode {
  const { page: texts } = useOwnTexts(evaluations);
  const { shared } = useTexts();
  if (problems === undefined) return null;
  return (
    <Alert color="yellow" title={texts.problems} icon={<IconAlertTriangle />}>
      <List size="sm">
        {problems.map(({ problem, answers }) => (
          <List.Item key={problem}>
            {texts.problem(knownProblem(problem, shared).title ?? problemName(problem), answers)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Verdict({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const { verdict: texts } = useOwnTexts(evaluations);
  const format = useFormat();
  if (evaluation.verdict === undefined) return null;
  const [first, ...others] = verdictSentences(evaluation, evaluation.verdict, texts, format);
  return (
    <Section title={texts.title}>
      <Text fw={500}>{first}</Text>
      <IntervalChart evaluation={evaluation} />
      {others.map((sentence) => (
        <Text key={sentence} size="sm">
          {sentence}
        </Text>
      ))}
    </Section>
  );
}

function Facts({ evaluation }: { evaluation: Evaluation }): ReactNode {
  const texts = useOwnTexts(evaluations);
  const { page } = texts;
  const format = useFormat();
  const canReadDatasets = useSeesCases();
  const canReadLog = useScope('invocations:read');
  const { candidate, baseline, dataset, rule, checks = [], calls, ceiling, cost, finished_at } = evaluation;
  const spent = format.cost(cost) ?? page.unknownCost;
  const most = ceiling === undefined ? undefined : format.cost(ceiling);
  return (
    <Section title={page.facts}>
      <FactTable
        facts={[
          { label: texts.columns.candidate, value: <SideFact side={candidate} /> },
          baseline !== undefined && { label: texts.columns.baseline, value: <SideFact side={baseline} /> },
          {
            label: page.rule,
            value:
              rule.not_worse_by !== undefined
                ? page.rules.not_worse_by(format.number(rule.not_worse_by * 100))
                : rule.min_pass_rate !== undefined
                  ? page.rules.min_pass_rate(format.percent(rule.min_pass_rate))
                  : page.rules.all_pass,
          },
          {
            label: texts.columns.dataset,
            value: canReadDatasets ? (
              <TextLink
                to="/datasets/$name"
                params={{ name: dataset.name }}
                search={{ version: String(dataset.version) }}
                size="sm"
              >
                {dataset.name} {texts.version(dataset.version)}
              </TextLink>
            ) : (
              `${dataset.name} ${texts.version(dataset.version)}`
            ),
          },
          { label: page.cases, value: format.number(dataset.cases) },
          calls !== undefined && { label: page.calls, value: format.number(calls) },
          {
            label: page.cost,
            value: most === undefined ? spent : page.costOf(spent, most),
          },
          canReadLog && {
            label: page.invocations,
            value: (
              <TextLink to="/invocations" search={{ evaluation_id: evaluation.id }} size="sm">
                {page.allInvocations}
              </TextLink>
            ),
          },
          { label: page.author, value: evaluation.author.name },
          finished_at !== undefined && { label: page.finished, value: <Time value={finished_at} /> },
        ]}
      />
      {checks.length > 0 && (
        <>
          <Text size="sm" c="dimmed">
            {page.checks}
          </Text>
          <JsonView value={checks} label={page.checks} />
        </>
      )}
    </Section>
  );
}

function SideFact({ side }: { side: Schemas['EvaluatedSide'] }): ReactNode {
  const texts = useOwnTexts(evaluations);
  const { version, label, provider, model, overrides } = side;
  return (
    <>
      {[texts.version(version), label, [provider, model].filter((part) => part !== undefined).join(' / ')]
        .filter((part) => part !== undefined && part !== '')
        .join(' · ')}
      {overrides !== undefined && <JsonView value={overrides} label={texts.page.overrides} />}
    </>
  );
}
