import { Alert, Autocomplete, Button, Group, NativeSelect, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Schemas } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../../shared/dialog.tsx';
import { gateway } from '../../../app/gateway.ts';
import { labelName } from '../../../generated/limits.ts';
import { fits } from '../../../shared/limits.ts';
import { useNotify } from '../../../shared/notify.ts';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { versionNumber, versionOptions } from '../content/version-options.ts';
import { Comparison } from '../history/comparison.tsx';
import { useProviders, useVersion } from '../prompt-queries.ts';
import { OvertakenAlert } from './overtaken-alert.tsx';
import { useReleaseCheck, type ReleaseCheck } from './release-check.tsx';
import { useLabelChange } from './use-label-change.ts';

/** What a dialog begins with: the label to move, or none; and the version that it shall name. */
export interface LabelTarget {
  readonly name?: string;
  readonly version: number;
}

interface SetLabelProps {
  readonly promptId: string;
  readonly newest: number;
  /** The labels that the prompt has. */
  readonly labels: readonly Schemas['Label'][];
  readonly target: LabelTarget;
  readonly onClose: () => void;
}

/** Creates or moves a label, after it has shown what changes for those who invoke by it. */
export function SetLabelDialog({ isOpen, ...props }: SetLabelProps & { readonly isOpen: boolean }): ReactNode {
  const { labels } = useTexts();
  const { target, onClose } = props;
  return (
    <Dialog
      opened={isOpen}
      onClose={onClose}
      size={960}
      title={target.name === undefined ? labels.form.newTitle : labels.form.moveTitle(target.name)}
    >
      <SetLabelForm {...props} />
    </Dialog>
  );
}

function SetLabelForm({ promptId, newest, labels, target, onClose }: SetLabelProps): ReactNode {
  const { shared, labels: allTexts, prompts } = useTexts();
  const { form: texts } = allTexts;
  const notify = useNotify();
  const [name, setName] = useState(target.name ?? '');
  const [version, setVersion] = useState(target.version);
  const [isChecked, setChecked] = useState(false);
  const isValid = fits(name, labelName);
  const change = useLabelChange({
    promptId,
    name,
    isListed: labels.some((label) => label.name === name),
    send: (current, members: ReleaseCheck['members']) =>
      gateway.labels.set(
        promptId,
        name,
        { version, ...members },
        current === undefined ? { ifNoneMatch: '*' } : { ifMatch: current.etag },
      ),
    onDone: () => {
      notify(texts.done(name, version));
      onClose();
    },
  });
  const from = change.current?.data.version;
  const isSame = from === version;
  const check = useReleaseCheck({ promptId, name, version, from });
  const isBlocked = isSame || change.isReading || check.isBlocked;
  const cannotRun = useReasonNotToRun(promptId, version);

  return (
    <Stack
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (isValid && !isBlocked && !change.isPending) change.submit(check.members);
      }}
    >
      <SimpleGrid cols={{ base: 1, xs: target.name === undefined ? 2 : 1 }} spacing="sm">
        {target.name === undefined && (
          <Autocomplete
            label={texts.name}
            description={texts.nameHint}
            placeholder={texts.namePlaceholder}
            data={labels.map((label) => label.name)}
            value={name}
            maxLength={labelName.maxLength}
            spellCheck={false}
            data-autofocus
            error={!isValid && (isChecked || name !== '') && texts.nameMistake}
            onChange={(value) => {
              setName(value.trim());
            }}
          />
        )}
        <NativeSelect
          label={texts.version}
          description={texts.versionHint}
          data-autofocus={target.name === undefined ? undefined : true}
          value={String(version)}
          data={versionOptions(newest, version, (one) =>
            one === newest ? prompts.history.currentVersion(one) : prompts.history.version(one),
          )}
          onChange={(event) => {
            setVersion(versionNumber(event.currentTarget.value) ?? version);
          }}
        />
      </SimpleGrid>
      <OvertakenAlert name={name} change={change} />
      {cannotRun !== undefined && (
        <Alert color="yellow" icon={<IconAlertTriangle />}>
          {cannotRun}
        </Alert>
      )}
      {check.content}
      {change.isReading ? (
        <Skeleton h={160} />
      ) : (
        isValid && (
          <Stack gap="xs">
            <Text size="sm" fw={500}>
              {from === undefined
                ? texts.creates(name, version)
                : isSame
                  ? texts.same(name, version)
                  : texts.difference(name, from, version)}
            </Text>
            {from !== undefined && !isSame && (
              <>
                {check.breaking}
                <Comparison id={promptId} before={from} after={version} isFolded />
                <Text size="sm" c="dimmed">
                  {texts.effect}
                </Text>
              </>
            )}
          </Stack>
        )
      )}
      {check.gate}
      {change.error !== null && <ProblemAlert error={change.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} disabled={change.isPending}>
          {shared.cancel}
        </Button>
        <Button type="submit" loading={change.isPending} disabled={isBlocked}>
          {!isValid
            ? texts.newTitle
            : from === undefined
              ? texts.createSubmit(name, version)
              : texts.moveSubmit(name, version)}
        </Button>
      </Group>
    </Stack>
  );
}

/** Why invocations of a version that name no provider themselves are refused, if they are. */
function useReasonNotToRun(promptId: string, version: number): string | undefined {
  const { cannotRun: texts } = useTexts().labels;
  const { data: content } = useVersion(promptId, version);
  const { data: providers } = useProviders();
  if (content === undefined || providers === undefined) return undefined;
  const { selected_provider: selected } = content;
  if (selected === undefined) return texts.noProvider(version);
  const isConfigured = providers.some(({ id, configured }) => id === selected && configured);
  return isConfigured ? undefined : texts.notConfigured(version, selected);
}
