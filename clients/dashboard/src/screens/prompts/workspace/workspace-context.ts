import { createContext, use } from 'react';
import type { PromptDraft } from '../content/prompt-draft.ts';
import type { RunChoice } from '../content/run-select.tsx';
import type { Target } from '../content/target-select.tsx';
import type { Parameters } from '../generation/parameters.tsx';
import type { VariableValues } from '../content/variable-values.ts';
import type { Turn } from '../playground/turns.ts';
import type { StoredPrompt } from '../prompt-queries.ts';
import type { Invocations } from './use-invocations.ts';

/** One prompt with everything that is typed for it. It outlives the change between its tabs. */
export interface Workspace {
  /** The prompt as it is stored, as far as the page knows. */
  readonly stored: StoredPrompt;
  /** The state that the draft is a change of; older than `stored` if someone else has saved in between. */
  readonly base: StoredPrompt;
  readonly draft: PromptDraft;
  readonly isDirty: boolean;
  readonly setDraft: (update: (draft: PromptDraft) => PromptDraft) => void;
  /** Takes a state of the service as the one to go on from. The draft stays if `keepDraft`. */
  readonly rebase: (stored: StoredPrompt, keepDraft: boolean) => void;
  readonly values: VariableValues;
  readonly setValues: (values: VariableValues) => void;
  readonly playground: PlaygroundSettings;
  readonly setPlayground: (settings: PlaygroundSettings) => void;
  readonly invocations: Invocations;
  /** What the next test run compares. */
  readonly testTargets: readonly TestTarget[];
  readonly setTestTargets: (targets: readonly TestTarget[]) => void;
}

/** A target in a list that can be changed. */
export interface TestTarget extends Target {
  readonly key: string;
  /** Of a test run: the version, if it is not that of the run. */
  readonly version?: number;
}

/** What the playground sends beside the values. */
export interface PlaygroundSettings extends Target {
  /** What runs beside the first, to be compared: other models, or other versions. */
  readonly others: readonly (TestTarget & { readonly run?: RunChoice })[];
  readonly run: RunChoice;
  readonly cache: 'default' | 'max-age' | 'no-cache' | 'no-store' | 'only-if-cached';
  /** Seconds, with `max-age`. */
  readonly maxAge: number;
  /** What differs from the saved ones. */
  readonly parameters: Parameters;
  /** The conversation that follows the messages of the prompt. */
  readonly messages: readonly Turn[];
  /** Whether what the provider cannot do is left out. */
  readonly ignoresUnsupported: boolean;
  /** Whether the answer is shown while it is generated. */
  readonly isStreamed: boolean;
}

export const WorkspaceContext: React.Context<Workspace | undefined> = createContext<Workspace | undefined>(undefined);

/** The prompt around this component. */
export function useWorkspace(): Workspace {
  const workspace = use(WorkspaceContext);
  if (workspace === undefined) throw new Error('There is no prompt around this component.');
  return workspace;
}
