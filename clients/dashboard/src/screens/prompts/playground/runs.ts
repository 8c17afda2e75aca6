import type { Schemas } from 'prompt-gateway-client';
import { listVariables, type TemplateVariable } from 'prompt-gateway-client/template';
import { useMemo } from 'react';
import { contentChangesOf } from '../content/prompt-draft.ts';
import { chosenVersion, runMembers } from '../content/run-select.tsx';
import { allVariables, type VariableValues } from '../content/variable-values.ts';
import { useEachVersion } from '../prompt-queries.ts';
import type { InvocationRequest } from '../workspace/use-invocations.ts';
import { useWorkspace, type PlaygroundSettings } from '../workspace/workspace-context.ts';

/** What is in the editor and not saved, as changes of a version. */
export interface Draft {
  readonly version: number;
  readonly changes: Schemas['PromptDraft'];
}

/** The draft of the workspace; undefined if there is none, or it cannot run. */
export function useDraft(canWrite: boolean): Draft | undefined {
  const { draft, base, isDirty } = useWorkspace();
  return useMemo(() => {
    const changes = isDirty && canWrite ? contentChangesOf(draft, base.data) : undefined;
    return changes && { version: base.data.version, changes };
  }, [draft, base, isDirty, canWrite]);
}

export interface Runs {
  /** Those of all that runs. */
  readonly variables: readonly TemplateVariable[];
  /** One for each run. */
  readonly requests: readonly InvocationRequest[];
  /** Why a version cannot be read. */
  readonly error: unknown;
}

/** What the playground runs: the same values on each version and model. */
export function useRuns(draft: Draft | undefined): Runs {
  const { stored, base, playground, values } = useWorkspace();
  const { data: prompt } = stored;
  const runs = [
    playground,
    ...playground.others.map(({ run, ...target }) => ({ ...playground, ...(run === undefined ? target : { run }) })),
  ];
  const versions = runs.map(({ run }) => chosenVersion(run, prompt));
  const numbers = [...new Set(versions.filter((version) => version !== undefined))];
  const read = useEachVersion(prompt.id, numbers);
  const newest = draft === undefined ? prompt : { ...base.data, ...(draft.changes as Partial<Schemas['Prompt']>) };
  const known = versions.map((version): TemplateVariable[] => {
    const content = version === undefined ? newest : read[numbers.indexOf(version)]?.data;
    return content === undefined ? [] : listVariables({ ...content, variables: content.variables ?? {} });
  });
  const all = allVariables(known);
  return {
    variables: [...all.values()],
    requests: runs.map((run, index) => requestOf(run, draft, sentTo(known[index] ?? [], all, values.values))),
    error: read.find(({ error }) => error !== null)?.error ?? null,
  };
}

type Values = VariableValues['values'];

/** The values without those of variables that only other versions have. */
function sentTo(own: readonly TemplateVariable[], all: ReadonlyMap<string, TemplateVariable>, values: Values): Values {
  const names = new Set(own.map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name) || !all.has(name)));
}

function requestOf(
  { run, provider, model, cache, maxAge, parameters, messages, ignoresUnsupported, isStreamed }: PlaygroundSettings,
  draft: Draft | undefined,
  values: Values,
): InvocationRequest {
  const isDraft = draft !== undefined && run.version === undefined && run.label === undefined;
  return {
    body: {
      ...(Object.keys(values).length > 0 && { variables: values }),
      ...(isDraft ? { version: draft.version, draft: draft.changes } : runMembers(run)),
      ...(provider !== '' && { provider }),
      ...(model !== '' && { model }),
      ...(Object.keys(parameters).length > 0 && {
        parameters: parameters as NonNullable<InvocationRequest['body']['parameters']>,
      }),
      ...(messages.length > 0 && { messages: [...messages] }),
      ...(ignoresUnsupported && { unsupported: 'ignore' as const }),
    },
    cacheControl: cache === 'default' ? undefined : cache === 'max-age' ? `max-age=${maxAge}` : cache,
    isStreamed,
  };
}
