import { useMutation, useQueryClient } from '@tanstack/react-query';
import { PreconditionFailedError } from 'prompt-gateway-client';
import { useMemo, useState } from 'react';
import { gateway } from '../../../app/gateway.ts';
import { useNotify } from '../../../shared/notify.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { versioned } from '../../../shared/versioned.ts';
import { changesOf } from '../content/prompt-draft.ts';
import { promptKeys, type StoredPrompt } from '../prompt-queries.ts';
import { keepSaved } from '../save-cache.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { ServiceMistakes } from './service-mistakes.ts';
import { stillWrong } from './still-wrong.ts';

/** Saving the draft of the workspace, and deciding when someone else has saved in between. */
export interface SavePrompt {
  readonly save: () => void;
  /** About the version that is saved. Optional. */
  readonly note: string;
  readonly setNote: (note: string) => void;
  readonly isSaving: boolean;
  /** Why saving failed, other than by a change of someone else. */
  readonly error: unknown;
  readonly mistakes: ServiceMistakes;
  /** The prompt as someone else has saved it. */
  readonly theirs: StoredPrompt | undefined;
  readonly compare: () => void;
  readonly keepMine: () => void;
  readonly takeTheirs: () => void;
  readonly decideLater: () => void;
}

/** Saves with `If-Match`, so that no change of someone else is overwritten unseen. */
export function useSavePrompt(): SavePrompt {
  const { draft, base, stored, rebase } = useWorkspace();
  const { done } = useTexts().prompts.editor;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [theirs, setTheirs] = useState<StoredPrompt>();
  const [sent, setSent] = useState(draft);
  const [note, setNote] = useState('');

  const mutation = useMutation({
    mutationFn: async (on: StoredPrompt): Promise<StoredPrompt | undefined> => {
      const { id } = on.data;
      try {
        const change = { ...changesOf(draft, on.data), ...(note.trim() !== '' && { note: note.trim() }) };
        return await versioned(gateway.prompts.update(id, change, { ifMatch: on.etag }));
      } catch (error) {
        if (!(error instanceof PreconditionFailedError)) throw error;
        setTheirs(await versioned(gateway.prompts.get(id)));
        return undefined;
      }
    },
    onSuccess: async (saved, on) => {
      if (saved === undefined) return;
      setTheirs(undefined);
      setNote('');
      rebase(saved, true);
      await keepSaved(queryClient, saved);
      const isNewVersion = saved.data.version !== on.data.version;
      notify(isNewVersion ? done.version(saved.data.version) : done.metadata);
    },
  });

  const { error } = mutation;
  const mistakes = useMemo(() => stillWrong(error, sent, draft), [error, sent, draft]);
  return {
    save: () => {
      setSent(draft);
      mutation.mutate(base);
    },
    note,
    setNote,
    isSaving: mutation.isPending,
    error,
    mistakes,
    theirs,
    compare: () => {
      setTheirs(stored);
    },
    keepMine: () => {
      if (theirs !== undefined) mutation.mutate(theirs);
    },
    takeTheirs: () => {
      if (theirs === undefined) return;
      rebase(theirs, false);
      setTheirs(undefined);
      queryClient.setQueryData(promptKeys.prompt(theirs.data.id), theirs);
    },
    decideLater: () => {
      setTheirs(undefined);
    },
  };
}
