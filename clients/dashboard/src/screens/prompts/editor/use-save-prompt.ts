import { useMutation, useQueryClient } from '@tanstack/react-query';
import { PreconditionFailedError } from 'prompt-gateway-client';
import { useMemo, useState } from 'react';
import { gateway } from '../../../app/gateway.ts';
import type { Merged } from '../../../shared/merge.ts';
import { useNotify } from '../../../shared/notify.ts';
import { useTexts } from '../../../shared/texts.tsx';
import { versioned } from '../../../shared/versioned.ts';
import { mergeDrafts } from '../content/merge-drafts.ts';
import { changesOf, draftOf, sameDraft, type PromptDraft } from '../content/prompt-draft.ts';
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
  /** The draft and the state of someone else, if both changed the same. */
  readonly conflict: Merged<PromptDraft> | undefined;
  readonly compare: () => void;
  readonly keepMine: () => void;
  readonly takeTheirs: () => void;
  readonly decideLater: () => void;
}

/**
 * Saves with `If-Match`, so that no change of someone else is overwritten unseen. What someone else changed in between
 * is merged with the draft; only what both changed is asked about.
 */
export function useSavePrompt(): SavePrompt {
  const { draft, setDraft, base, stored, rebase } = useWorkspace();
  const { prompts, shared } = useTexts();
  const { done } = prompts.editor;
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [conflict, setConflict] = useState<Merged<PromptDraft> & { readonly on: StoredPrompt }>();
  const [sent, setSent] = useState(draft);
  const [note, setNote] = useState('');

  const mutation = useMutation({
    mutationFn: async (start: { on: StoredPrompt; draft: PromptDraft }) => {
      let { on, draft: wanted } = start;
      for (;;) {
        const { id } = on.data;
        try {
          const change = { ...changesOf(wanted, on.data), ...(note.trim() !== '' && { note: note.trim() }) };
          return { saved: await versioned(gateway.prompts.update(id, change, { ifMatch: on.etag })), on };
        } catch (error) {
          if (!(error instanceof PreconditionFailedError)) throw error;
        }
        const theirs = await versioned(gateway.prompts.get(id));
        const merged = mergeDrafts(draftOf(on.data), wanted, draftOf(theirs.data));
        if (!sameDraft(merged.mine, merged.theirs)) return { met: { ...merged, on: theirs } };
        [on, wanted] = [theirs, merged.mine];
      }
    },
    onSuccess: async ({ saved, on, met }, start) => {
      setConflict(met);
      if (saved === undefined) return;
      setNote('');
      rebase(saved, true);
      const isMerged = on !== start.on;
      // What was typed since stays.
      if (isMerged) setDraft((now) => mergeDrafts(start.draft, now, draftOf(saved.data)).mine);
      await keepSaved(queryClient, saved);
      const isNewVersion = saved.data.version !== on.data.version;
      notify(isNewVersion ? done.version(saved.data.version) : done.metadata);
      if (isMerged) notify(shared.conflict.merged);
    },
  });

  /** Goes on from the state of someone else. */
  const take = (on: StoredPrompt, merged: PromptDraft): void => {
    rebase(on, true);
    setDraft(() => merged);
    queryClient.setQueryData(promptKeys.prompt(on.data.id), on);
    setConflict(undefined);
  };

  const { error } = mutation;
  const mistakes = useMemo(() => stillWrong(error, sent, draft), [error, sent, draft]);
  return {
    save: () => {
      setSent(draft);
      mutation.mutate({ on: base, draft });
    },
    note,
    setNote,
    isSaving: mutation.isPending,
    error,
    mistakes,
    conflict,
    compare: () => {
      const merged = mergeDrafts(draftOf(base.data), draft, draftOf(stored.data));
      if (sameDraft(merged.mine, merged.theirs)) take(stored, merged.mine);
      else setConflict({ ...merged, on: stored });
    },
    keepMine: () => {
      if (conflict === undefined) return;
      rebase(conflict.on, true);
      setDraft(() => conflict.mine);
      mutation.mutate({ on: conflict.on, draft: conflict.mine });
    },
    takeTheirs: () => {
      if (conflict !== undefined) take(conflict.on, conflict.theirs);
    },
    decideLater: () => {
      setConflict(undefined);
    },
  };
}
