import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconArrowLeft, IconRepeat, IconTag } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useEffect, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { JsonView } from '../../../shared/json-view.tsx';
import { LinkButton } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { Time } from '../../../shared/time.tsx';
import { Section } from '../../../shared/section.tsx';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { RunningTime } from '../playground/running-time.tsx';
import { SetLabelDialog } from '../labels/set-label-dialog.tsx';
import { AddToDataset, type PossibleAnswer } from '../../datasets/add-to-dataset.tsx';
import { promptKeys, useLabels, useTestResults, useTestRun } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { RunStatus } from './run-status.tsx';
import { TestCharts } from './test-charts.tsx';
import { nameOf, TestResult } from './test-result.tsx';
import classes from './test-runs.module.css';

const route = getRouteApi('/prompts/$promptId/test-runs/$runId');

/** One test run: how far it is, then its results side by side. */
export function TestRunScreen(): ReactNode {
  const { promptId, runId } = route.useParams();
  const { testRuns: texts } = useTexts().prompts;
  const run = useTestRun(runId);
  const queryClient = useQueryClient();
  const { data } = run;
  const isDone = data?.status === 'done';
  const results = useTestResults(runId, isDone);

  // The list shows the run as it was when it began.
  useEffect(() => {
    if (isDone) void queryClient.invalidateQueries({ queryKey: promptKeys.testRuns(promptId) });
  }, [isDone, queryClient, promptId]);

  const back = (
    <Group>
      <LinkButton
        to="/prompts/$promptId/test-runs"
        params={{ promptId }}
        variant="subtle"
        color="gray"
        size="compact-sm"
        leftSection={<IconArrowLeft size={14} />}
      >
        {texts.back}
      </LinkButton>
    </Group>
  );
  if (data === undefined) {
    return (
      <Stack>
        {back}
        {run.error === null ? (
          <Skeleton h={200} />
        ) : (
          <ProblemAlert
            error={run.error}
            onRetry={() => {
              void run.refetch();
            }}
          />
        )}
      </Stack>
    );
  }
  return (
    <Stack gap="lg">
      {back}
      <RunHeading run={data} />
      {data.status === 'running' ? (
        <RunningTime since={Date.parse(data.created_at)} text={texts.running(data.providers.length)} />
      ) : isDone ? (
        <Results results={results.data} error={results.error} />
      ) : (
        <Text c="dimmed">{data.status === 'failed' ? texts.failedText : texts.interruptedText}</Text>
      )}
    </Stack>
  );
}

function RunHeading({ run }: { run: Schemas['TestRun'] }): ReactNode {
  const { prompts, labels: labelTexts } = useTexts();
  const format = useFormat();
  const { stored, setTestTargets } = useWorkspace();
  const { id, version: newest } = stored.data;
  const canRelease = useScope('prompts:release');
  const { data: labels = [] } = useLabels(id);
  const [isSetting, setting] = useDisclosure(false);
  const navigate = route.useNavigate();
  return (
    <Group gap="sm">
      <RunStatus run={run} />
      <Text size="sm" c="dimmed">
        {prompts.workspace.version(run.prompt_version)} · <Time value={run.created_at} />
        {run.cost !== undefined && ` · ${format.cost(run.cost) ?? prompts.playground.unknownCost}`}
      </Text>
      {canRelease && (
        <Button variant="default" size="xs" ms="auto" leftSection={<IconTag size={14} />} onClick={setting.open}>
          {labelTexts.setOn(run.prompt_version)}
        </Button>
      )}
      <SetLabelDialog
        promptId={id}
        newest={newest}
        labels={labels}
        target={{ version: run.prompt_version }}
        isOpen={isSetting}
        onClose={setting.close}
      />
      <Button
        variant="default"
        size="xs"
        {...(!canRelease && { ms: 'auto' })}
        leftSection={<IconRepeat size={14} />}
        onClick={() => {
          setTestTargets(run.providers.map((target) => ({ ...target, key: crypto.randomUUID() })));
          void navigate({ to: '/prompts/$promptId/test-runs' });
        }}
      >
        {prompts.testRuns.again}
      </Button>
    </Group>
  );
}

/** The answers, by which a case can say what is expected. */
function answersOf({ results }: Schemas['TestRunResults']): PossibleAnswer[] {
  return results.flatMap((one) => {
    if (one.status === 'failed') return [];
    const { text, object } = one.result;
    return [{ name: nameOf(one), expected: (object ?? text) as PossibleAnswer['expected'] }];
  });
}

function Results({ results, error }: { results: Schemas['TestRunResults'] | undefined; error: unknown }): ReactNode {
  const { prompts } = useTexts();
  if (error !== null) return <ProblemAlert error={error} />;
  if (results === undefined) return <Skeleton h={240} />;
  return (
    <>
      {results.variables !== undefined && Object.keys(results.variables).length > 0 && (
        <Section title={prompts.values.title}>
          <JsonView value={results.variables} label={prompts.values.title} />
          <Group>
            <AddToDataset source={{ variables: results.variables, answers: answersOf(results) }} />
          </Group>
        </Section>
      )}
      <TestCharts results={results.results} />
      <div className={classes.results}>
        {results.results.map((result, index) => (
          <TestResult key={index} position={index + 1} result={result} />
        ))}
      </div>
    </>
  );
}
