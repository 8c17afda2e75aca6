import { useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useContent } from '../../invocations/queries.ts';
import { draftOf, sameDraft, type PromptDraft } from '../content/prompt-draft.ts';
import { versionNumber } from '../content/version-options.ts';
import { noValues, type VariableValues } from '../content/variable-values.ts';
import type { StoredPrompt } from '../prompt-queries.ts';
import { useInvocations } from './use-invocations.ts';
import type { PlaygroundSettings, TestTarget, Workspace } from './workspace-context.ts';

const firstSettings: PlaygroundSettings = {
  run: {},
  others: [],
  provider: '',
  model: '',
  cache: 'default',
  maxAge: 3600,
  parameters: {},
  messages: [],
  ignoresUnsupported: false,
  isStreamed: true,
};

/** Keeps what is typed for one prompt. A change by someone else replaces a draft without changes, and no other. */
export function useWorkspaceState(stored: StoredPrompt): Workspace {
  const [seen, setSeen] = useState(stored);
  const [base, setBase] = useState(stored);
  const [draft, setDraft] = useState<PromptDraft>(() => draftOf(stored.data));
  const [values, setValues] = useState(noValues);
  const { version, provider = '', model = '', invocation } = useSearch({ strict: false });
  const opened = useContent(invocation);
  const [taken, setTaken] = useState<typeof opened.data>();
  const [playground, setPlayground] = useState<PlaygroundSettings>(() => ({
    ...firstSettings,
    run: { version: versionNumber(version) },
    provider,
    model,
  }));
  const [testTargets, setTestTargets] = useState<readonly TestTarget[]>(() => [firstTarget(stored)]);
  const invocations = useInvocations(stored.data.id);
  const clean = useMemo(() => draftOf(base.data), [base]);
  const isDirty = useMemo(() => !sameDraft(draft, clean), [draft, clean]);

  const rebase = useCallback((to: StoredPrompt, keepDraft: boolean) => {
    setBase(to);
    if (!keepDraft) setDraft(draftOf(to.data));
  }, []);

  if (stored !== seen) {
    setSeen(stored);
    if (stored.etag !== base.etag && !isDirty) rebase(stored, false);
  }

  if (opened.data !== undefined && opened.data !== taken) {
    setTaken(opened.data);
    setValues({ values: (opened.data.variables ?? {}) as VariableValues['values'], json: undefined });
  }

  return {
    stored,
    base,
    draft,
    isDirty,
    setDraft,
    rebase,
    values,
    setValues,
    playground,
    setPlayground,
    invocations,
    testTargets,
    setTestTargets,
  };
}

function firstTarget({ data }: StoredPrompt): TestTarget {
  const { selected_provider: provider = 'echo', selected_model: model = '' } = data;
  return { key: crypto.randomUUID(), provider, model };
}
