import { Skeleton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { promptName } from '../../../generated/limits.ts';
import { focusMistake } from '../../../shared/form-problem.ts';
import { Page } from '../../../shared/page.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { UnsavedChanges } from '../../../shared/unsaved-changes.tsx';
import { versioned } from '../../../shared/versioned.ts';
import {
  createOf,
  draftOf,
  emptyDraft,
  hasMistakes,
  mistakesOf,
  sameDraft,
  type PromptDraft,
} from '../content/prompt-draft.ts';
import { noValues } from '../content/variable-values.ts';
import { usePrompt, useProviders } from '../prompt-queries.ts';
import { keepSaved } from '../save-cache.ts';
import { PromptForm } from './prompt-form.tsx';
import { SaveBar } from './save-bar.tsx';
import { ServiceMistakesContext } from './service-mistakes.ts';
import { stillWrong } from './still-wrong.ts';

const route = getRouteApi('/prompts/new');

/**
 * Creates a prompt with the same form that edits one. It begins with a provider that can run it, or as a copy of the
 * prompt `from`.
 */
export function NewPromptScreen(): ReactNode {
  const { prompts } = useTexts();
  const texts = prompts.create;
  const { from } = route.useSearch();
  const providers = useProviders();
  const original = usePrompt(from ?? '', from !== undefined);
  const start = useMemo(() => {
    if (from === undefined) return providers.isPending ? undefined : draftFor(providers.data ?? []);
    if (original.data === undefined) return undefined;
    const copied = draftOf(original.data.data);
    return { ...copied, slug: '', name: texts.copyOf(copied.name).slice(0, promptName.maxLength) };
  }, [from, providers.isPending, providers.data, original.data, texts]);
  return (
    <Page
      title={texts.title}
      description={texts.description}
      breadcrumbs={[{ to: '/prompts', label: prompts.list.title }]}
    >
      {start !== undefined ? (
        <NewPrompt key={from} start={start} />
      ) : original.error === null ? (
        <Skeleton h={320} />
      ) : (
        <ProblemAlert error={original.error} />
      )}
    </Page>
  );
}

/** An empty draft with the first provider that is configured; `echo` only if there is no other. */
function draftFor(providers: readonly Schemas['Provider'][]): PromptDraft {
  const configured = providers.filter((provider) => provider.configured);
  const first = configured.find(({ id }) => id !== 'echo') ?? configured[0];
  return { ...emptyDraft(), provider: first?.id ?? '' };
}

function NewPrompt({ start }: { start: PromptDraft }): ReactNode {
  const { prompts, shared } = useTexts();
  const texts = prompts.create;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [empty] = useState(start);
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
    <>
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
          if (isWrong) focusMistake();
          else creation.mutate(draft);
        }}
        onDiscard={() => {
          void navigate({ to: '/prompts' });
        }}
      />
      <UnsavedChanges isDirty={() => !isCreated.current && !sameDraft(draft, empty)} />
    </>
  );
}
