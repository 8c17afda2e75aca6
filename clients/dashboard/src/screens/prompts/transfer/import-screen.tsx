import { Alert, Button, Checkbox, Group, List, Progress, Select, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Source } from 'prompt-gateway-client/transfer';
import { useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { ForScope } from '../../../shared/for-scope.tsx';
import { Page } from '../../../shared/page.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { readText } from '../../../shared/read-text.ts';
import { useFormat, useTexts } from '../../../shared/texts.tsx';
import { promptKeys, useProviders } from '../prompt-queries.ts';
import { FileDrop } from './file-drop.tsx';
import { OutcomeTable } from './outcome-table.tsx';
import { readFiles, type ReadFiles, type ReadPrompt } from './read-files.ts';
import { sendPrompts, type Outcomes, type SendOptions } from './send-prompts.ts';

/** Imports prompts from files: first what would happen, and then it happens. */
export function ImportScreen(): ReactNode {
  const { transfer: texts, prompts } = useTexts();
  return (
    <Page
      title={texts.title}
      description={texts.description}
      breadcrumbs={[{ to: '/prompts', label: prompts.list.title }]}
    >
      <ForScope scope="prompts:write">
        <Import />
      </ForScope>
    </Page>
  );
}

/** Files that were chosen together. */
interface Choice {
  /** Tells choices apart, also of the same files. */
  readonly number: number;
  readonly sources: readonly Source[];
  /** Names of those that are not UTF-8. */
  readonly unreadable: readonly string[];
}

/** What is read here belongs to the screen, and is not kept after it. */
const once = { staleTime: Infinity, gcTime: 0, structuralSharing: false } as const;
const noOutcomes: Outcomes = new Map();
const accepted = '.json,.jsonl,.ndjson,.yaml,.yml,.md,.markdown,.prompt,.prompty,.txt,.j2';

function Import(): ReactNode {
  const { transfer: texts } = useTexts();
  const canRelease = useScope('prompts:release');
  const [choice, setChoice] = useState<Choice>({ number: 0, sources: [], unreadable: [] });
  const [provider, setProvider] = useState<string | null>(null);
  const open = useMutation({
    mutationFn: (files: readonly File[]) =>
      Promise.all(files.map(async (file) => ({ name: file.name, text: await readText(file) }))),
    onSuccess: (files) => {
      const sources = files.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]));
      const unreadable = files.flatMap(({ name, text }) => (text === undefined ? [name] : []));
      if (files.length > 0) setChoice({ number: choice.number + 1, sources, unreadable });
    },
  });
  const read = useQuery({
    queryKey: ['import', 'files', choice.number, provider],
    queryFn: () => readFiles(choice.sources, provider ?? undefined),
    enabled: choice.number > 0,
    ...once,
  });
  return (
    <Stack gap="lg">
      <FileDrop
        texts={texts}
        accepted={accepted}
        isMultiple
        isBusy={open.isPending || read.isFetching}
        onFiles={open.mutate}
      />
      {[open.error, read.error].map((error, index) => error !== null && <ProblemAlert key={index} error={error} />)}
      {read.data !== undefined && (
        <>
          <NotTaken files={read.data} unreadable={choice.unreadable} />
          {read.data.formats.length > 0 && <ProviderChoice value={provider} onChange={setProvider} />}
          {read.data.prompts.length > 0 && (
            <Review
              key={`${choice.number} ${provider ?? ''}`}
              name={`${choice.number} ${provider ?? ''}`}
              found={read.data.prompts}
              canSetLabels={canRelease}
            />
          )}
          {read.data.prompts.length === 0 && <Text c="dimmed">{texts.nothing}</Text>}
        </>
      )}
    </Stack>
  );
}

