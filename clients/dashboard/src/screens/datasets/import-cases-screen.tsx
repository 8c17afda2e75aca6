import {
  Alert,
  Button,
  Group,
  List,
  NativeSelect,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ProblemError } from 'prompt-gateway-client';
import type { Source } from 'prompt-gateway-client/transfer';
import { useState, type ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { datasetName } from '../../generated/limits.ts';
import { ForScope } from '../../shared/for-scope.tsx';
import { fits } from '../../shared/limits.ts';
import { useNotify } from '../../shared/notify.ts';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { readText } from '../../shared/read-text.ts';
import { useFormat, useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { datasets } from '../../texts/datasets.ts';
import { FileDrop } from '../prompts/transfer/file-drop.tsx';
import { CaseTable } from './case-table.tsx';
import { datasetKeys, useDataset } from './queries.ts';
import { linesOf, readCases, type ReadCases } from './read-cases.ts';

const route = getRouteApi('/dataset-import');
const accepted = '.jsonl,.ndjson,.csv,.yaml,.yml,.json';
/** Bytes. The contract has the same number for the cases of a data set. */
const largestFile = 16_777_216;
/** What a text can be, with the name that a file in this format has. */
const formats = ['jsonl', 'csv', 'yaml'] as const;

/** Sets the cases of a data set from a file or a text, after it has shown them. */
export function ImportCasesScreen(): ReactNode {
  const texts = useOwnTexts(datasets);
  const { import: own } = texts;
  return (
    <Page title={own.title} description={own.description} breadcrumbs={[{ to: '/datasets', label: texts.title }]}>
      <ForScope scope="datasets:write">
        <Import />
      </ForScope>
    </Page>
  );
}

/** What was chosen. The number tells choices apart, also of the same file. */
interface Choice {
  readonly number: number;
  readonly source: Source;
}

function Import(): ReactNode {
  const { import: texts } = useOwnTexts(datasets);
  const format = useFormat();
  const [name, setName] = useState(route.useSearch().name ?? '');
  const [by, setBy] = useState<'file' | 'text'>('file');
  const [typed, setTyped] = useState('');
  const [kind, setKind] = useState<(typeof formats)[number]>('jsonl');
  const [choice, setChoice] = useState<Choice>();
  const [refusal, setRefusal] = useState<string>();
  const { shared } = useTexts();
  const choose = (source: Source): void => {
    setRefusal(undefined);
    setChoice({ number: (choice?.number ?? 0) + 1, source });
  };
  const open = useMutation({
    mutationFn: readText,
    onSuccess: (text, { name: file }) => {
      if (text === undefined) setRefusal(shared.notUtf8(file));
      else choose({ name: file, text });
    },
  });
  const read = useQuery({
    queryKey: ['datasets', 'import', choice?.number],
    queryFn: () => (choice === undefined ? undefined : readCases(choice.source)),
    enabled: choice !== undefined,
    staleTime: Infinity,
    gcTime: 0,
    structuralSharing: false,
  });
  const isValid = fits(name, datasetName);
  return (
    <Stack gap="lg">
      <TextInput
        label={texts.name}
        description={texts.nameHint}
        placeholder="support-tickets"
        maw={420}
        value={name}
        maxLength={datasetName.maxLength}
        spellCheck={false}
        error={name !== '' && !isValid && texts.nameMistake}
        onChange={(event) => {
          setName(event.currentTarget.value.trim());
        }}
      />
      <SegmentedControl
        aria-label={texts.by}
        style={{ alignSelf: 'start' }}
        data={(['file', 'text'] as const).map((value) => ({ value, label: texts.from[value] }))}
        value={by}
        onChange={(value) => {
          setBy(value as typeof by);
        }}
      />
      {by === 'file' ? (
        <FileDrop
          texts={texts.file}
          accepted={accepted}
          isMultiple={false}
          isBusy={open.isPending || read.isFetching}
          onFiles={([file]) => {
            if (file === undefined) return;
            if (file.size <= largestFile) open.mutate(file);
            else setRefusal(texts.tooLarge(file.name, format.bytes(largestFile)));
          }}
        />
      ) : (
        <Stack gap="sm">
          <NativeSelect
            label={texts.format}
            maw={420}
            data={formats.map((value) => ({ value, label: texts.formats[value] }))}
            value={kind}
            onChange={(event) => {
              setKind(event.currentTarget.value as typeof kind);
            }}
          />
          <Textarea
            label={texts.text}
            autosize
            minRows={6}
            maxRows={20}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            value={typed}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
            }}
          />
          <Group>
            <Button
              variant="default"
              disabled={typed.trim() === ''}
              loading={read.isFetching}
              onClick={() => {
                choose({ name: `${texts.pasted}.${kind}`, text: typed });
              }}
            >
              {texts.preview}
            </Button>
          </Group>
        </Stack>
      )}
      {refusal !== undefined && <Alert color="red">{refusal}</Alert>}
      {[open.error, read.error].map((error, index) => error !== null && <ProblemAlert key={index} error={error} />)}
      {read.data !== undefined && refusal === undefined && (
        <Review key={choice?.number} name={isValid ? name : ''} file={read.data} />
      )}
    </Stack>
  );
}

