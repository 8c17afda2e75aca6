import {
  Autocomplete,
  Button,
  Group,
  Menu,
  NativeSelect,
  NumberInput,
  Paper,
  Radio,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core';
import { IconArrowLeft, IconPlus, IconScale } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { datasetName } from '../../../generated/limits.ts';
import { ForScope } from '../../../shared/for-scope.tsx';
import { placedMistakes } from '../../../shared/form-problem.ts';
import { JsonView } from '../../../shared/json-view.tsx';
import { fits } from '../../../shared/limits.ts';
import { LinkButton } from '../../../shared/links.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useFormat, useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { useDatasetChoice } from '../../datasets/queries.ts';
import { RunSelect } from '../content/run-select.tsx';
import { versionNumber, versionOptions } from '../content/version-options.ts';
import { JsonField } from '../generation/json-field.tsx';
import { useWorkspace } from '../workspace/workspace-context.ts';
import {
  checksIn,
  fieldsFor,
  fieldsOf,
  requestOf,
  rules,
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
  );
}

type Planned = { readonly request: Schemas['EvaluationStart']; readonly plan: Schemas['EvaluationPlan'] };

function EvaluationForm({ first }: { first: EvaluationFields }): ReactNode {
  const { form: texts, sides } = useOwnTexts(evaluations);
  const { prompts } = useTexts();
  const { stored } = useWorkspace();
  const prompt = stored.data;
  const queryClient = useQueryClient();
  const navigate = route.useNavigate();
  const [fields, setFields] = useState(first);
  const choice = useDatasetChoice();
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
  const mistakes = placedMistakes(error);
  const mistakeIn = (place: string): string | undefined => {
    const found = mistakes.filter((mistake) => mistake.place === place || mistake.place.startsWith(`${place}.`));
    const words = found.map(({ place: at, detail }) => [at.slice(place.length + 1), detail].filter(Boolean).join(': '));
    return words.length === 0 ? undefined : words.join('; ');
  };
  const request = requestOf(fields);
  const dataset = choice.data?.find(({ name }) => name === fields.dataset);
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
        <Radio.Group
          label={texts.rule}
          value={fields.rule}
          onChange={(value) => {
            change({ rule: rules.find((rule) => rule === value) ?? fields.rule });
          }}
        >
          <Stack gap="xs" mt="xs">
            {rules.map((rule) => (
              <Radio key={rule} value={rule} label={texts.rules[rule]} description={texts.ruleTexts[rule]} />
            ))}
          </Stack>
        </Radio.Group>
        {fields.rule !== 'all_pass' && (
          <NumberInput
            label={fields.rule === 'not_worse_by' ? texts.margin : texts.rate}
            maw={260}
            suffix={fields.rule === 'not_worse_by' ? '' : ' %'}
            min={fields.rule === 'not_worse_by' ? 0.01 : 0.1}
            max={fields.rule === 'not_worse_by' ? 50 : 99.9}
            value={fields.rule === 'not_worse_by' ? fields.margin : fields.rate}
            error={mistakeIn('rule')}
            onChange={(value) => {
              if (typeof value === 'number')
                change(fields.rule === 'not_worse_by' ? { margin: value } : { rate: value });
            }}
          />
        )}
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
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
          {/* A key that may not read data sets can name one. */}
          <div>
            <Autocomplete
              label={texts.dataset}
              placeholder={texts.datasetPlaceholder}
              data={(choice.data ?? []).map(({ name }) => name)}
              value={fields.dataset}
              maxLength={datasetName.maxLength}
              spellCheck={false}
              error={mistakeIn('dataset')}
              onChange={(value) => {
                change({ dataset: value.trim(), datasetVersion: undefined });
              }}
            />
            {choice.data?.length === 0 && (
              <Group gap="xs" mt={4}>
                <Text size="sm" c="dimmed">
                  {texts.noDatasets}
                </Text>
                <LinkButton to="/dataset-import" size="compact-sm" variant="default">
                  {texts.importCases}
                </LinkButton>
              </Group>
            )}
          </div>
          {dataset !== undefined && (
            <NativeSelect
              label={texts.datasetVersion}
              value={String(fields.datasetVersion ?? '')}
              data={[
                { value: '', label: `${texts.current} (v${dataset.version})` },
                ...versionOptions(dataset.version, fields.datasetVersion, prompts.history.version),
              ]}
              onChange={(event) => {
                change({ datasetVersion: versionNumber(event.currentTarget.value) });
              }}
            />
          )}
        </SimpleGrid>
        <Stack gap="xs">
          <JsonField
            label={texts.checks}
            description={texts.checksHint}
            value={fields.checks}
            placeholder="[]"
            mistake={checksIn(fields.checks) === undefined ? texts.checksMistake : mistakeIn('checks')}
            isReadOnly={false}
            onChange={(checks) => {
              change({ checks });
            }}
          />
          <AddCheck
            checks={fields.checks}
            onAdd={(checks) => {
              change({ checks });
            }}
          />
        </Stack>
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
  return (
    <Stack gap={4}>
      <RunSelect
        name={name}
        prompt={stored.data}
        value={side.run}
        onChange={(run) => {
          onChange({ ...side, run });
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

/** Checks that many begin with. */
const templates = {
  contains: { type: 'contains', value: '{{expected}}' },
  equals: { type: 'equals', value: '{{expected}}' },
  json: { type: 'is-json' },
  finish: { type: 'finish-reason', value: 'stop' },
  latency: { type: 'latency', threshold: 10_000 },
  cost: { type: 'cost', threshold: 0.01 },
} as const satisfies Record<string, Schemas['Check']>;
const templateNames = ['contains', 'equals', 'json', 'finish', 'latency', 'cost'] as const;

function AddCheck({ checks, onAdd }: { checks: string; onAdd: (checks: string) => void }): ReactNode {
  const { form: texts } = useOwnTexts(evaluations);
  const list = checksIn(checks);
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          disabled={list === undefined}
          style={{ alignSelf: 'start' }}
        >
          {texts.add}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {templateNames.map((name) => (
          <Menu.Item
            key={name}
            onClick={() => {
              onAdd(JSON.stringify([...(list ?? []), templates[name]], null, 2));
            }}
          >
            {texts.templates[name]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
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