/** Files and prompts that cannot be imported at all. */
function NotTaken({
  files: { unknown, leftOut },
  unreadable,
}: {
  files: ReadFiles;
  unreadable: readonly string[];
}): ReactNode {
  const { transfer: texts, shared } = useTexts();
  const lines = [
    ...unreadable.map(shared.notUtf8),
    ...unknown.map(({ name, reason }) => `${name}: ${reason ?? texts.unknownFormat}`),
    ...leftOut.map(({ prompt, detail }) => `${prompt}: ${detail}`),
  ];
  if (lines.length === 0) return null;
  return (
    <Alert color="yellow" title={texts.notTaken} icon={<IconAlertTriangle />}>
      <List size="sm" style={{ overflowWrap: 'anywhere' }}>
        {lines.map((line, index) => (
          <List.Item key={index}>{line}</List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** Other tools often name a model without its provider. */
function ProviderChoice({
  value,
  onChange,
}: {
  value: string | null;
  onChange: (provider: string | null) => void;
}): ReactNode {
  const { transfer: texts } = useTexts();
  const providers = useProviders().data ?? [];
  return (
    <Select
      label={texts.provider}
      description={texts.providerDescription}
      placeholder={texts.noProvider}
      maw={420}
      clearable
      data={providers.map(({ id, name }) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
    />
  );
}

/** What the import would do, the choices that it follows, and the import itself. */
function Review({
  name,
  found,
  canSetLabels,
}: {
  /** Of the files and choices that the prompts come from. */
  name: string;
  found: readonly ReadPrompt[];
  canSetLabels: boolean;
}): ReactNode {
  const { transfer: texts } = useTexts();
  const format = useFormat();
  const queryClient = useQueryClient();
  const [conflicts, setConflicts] = useState<SendOptions['conflicts']>('refuse');
  const [setsLabels, setSetsLabels] = useState(canSetLabels);
  const [prompts, setPrompts] = useState(found);
  const [progress, setProgress] = useState(noOutcomes);
  const sent = prompts.filter(({ isRepeated }) => !isRepeated);
  const options = { conflicts, setsLabels, onProgress: setProgress };
  const preview = useQuery({
    queryKey: ['import', 'preview', name, conflicts, setsLabels, prompts.length],
    queryFn: ({ signal }) => {
      setProgress(noOutcomes);
      return sendPrompts(sent, { ...options, isDryRun: true, signal });
    },
    enabled: ({ state }) => state.data === undefined,
    ...once,
  });
  const store = useMutation({
    mutationFn: () => {
      setProgress(noOutcomes);
      return sendPrompts(sent, { ...options, isDryRun: false });
    },
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: promptKeys.lists });
    },
  });
  const outcomes = store.data ?? preview.data;
  const isDone = store.data !== undefined;
  const isBusy = preview.isFetching || store.isPending;
  const isRefused = ({ isRepeated, prompt: { slug } }: ReadPrompt): boolean =>
    isRepeated || outcomes?.get(slug)?.status === 'refused';
  const refused = outcomes === undefined ? 0 : prompts.filter(isRefused).length;
  return (
    <Stack gap="md">
      {!isDone && (
        <Group align="flex-start" gap="lg">
          <Select
            label={texts.conflicts}
            description={texts.conflictsDescription}
            w={{ base: '100%', xs: 420 }}
            allowDeselect={false}
            disabled={store.isPending}
            data={(['refuse', 'skip', 'new-version'] as const).map((value) => ({
              value,
              label: texts.conflictChoices[value],
            }))}
            value={conflicts}
            onChange={(value) => {
              if (value !== null) setConflicts(value);
            }}
          />
          <Checkbox
            mt={{ base: 0, xs: 28 }}
            label={texts.setLabels}
            description={canSetLabels ? texts.setLabelsDescription : texts.noReleaseScope}
            disabled={!canSetLabels || store.isPending}
            checked={setsLabels}
            onChange={(event) => {
              setSetsLabels(event.currentTarget.checked);
            }}
          />
        </Group>
      )}
      {isBusy && (
        <Stack gap={4} role="status">
          <Text size="sm">
            {(store.isPending ? texts.storing : texts.checking)(
              format.number(progress.size),
              format.number(sent.length),
            )}
          </Text>
          <Progress value={(100 * progress.size) / Math.max(1, sent.length)} aria-label={texts.progress} />
        </Stack>
      )}
      {preview.error !== null && !isDone && (
        <ProblemAlert
          error={preview.error}
          onRetry={() => {
            void preview.refetch();
          }}
        />
      )}
      {store.error !== null && (
        <>
          {progress.size > 0 && <Text>{texts.stopped(format.number(progress.size), format.number(sent.length))}</Text>}
          <ProblemAlert
            error={store.error}
            onRetry={() => {
              store.mutate();
            }}
          />
        </>
      )}
      {outcomes !== undefined && (
        <>
          <Group justify="space-between" gap="sm">
            <Text fw={500} role={isDone ? 'status' : undefined}>
              {summary(prompts, outcomes, isDone ? texts.done : texts.planned, format.number)}
            </Text>
            {!isDone && (
              <Group gap="xs">
                {refused > 0 && (
                  <Button
                    variant="default"
                    onClick={() => {
                      setPrompts(prompts.filter((prompt) => !isRefused(prompt)));
                    }}
                  >
                    {texts.leaveOut(refused)}
                  </Button>
                )}
                <Button
                  disabled={refused > 0 || prompts.length === 0 || preview.isFetching}
                  loading={store.isPending}
                  onClick={() => {
                    store.mutate();
                  }}
                >
                  {texts.submit(format.number(prompts.length), prompts.length)}
                </Button>
              </Group>
            )}
          </Group>
          {refused > 0 && <Text c="dimmed">{texts.refusedHint}</Text>}
          <OutcomeTable prompts={prompts} outcomes={outcomes} isDone={isDone} />
        </>
      )}
    </Stack>
  );
}

/** 12 new · 3 changed */
function summary(
  prompts: readonly ReadPrompt[],
  outcomes: Outcomes,
  names: Readonly<Record<string, string>>,
  toText: (count: number) => string,
): string {
  const statuses = prompts.map(({ isRepeated, prompt: { slug } }) =>
    isRepeated ? 'refused' : (outcomes.get(slug)?.status ?? ''),
  );
  return Object.entries(names)
    .map(([status, name]) => ({ name, count: statuses.filter((one) => one === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${name}: ${toText(count)}`)
    .join(' · ');
}
