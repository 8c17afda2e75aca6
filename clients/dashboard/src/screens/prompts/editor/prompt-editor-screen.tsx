import { Alert, Button, Group } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconLock, IconUserEdit } from '@tabler/icons-react';
import { useMemo, useState, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { ConflictDialog } from '../../../shared/conflict-dialog.tsx';
import { focusMistake } from '../../../shared/form-problem.ts';
import { useTexts } from '../../../shared/texts.tsx';
import type { Texts } from '../../../texts/en.ts';
import { hasMistakes, mistakesOf, type PromptDraft } from '../content/prompt-draft.ts';
import { messagesText, variablesText, type ContentWords } from '../content/content-text.ts';
import { generationText } from '../generation/sections.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { PromptForm } from './prompt-form.tsx';
import { SaveBar } from './save-bar.tsx';
import { ServiceMistakesContext } from './service-mistakes.ts';
import { useSavePrompt } from './use-save-prompt.ts';

/** The editor of a stored prompt. */
export function PromptEditorScreen(): ReactNode {
  const { draft, setDraft, values, setValues, isDirty, base, stored, rebase } = useWorkspace();
  const { prompts } = useTexts();
  const texts = prompts.editor;
  const canWrite = useScope('prompts:write');
  const [isChecked, setChecked] = useState(false);
  const mistakes = useMemo(() => mistakesOf(draft, false), [draft]);
  const saving = useSavePrompt();
  const isWrong = hasMistakes(mistakes);

  const save = (): void => {
    setChecked(true);
    if (isDirty && isWrong) focusMistake();
    if (isDirty && !isWrong && !saving.isSaving && canWrite) saving.save();
  };
  useHotkeys([['mod+S', save]], [], true);

  // A moved label changes the ETag, and nothing that is edited here.
  const isOutdated = stored.data.updated_at !== base.data.updated_at && isDirty && !saving.isSaving;
  const { conflict } = saving;
  return (
    <>
      {!canWrite && (
        <Alert color="gray" icon={<IconLock />}>
          {texts.readOnly}
        </Alert>
      )}
      {isOutdated && (
        <Alert color="yellow" icon={<IconUserEdit />} title={texts.outdated}>
          <Group gap="xs">
            {texts.outdatedText}
            <Button size="compact-sm" variant="default" onClick={saving.compare}>
              {texts.compare}
            </Button>
          </Group>
        </Alert>
      )}
      <ServiceMistakesContext value={saving.mistakes}>
        <PromptForm
          draft={draft}
          setDraft={setDraft}
          values={values}
          setValues={setValues}
          mistakes={mistakes}
          isChecked={isChecked}
          isReadOnly={!canWrite}
          isNew={false}
        />
      </ServiceMistakesContext>
      {isDirty && (
        <SaveBar
          text={isWrong && isChecked ? texts.mistakes : texts.unsaved}
          isWrong={isWrong && isChecked}
          submit={texts.save}
          onSubmit={save}
          isPending={saving.isSaving}
          error={conflict === undefined ? saving.error : undefined}
          note={{ value: saving.note, onChange: saving.setNote }}
          discard={texts.discard}
          onDiscard={() => {
            setChecked(false);
            rebase(stored, false);
          }}
        />
      )}
      <ConflictDialog
        conflict={
          conflict && {
            mine: comparable(conflict.mine, prompts),
            theirs: comparable(conflict.theirs, prompts),
          }
        }
        labels={texts.fields}
        isPending={saving.isSaving}
        error={saving.error}
        onKeepMine={saving.keepMine}
        onTakeTheirs={saving.takeTheirs}
        onClose={saving.decideLater}
      />
    </>
  );
}

/** A draft as texts that can be compared by field. */
function comparable(
  draft: PromptDraft,
  { contentWords: words }: { contentWords: ContentWords },
): Record<keyof Texts['prompts']['editor']['fields'], string> {
  const { name, slug, description, messages, variables, strict, provider, model, testSettings, invocationContent } =
    draft;
  return {
    name,
    slug,
    description,
    testSettings,
    invocationContent,
    messages: messagesText(messages, words),
    variables: variablesText(variables, words),
    strict: strict ? words.yes : words.no,
    generation: generationText(draft.generation, words.generation),
    target: [provider, model].filter((part) => part !== '').join(' / '),
  };
}
