import { Button, Checkbox, Group, MultiSelect, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../../shared/dialog.tsx';
import { gateway, serviceUrl } from '../../../app/gateway.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';

const fileName = 'prompts.jsonl';
const found = 20;

/** Writes prompts into a file: all of them, or those that are chosen. */
export function ExportDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { transfer, shared } = useTexts();
  const { export: texts } = transfer;
  const [chosen, setChosen] = useState<readonly Option[]>([]);
  const [q, setQ] = useState('');
  const [hasAll, setHasAll] = useState(true);
  const versions = hasAll ? 'all' : 'current';
  const options = useOptions(q, chosen);
  const some = useMutation({
    mutationFn: async () => {
      const lines = await gateway.prompts.export({ versions });
      const slugs = new Set(chosen.map(({ value }) => value));
      const wanted = lines.split('\n').filter((line) => slugs.has(/^\{"slug":"([^"]*)"/.exec(line)?.[1] ?? ''));
      save(new Blob([wanted.map((line) => `${line}\n`).join('')]));
    },
    onSuccess: onClose,
  });
  return (
    <Dialog opened onClose={onClose} title={texts.title}>
      <Stack>
        {/* The choice of prompts would open its list. */}
        <Text tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
          {texts.text}
        </Text>
        <MultiSelect
          label={texts.which}
          placeholder={chosen.length === 0 ? texts.all : undefined}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': texts.clear }}
          nothingFoundMessage={texts.nothing}
          data={options}
          filter={({ options: given }) => given}
          value={chosen.map(({ value }) => value)}
          searchValue={q}
          onSearchChange={setQ}
          onChange={(values) => {
            setChosen(values.flatMap((value) => options.find((one) => one.value === value) ?? []));
          }}
        />
        <Checkbox
          label={texts.allVersions}
          description={texts.allVersionsDescription}
          checked={hasAll}
          onChange={(event) => {
            setHasAll(event.currentTarget.checked);
          }}
        />
        {some.isError && <ProblemAlert error={some.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {shared.cancel}
          </Button>
          {chosen.length === 0 ? (
            // The browser writes it into the file as it arrives.
            <Button
              component="a"
              href={`${serviceUrl}api/v1/prompts/export?versions=${versions}`}
              download={fileName}
              onClick={onClose}
            >
              {texts.submit}
            </Button>
          ) : (
            <Button
              loading={some.isPending}
              onClick={() => {
                some.mutate();
              }}
            >
              {texts.submit}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}

/** A prompt by its slug. */
interface Option {
  readonly value: string;
  readonly label: string;
}

/** The prompts that are chosen, and those that were found. */
function useOptions(q: string, chosen: readonly Option[]): Option[] {
  const [settled] = useDebouncedValue(q.trim(), 150);
  const { data } = useQuery({
    queryKey: ['prompts', 'to-export', settled],
    queryFn: async ({ signal }) => {
      const wanted = { limit: found, ...(settled !== '' && { q: settled }) };
      return (await gateway.prompts.list(wanted, { signal })).data;
    },
    placeholderData: (before) => before,
  });
  const listed = (data ?? []).map(({ slug, name }): Option => ({ value: slug, label: name }));
  return [...new Map([...chosen, ...listed].map((one) => [one.value, one])).values()];
}

function save(content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