/** What the file has, what would become of the data set, and the button that does it. */
function Review({ name, file }: { name: string; file: ReadCases }): ReactNode {
  const texts = useOwnTexts(datasets);
  const { import: own } = texts;
  const format = useFormat();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  const [settled] = useDebouncedValue(name, 200);
  const present = useDataset(settled);
  const before = present.data?.data;
  const store = useMutation({
    mutationFn: () => {
      const options = before === undefined ? { ifNoneMatch: '*' } : { ifMatch: present.data?.etag };
      return gateway.datasets.set(name, linesOf(file), options);
    },
    onSuccess: async ({ version }) => {
      notify(version === before?.version ? own.unchanged(name, version) : own.done(name, version));
      void queryClient.invalidateQueries({ queryKey: datasetKeys.all });
      await navigate({ to: '/datasets/$name', params: { name } });
    },
    onError: () => {
      // Someone else may have changed it.
      void present.refetch();
    },
  });
  const count = file.cases.length;
  const isRight = file.refusal === undefined && file.mistakes.length === 0 && count > 0;
  const isKnown = name !== '' && name === settled && present.data !== undefined;
  return (
    <Stack gap="md">
      {file.refusal !== undefined && <Alert color="red">{file.refusal}</Alert>}
      <Mistakes
        title={own.mistakes}
        text={own.mistakesText}
        mistakes={file.mistakes.map(({ line, detail }) => ({ place: `${file.name}:${line}`, detail }))}
      />
      {file.refusal === undefined && file.mistakes.length === 0 && count === 0 && <Text c="dimmed">{own.empty}</Text>}
      {store.isError && <Refused file={file} error={store.error} />}
      {present.error !== null && <ProblemAlert error={present.error} />}
      {isRight && (
        <Group justify="space-between" gap="sm">
          <Text fw={500} role="status">
            {name === '' || !isKnown
              ? own.found(count, format.number(count))
              : before === undefined
                ? own.creates(name, count, format.number(count))
                : own.replaces(name, count, format.number(count), before.version, format.number(before.cases))}
          </Text>
          <Button
            disabled={!isKnown}
            loading={store.isPending}
            onClick={() => {
              store.mutate();
            }}
          >
            {name === '' ? own.needsName : before === undefined ? own.submitNew : own.submit(before.version + 1)}
          </Button>
        </Group>
      )}
      {count > 0 && (
        <CaseTable
          label={own.table}
          list={{ rows: file.shown, total: count }}
          keyOf={({ position }) => String(position)}
          empty={null}
        />
      )}
    </Stack>
  );
}

/** What the service refused, with the lines of the file. */
function Refused({ file, error }: { file: ReadCases; error: unknown }): ReactNode {
  const { import: texts } = useOwnTexts(datasets);
  const mistakes = error instanceof ProblemError ? (error.problem.errors ?? []) : [];
  if (mistakes.length === 0) return <ProblemAlert error={error} />;
  return (
    <Mistakes
      title={texts.refused}
      text={texts.refusedText}
      mistakes={mistakes.map(({ line, pointer, detail }) => ({
        // Its lines are those that were sent.
        place: [`${file.name}:${file.cases[(line ?? 0) - 1]?.line ?? '?'}`, pointer?.replace(/^#/, '') ?? '']
          .filter((part) => part !== '')
          .join(' '),
        detail,
      }))}
    />
  );
}

/** Mistakes that are shown; a file can have one in each line. */
const shownMistakes = 50;

function Mistakes({
  title,
  text,
  mistakes,
}: {
  title: string;
  text: string;
  mistakes: readonly { readonly place: string; readonly detail: string }[];
}): ReactNode {
  const { import: texts } = useOwnTexts(datasets);
  const format = useFormat();
  if (mistakes.length === 0) return null;
  return (
    <Alert color="red" role="alert" title={title} icon={<IconAlertTriangle />}>
      <Text size="sm" mb={4}>
        {text}
      </Text>
      <List size="sm" style={{ overflowWrap: 'anywhere' }}>
        {mistakes.slice(0, shownMistakes).map(({ place, detail }, index) => (
          <List.Item key={index}>
            {place}: {detail}
          </List.Item>
        ))}
      </List>
      {mistakes.length > shownMistakes && (
        <Text size="sm" mt={4}>
          {texts.more(format.number(mistakes.length - shownMistakes))}
        </Text>
      )}
    </Alert>
  );
}
