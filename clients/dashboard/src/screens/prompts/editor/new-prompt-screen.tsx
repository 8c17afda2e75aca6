import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { Page } from '../../../shared/page.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { UnsavedChanges } from '../../../shared/unsaved-changes.tsx';
import { versioned } from '../../../shared/versioned.ts';
import { createOf, emptyDraft, hasMistakes, mistakesOf, sameDraft, type PromptDraft } from '../content/prompt-draft.ts';
import { noValues } from '../content/variable-values.ts';
import { keepSaved } from '../save-cache.ts';
import { PromptForm } from './prompt-form.tsx';
import { SaveBar } from './save-bar.tsx';
import { ServiceMistakesContext } from './service-mistakes.ts';
import { stillWrong } from './still-wrong.ts';

/** Creates a prompt with the same form that edits one. */
export function NewPromptScreen(): ReactNode {
  const { prompts, shared } = useTexts();
  const texts = prompts.create;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [empty] = useState(emptyDraft);
  const [draft, setDraft] = useState(empty);
  const [values, setValues] = useState(noValues);
  const [isChecked, setChecked] = useState(false);
  const mistakes = useMemo(() => mistakesOf(draft, true), [draft]);
  const isWrong = hasMistakes(mistakes);
  const isCreated = useRef(false);

  const creation = useMutation({
    mutationFn: (sent: PromptDraft) => versioned(gateway.prompts.create(createOf(sent))),
    onSuccess: async (created) => {
      isCreated.current = true;
      await keepSaved(queryClient, created);
      await navigate({ to: '/prompts/$promptId', params: { promptId: created.data.id }, replace: true });
    },
  });

  const { error, variables: sent } = creation;
  const refused = useMemo(() => stillWrong(error, sent, draft), [error, sent, draft]);

  return (
    <Page
      title={texts.title}
      description={texts.description}
      breadcrumbs={[{ to: '/prompts', label: prompts.list.title }]}
    >
      <ServiceMistakesContext value={refused}>
        <PromptForm
          draft={draft}
          setDraft={setDraft}
          values={values}
          setValues={setValues}
          mistakes={mistakes}
          isChecked={isChecked}
          isReadOnly={false}
          isNew
        />
      </ServiceMistakesContext>
      <SaveBar
        text={isWrong && isChecked ? prompts.editor.mistakes : texts.hint}
        isWrong={isWrong && isChecked}
        submit={texts.submit}
        isPending={creation.isPending}
        error={error}
        discard={shared.cancel}
        onSubmit={() => {
          setChecked(true);
          if (!isWrong) creation.mutate(draft);
        }}
        onDiscard={() => {
          void navigate({ to: '/prompts' });
        }}
      />
      <UnsavedChanges isDirty={() => !isCreated.current && !sameDraft(draft, empty)} />
    </Page>
  );
}
