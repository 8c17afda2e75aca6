import { Button, Group, NativeSelect, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDatabasePlus } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../shared/dialog.tsx';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { LinkButton } from '../../shared/links.tsx';
import { useNotify } from '../../shared/notify.ts';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useOwnTexts, useTexts } from '../../shared/texts.tsx';
import { datasets } from '../../texts/datasets.ts';
import { datasetKeys, useDatasetChoice } from './queries.ts';

/** An answer that can be the expected one. */
export interface PossibleAnswer {
  readonly name: string;
  readonly expected: NonNullable<Schemas['DatasetCaseInput']['expected']>;
}

/** What a case is made of. */
export type CaseSource =
  | { readonly invocation: Pick<Schemas['Invocation'], 'id' | 'content_kept'> }
  | { readonly variables: Schemas['VariableValues']; readonly answers: readonly PossibleAnswer[] };

/** Adds a case to a data set, for keys that may do so. */
export function AddToDataset({ source }: { source: CaseSource }): ReactNode {
  const { add: texts } = useOwnTexts(datasets);
  const canRead = useScope('datasets:read');
  const canWrite = useScope('datasets:write');
  const canReadContent = useScope('invocations:content');
  const [isOpen, { open, close }] = useDisclosure(false);
  if (!canRead || !canWrite || ('invocation' in source && !canReadContent)) return null;
  return (
    <>
      <Button variant="default" leftSection={<IconDatabasePlus size={16} />} onClick={open}>
        {texts.button}
      </Button>
      <Dialog opened={isOpen} onClose={close} title={texts.title}>
        {'invocation' in source && source.invocation.content_kept !== true ? (
          <Text>{texts.notKept}</Text>
        ) : (
          <AddForm source={source} onClose={close} />
        )}
      </Dialog>
    </>
  );
}

function AddForm({ source, onClose }: { source: CaseSource; onClose: () => void }): ReactNode {
  const { add: texts, version } = useOwnTexts(datasets);
  const { shared } = useTexts();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const choice = useDatasetChoice();
  const [name, setName] = useState<string | null>(null);
  const [chosen, setChosen] = useState('');
  const answers = 'answers' in source ? source.answers : [];
  const add = useMutation({
    mutationFn: (to: string) => {
      if ('invocation' in source) return gateway.datasets.addCases(to, { from_invocations: [source.invocation.id] });
      const answer = answers[Number(chosen)];
      const expected = chosen !== '' && answer !== undefined && { expected: answer.expected };
      return gateway.datasets.addCases(to, { cases: [{ variables: source.variables, ...expected }] });
    },
    onSuccess: (after, to) => {
      const before = choice.data?.find((one) => one.name === to);
      notify(after.version === before?.version ? texts.there(to) : texts.done(to, after.version));
      void queryClient.invalidateQueries({ queryKey: datasetKeys.all });
      onClose();
    },
  });
  return (
    <Stack>
      <Text>{'invocation' in source ? texts.ofInvocation : texts.ofRun}</Text>
      {choice.error !== null && <ProblemAlert error={choice.error} onRetry={() => void choice.refetch()} />}
      {choice.data?.length === 0 ? (
        <Group>
          <Text>{texts.noSets}</Text>
          <LinkButton to="/dataset-import" variant="default">
            {texts.toImport}
          </LinkButton>
        </Group>
      ) : (
        <Select
          label={texts.dataset}
          placeholder={texts.choose}
          searchable
          data={(choice.data ?? []).map((one) => ({
            value: one.name,
            label: `${one.name} (${version(one.version)})`,
          }))}
          value={name}
          onChange={setName}
        />
      )}
      {answers.length > 0 && (
        <NativeSelect
          label={texts.expected}
          data={[
            { value: '', label: texts.noExpected },
            ...answers.map((answer, index) => ({ value: String(index), label: answer.name })),
          ]}
          value={chosen}
          onChange={(event) => {
            setChosen(event.currentTarget.value);
          }}
        />
      )}
      {add.error !== null && <ProblemAlert error={add.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {shared.cancel}
        </Button>
        <Button
          disabled={name === null}
          loading={add.isPending}
          onClick={() => {
            if (name !== null) add.mutate(name);
          }}
        >
          {texts.submit}
        </Button>
      </Group>
    </Stack>
  );
}
