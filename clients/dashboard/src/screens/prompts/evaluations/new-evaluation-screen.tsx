import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { IconArrowLeft, IconScale } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { datasetName } from '../../../generated/limits.ts';
import { ForScope } from '../../../shared/for-scope.tsx';
import { JsonView } from '../../../shared/json-view.tsx';
import { fits } from '../../../shared/limits.ts';
import { LinkButton } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useFormat, useOwnTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { RunSelect } from '../content/run-select.tsx';
import { TargetSelect } from '../content/target-select.tsx';
import { useProviders } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { ChecksInput, DatasetInputs, RuleInputs } from './case-inputs.tsx';
import {
  fieldsFor,
  fieldsOf,
  mistakesOf,
  requestOf,
  type EvaluationFields,
  type SideFields,
} from './evaluation-form.ts';
import { evaluationKeys, useEvaluation } from './queries.ts';
import { Refusal } from './refusal.tsx';

const route = getRouteApi('/prompts/$promptId/evaluations/new');

/** Chooses what is evaluated, says what it can cost, and starts it. */
export function NewEvaluationScreen(): ReactNode {
  const { form: texts } = useOwnTexts(evaluations);
  const { stored } = useWorkspace();
  const { from } = route.useSearch();
  const before = useEvaluation(from);
  return (
    <ForScope scope="prompts:invoke">
      <ForScope scope="datasets:read">
        <Stack gap="lg">
          <Group>
            <LinkButton
              to="/prompts/$promptId/evaluations"
              params={{ promptId: stored.data.id }}
              variant="subtle"
              color="gray"
              size="compact-sm"
              leftSection={<IconArrowLeft size={14} />}
            >
              {texts.back}
            </LinkButton>
          </Group>
          {before.error !== null && <ProblemAlert error={before.error} />}
          {from !== undefined && before.isPending ? (
            <Skeleton h={320} />
          ) : (
            <EvaluationForm
              first={before.data === undefined ? fieldsFor(stored.data) : fieldsOf(stored.data, before.data)}
            />
          )}
        </Stack>
      </ForScope>
    </ForScope>
  );
}

type Planned = { readonly request: Schemas['EvaluationStart']; readonly plan: Schemas['EvaluationPlan'] };

function EvaluationForm({ first }: { first: EvaluationFields }): ReactNode {
  const { form: texts, sides } = useOwnTexts(evaluations);
  const { stored } = useWorkspace();
  const prompt = stored.data;
  const queryClient = useQueryClient();
  const navigate = route.useNavigate();
  const [fields, setFields] = useState(first);
  const plan = useMutation({
    mutationFn: async (request: Schemas['EvaluationStart']): Promise<Planned> => {
      const answer = await gateway.evaluations.create(prompt.id, { ...request, dry_run: true });
      return { request, plan: answer as Schemas['EvaluationPlan'] };
    },
  });
  const start = useMutation({
    mutationFn: async (request: Schemas['EvaluationStart']) =>
      (await gateway.evaluations.create(prompt.id, request)) as Schemas['Evaluation'],
    onSuccess: async ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: evaluationKeys.list(prompt.id) });
      await navigate({
        to: '/prompts/$promptId/evaluations/$evaluationId',
        params: { promptId: prompt.id, evaluationId: id },
      });
    },
  });
  const change = (changed: Partial<EvaluationFields>): void => {
    plan.reset();
    start.reset();
    setFields({ ...fields, ...changed });
  };
  const error = start.error ?? plan.error;
  const mistakeIn = mistakesOf(error);
  const request = requestOf(fields);
  const parts = { fields, mistakeIn, onChange: change };
  return (
    <Paper
      withBorder
      p="md"
      component="form"
      aria-label={texts.title}
      onSubmit={(event) => {
        event.preventDefault();
        if (request !== undefined) plan.mutate(request);
      }}
    >
      <Stack gap="lg">
        <Text fw={600}>{texts.title}</Text>
        <RuleInputs {...parts} />
        <DatasetInputs {...parts}>
          <SideSelect
            name={sides['candidate'] ?? ''}
            side={fields.candidate}
            mistake={mistakeIn('candidate')}
            onChange={(candidate) => {
              change({ candidate });
            }}
          />
          {fields.rule === 'not_worse_by' && (
            <SideSelect
              name={sides['baseline'] ?? ''}
              side={fields.baseline}
              mistake={mistakeIn('baseline')}
              onChange={(baseline) => {
                change({ baseline });
              }}
            />
          )}
        </DatasetInputs>
        <ChecksInput {...parts} />
        {error !== null && <ProblemAlert error={error} />}
        <Group>
          <Button
            type="submit"
            variant={plan.data === undefined ? 'filled' : 'default'}
            loading={plan.isPending}
            disabled={request === undefined || !fits(fields.dataset, datasetName)}
          >
            {texts.plan}
          </Button>
        </Group>
        {plan.data !== undefined && (
          <Plan
            planned={plan.data}
            isStarting={start.isPending}
            onStart={() => {
              start.mutate(plan.data.request);
            }}
          />
        )}
      </Stack>
    </Paper>
  );
}

function SideSelect({
  name,
  side,
  mistake,
  onChange,
}: {
  name: string;
  side: SideFields;
  mistake: string | undefined;
  onChange: (side: SideFields) => void;
}): ReactNode {
  const { form: texts } = useOwnTexts(evaluations);
  const { stored } = useWorkspace();
  const { data: providers = [] } = useProviders();
  return (
    <Stack gap={4} role="group" aria-label={name}>
      <RunSelect
        name={name}
        prompt={stored.data}
        value={side.run}
        onChange={(run) => {
          onChange({ ...side, run });
        }}
      />
      <TargetSelect
        providers={providers}
        value={side}
        placeholder={texts.asVersion}
        modelPlaceholder={texts.asVersion}
        onChange={(target) => {
          onChange({ ...side, ...target });
        }}
      />
      {mistake !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {mistake}
        </Text>
      )}
      {side.overrides !== undefined && (
        <>
          <Text size="sm" c="dimmed">
            {texts.overrides(name)}
          </Text>
          <JsonView value={side.overrides} label={texts.overrides(name)} />
        </>
      )}
    </Stack>
  );
}

/** What would happen, and the button that lets it happen. */
function Plan({
  planned: { plan },
  isStarting,
  onStart,
}: {
  planned: Planned;
  isStarting: boolean;
  onStart: () => void;
}): ReactNode {
  const { form: texts } = useOwnTexts(evaluations);
  const format = useFormat();
  if (plan.refusal !== undefined) return <Refusal refusal={plan.refusal} />;
  const calls = texts.calls(plan.calls, format.number(plan.calls));
  return (
    <Stack gap="sm">
      <Text role="status">
        {plan.ceiling === null ? texts.unknownCeiling(calls) : texts.ceiling(calls, format.spending(plan.ceiling))}
      </Text>
      <Group>
        <Button leftSection={<IconScale size={16} />} loading={isStarting} onClick={onStart}>
          {texts.submit}
        </Button>
      </Group>
    </Stack>
  );
}
