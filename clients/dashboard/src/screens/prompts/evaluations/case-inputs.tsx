import {
  Autocomplete,
  Button,
  Group,
  Menu,
  NativeSelect,
  NumberInput,
  Radio,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { datasetName } from '../../../generated/limits.ts';
import { LinkButton } from '../../../shared/links.tsx';
import { useOwnTexts, useTexts } from '../../../shared/texts.tsx';
import { evaluations } from '../../../texts/evaluations.ts';
import { useDatasetChoice } from '../../datasets/queries.ts';
import { versionNumber, versionOptions } from '../content/version-options.ts';
import { JsonField } from '../generation/json-field.tsx';
import { checksIn, rules, type CaseFields } from './evaluation-form.ts';

interface InputProps {
  readonly fields: CaseFields;
  /** What the service says of a member of the request. */
  readonly mistakeIn: (place: string) => string | undefined;
  readonly onChange: (changed: Partial<CaseFields>) => void;
}

/** What has to hold, with its margin or rate. */
export function RuleInputs({ fields, mistakeIn, onChange }: InputProps): ReactNode {
  const { form: texts } = useOwnTexts(evaluations);
  const isMargin = fields.rule === 'not_worse_by';
  return (
    <>
      <Radio.Group
        label={texts.rule}
        value={fields.rule}
        onChange={(value) => {
          onChange({ rule: rules.find((rule) => rule === value) ?? fields.rule });
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
          label={isMargin ? texts.margin : texts.rate}
          maw={260}
          suffix={isMargin ? '' : ' %'}
          min={isMargin ? 0.01 : 0.1}
          max={isMargin ? 50 : 99.9}
          value={isMargin ? fields.margin : fields.rate}
          error={mistakeIn('rule')}
          onChange={(value) => {
            if (typeof value === 'number') onChange(isMargin ? { margin: value } : { rate: value });
          }}
        />
      )}
    </>
  );
}

/** The data set and its version. A key that may not read data sets can name one. */
export function DatasetInputs({
  fields,
  mistakeIn,
  onChange,
  isPinned = false,
  children,
}: InputProps & {
  /** Whether a version has to be named. */
  readonly isPinned?: boolean;
  /** What stands before, in the same columns. */
  readonly children?: ReactNode;
}): ReactNode {
  const { form: texts } = useOwnTexts(evaluations);
  const { prompts } = useTexts();
  const choice = useDatasetChoice();
  const dataset = choice.data?.find(({ name }) => name === fields.dataset);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {children}
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
            const name = value.trim();
            const chosen = choice.data?.find((one) => one.name === name);
            onChange({ dataset: name, datasetVersion: isPinned ? chosen?.version : undefined });
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
            ...(isPinned ? [] : [{ value: '', label: `${texts.current} (v${dataset.version})` }]),
            ...versionOptions(dataset.version, fields.datasetVersion, prompts.history.version),
          ]}
          onChange={(event) => {
            onChange({ datasetVersion: versionNumber(event.currentTarget.value) });
          }}
        />
      )}
      {dataset === undefined && isPinned && (
        <NumberInput
          label={texts.datasetVersion}
          min={1}
          allowDecimal={false}
          value={fields.datasetVersion ?? ''}
          onChange={(value) => {
            onChange({ datasetVersion: versionNumber(String(value)) });
          }}
        />
      )}
    </SimpleGrid>
  );
}

/** The checks of every answer, as JSON. */
export function ChecksInput({ fields: { checks }, mistakeIn, onChange }: InputProps): ReactNode {
  const { form: texts } = useOwnTexts(evaluations);
  const change = (value: string): void => {
    onChange({ checks: value });
  };
  return (
    <Stack gap="xs">
      <JsonField
        label={texts.checks}
        description={texts.checksHint}
        value={checks}
        placeholder="[]"
        mistake={checksIn(checks) === undefined ? texts.checksMistake : mistakeIn('checks')}
        isReadOnly={false}
        onChange={change}
      />
      <AddCheck checks={checks} onAdd={change} />
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
