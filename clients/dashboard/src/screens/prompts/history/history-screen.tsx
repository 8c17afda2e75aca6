import { NativeSelect, Stack, Switch, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconHistory } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { EmptyState } from '../../../shared/empty-state.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { versionNumber, versionOptions } from '../content/version-options.ts';
import { LabelSection } from '../labels/label-section.tsx';
import { SetLabelDialog, type LabelTarget } from '../labels/set-label-dialog.tsx';
import { useLabels } from '../prompt-queries.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { Comparison } from './comparison.tsx';
import classes from './history.module.css';
import { useVersionFeedback } from './version-feedback.ts';
import { VersionTable } from './version-table.tsx';

const route = getRouteApi('/prompts/$promptId/history');

/** The versions of a prompt: its labels, two versions side by side, and all in a table. */
export function HistoryScreen(): ReactNode {
  const { prompts } = useTexts();
  const texts = prompts.history;
  const { id, version: newest } = useWorkspace().stored.data;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const after = Math.min(versionNumber(search.after) ?? newest, newest);
  const before = Math.min(versionNumber(search.before) ?? Math.max(1, after - 1), newest);
  const [isFolded, setFolded] = useState(true);
  const canRelease = useScope('prompts:release');
  const { data: labels = [] } = useLabels(id);
  const feedback = useVersionFeedback(id);
  const [target, setTarget] = useState<LabelTarget>({ version: newest });
  const [isSetting, setting] = useDisclosure(false);
  const setLabel = (chosen: LabelTarget): void => {
    setTarget(chosen);
    setting.open();
  };

  const select = (label: string, value: number, name: 'before' | 'after'): ReactNode => (
    <NativeSelect
      size="xs"
      label={label}
      value={String(value)}
      data={versionOptions(newest, value, (version) =>
        version === newest ? texts.currentVersion(version) : texts.version(version),
      )}
      onChange={(event) => {
        void navigate({
          to: '.',
          search: { before: String(before), after: String(after), [name]: event.currentTarget.value },
          replace: true,
          resetScroll: false,
        });
      }}
    />
  );

  return (
    <Stack gap="xl">
      <LabelSection onSet={canRelease ? setLabel : undefined} />
      {newest === 1 ? (
        <EmptyState icon={IconHistory} title={texts.emptyTitle} text={texts.emptyText} />
      ) : (
        <>
          <Stack gap="sm" component="section" aria-label={texts.compare}>
            <div className={classes.controls}>
              {select(texts.before, before, 'before')}
              {select(texts.after, after, 'after')}
              <Switch
                size="xs"
                label={texts.onlyChanges}
                checked={isFolded}
                className={classes.fold}
                onChange={(event) => {
                  setFolded(event.currentTarget.checked);
                }}
              />
            </div>
            {(feedback.has(before) || feedback.has(after)) && (
              <Text size="sm" c="dimmed">
                {texts.feedback}{' '}
                {[before, after]
                  .map((version) => `${texts.version(version)}: ${feedback.get(version) ?? texts.noFeedback}`)
                  .join(' · ')}
              </Text>
            )}
            <Comparison id={id} before={before} after={after} isFolded={isFolded} />
          </Stack>
          <VersionTable labels={labels} feedback={feedback} onSetLabel={canRelease ? setLabel : undefined} />
        </>
      )}
      <SetLabelDialog
        promptId={id}
        newest={newest}
        labels={labels}
        target={target}
        isOpen={isSetting}
        onClose={setting.close}
      />
    </Stack>
  );
}
