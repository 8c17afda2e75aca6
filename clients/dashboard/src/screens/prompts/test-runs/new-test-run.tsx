import { Alert, Box, Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import { IconInfoCircle, IconPlayerPlay, IconPlus } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { testRunCreate } from '../../../generated/limits.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { chosenVersion, runMembers, RunSelect, type RunChoice } from '../content/run-select.tsx';
import { TargetRow } from '../content/target-row.tsx';
import { VariableValuesForm } from '../content/variable-values-form.tsx';
import { jsonMistake, missingOf } from '../content/variable-values.ts';
import { versionOptions } from '../content/version-options.ts';
import { promptKeys, useProviders } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { useVariables } from './use-variables.ts';
import { TargetSets } from './target-sets.tsx';
import classes from './test-runs.module.css';

/** The most targets of a test run. */
const mostTargets = testRunCreate.providers.maxItems;

/** Chooses what to compare, and starts it. */
export function NewTestRun(): ReactNode {
  const { stored, isDirty, values, setValues, testTargets, setTestTargets } = useWorkspace();
  const { prompts } = useTexts();
  const texts = prompts.testRuns;
  const { id, version: newest } = stored.data;
  const { data: providers = [] } = useProviders();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [run, setRun] = useState<RunChoice>({});
  const all = testTargets.map(({ version: own }) => own ?? chosenVersion(run, stored.data) ?? newest);
  const variables = useVariables(stored.data, all);

  const start = useMutation({
    mutationFn: () =>
      gateway.testRuns.create(
        id,
        {
          providers: testTargets.map(({ provider, model, version: own }) => ({
            provider,
            ...(model !== '' && { model }),
            ...(own !== undefined && { version: own }),
          })),
          variables: values.values,
          ...runMembers(run),
        },
        { headers: { Prefer: 'respond-async' } },
      ),
    onSuccess: async (started) => {
      void queryClient.invalidateQueries({ queryKey: promptKeys.testRuns(id) });
      await navigate({ to: '/prompts/$promptId/test-runs/$runId', params: { promptId: id, runId: started.id } });
    },
  });

  const add = (provider: string, model: string): void => {
    setTestTargets([...testTargets, { key: crypto.randomUUID(), provider, model }]);
  };
  const addable = providers.filter(
    ({ id: known, configured }) => configured && !testTargets.some(({ provider }) => provider === known),
  );
  const isComplete = testTargets.length > 0 && testTargets.every(({ provider }) => provider !== '');
  return (
    <Paper withBorder p="md" component="section" aria-label={texts.new}>
      <Stack gap="md">
        <Text fw={600}>{texts.new}</Text>
        {isDirty && (
          <Alert color="yellow" icon={<IconInfoCircle />}>
            {prompts.playground.unsaved(newest)}
          </Alert>
        )}
        <div className={classes.form}>
          <Stack gap="sm">
            {testTargets.map((target, index) => (
              <TargetRow
                key={target.key}
                name={texts.target(index + 1)}
                removal={texts.removeTarget(index + 1)}
                providers={providers}
                value={target}
                onChange={(changed) => {
                  setTestTargets(testTargets.map((one) => (one.key === target.key ? { ...one, ...changed } : one)));
                }}
                onRemove={() => {
                  setTestTargets(testTargets.filter(({ key }) => key !== target.key));
                }}
                canRemove={testTargets.length > 1}
              >
                {target.version !== undefined && (
                  <NativeSelect
                    label={prompts.playground.version}
                    value={target.version}
                    data={versionOptions(newest, target.version, prompts.history.version)}
                    onChange={(event) => {
                      const own = Number(event.currentTarget.value);
                      setTestTargets(
                        testTargets.map((one) => (one.key === target.key ? { ...one, version: own } : one)),
                      );
                    }}
                  />
                )}
              </TargetRow>
            ))}
            <Group gap="xs">
              <Button
                size="xs"
                variant="default"
                leftSection={<IconPlus size={14} />}
                disabled={testTargets.length >= mostTargets}
                onClick={() => {
                  add(addable[0]?.id ?? testTargets.at(-1)?.provider ?? '', '');
                }}
              >
                {texts.addTarget}
              </Button>
              <Button
                size="xs"
                variant="default"
                leftSection={<IconPlus size={14} />}
                disabled={testTargets.length >= mostTargets}
                onClick={() => {
                  const { provider = '', model = '' } = testTargets.at(-1) ?? {};
                  const other = Math.max(1, Math.min(...all) - 1);
                  setTestTargets([...testTargets, { key: crypto.randomUUID(), provider, model, version: other }]);
                }}
              >
                {prompts.playground.addRun}
              </Button>
              {addable.length > 1 && (
                <Button
                  size="xs"
                  variant="subtle"
                  onClick={() => {
                    const added = addable.map((provider) => ({
                      key: crypto.randomUUID(),
                      provider: provider.id,
                      model: provider.defaultModel,
                    }));
                    setTestTargets([...testTargets, ...added].slice(0, mostTargets));
                  }}
                >
                  {texts.addAll(addable.length)}
                </Button>
              )}
              <TargetSets
                targets={testTargets}
                onChoose={(kept) => {
                  setTestTargets(kept.map((target) => ({ ...target, key: crypto.randomUUID() })));
                }}
              />
            </Group>
            <Box maw={260}>
              <RunSelect prompt={stored.data} value={run} onChange={setRun} />
            </Box>
          </Stack>
          <VariableValuesForm
            variables={variables}
            values={values}
            missing={start.isError ? missingOf(variables, values) : []}
            onChange={setValues}
          />
        </div>
        {start.isError && <ProblemAlert error={start.error} />}
        <Group>
          <Button
            leftSection={<IconPlayerPlay size={16} />}
            loading={start.isPending}
            disabled={!isComplete || jsonMistake(values) !== undefined}
            onClick={() => {
              start.mutate();
            }}
          >
            {texts.start(testTargets.length)}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
