import type { Scope } from '../../../generated/operations.ts';
import type { components } from '../../../generated/types.ts';
import { insufficientScope } from '../../base/errors/insufficient-scope.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { ProviderRegistry } from '../../models/provider.ts';
import { isObject } from '../../base/runtime/objects.ts';
import { parseModelName } from './model-name.ts';
import { withoutNulls, type WithoutNulls } from './without-nulls.ts';

/** The members of a request that say what runs. */
export interface TargetMembers {
  readonly model?: string | null | undefined;
  readonly prompt?: components['schemas']['StoredPrompt'] | undefined;
}

type SentVariables = NonNullable<NonNullable<TargetMembers['prompt']>['variables']>;

/** A stored prompt, perhaps on another model than the selected one. */
export interface PromptTarget {
  readonly slugOrId: string;
  readonly version?: number;
  readonly label?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly provider?: string;
  readonly model?: string;
}

export interface ModelTarget {
  readonly provider: string;
  readonly model: string;
}

/** What a request runs. */
export type RequestTarget = { readonly prompt: PromptTarget } | { readonly model: ModelTarget };

/**
 * Reads what a request runs.
 *
 * | `model` | `prompt.id` | Runs |
 * |---|---|---|
 * | `prompt/<slug>[@<version>]` | absent, or the same | the stored prompt |
 * | `<provider>/<model>` | a prompt | the stored prompt on this model |
 * | absent | a prompt | the stored prompt |
 * | `<provider>/<model>` | absent | the model |
 * | `<model>` of one configured provider | as above | as above |
 *
 * @throws {ProblemError} insufficient-scope; model-not-found; conflicting-members
 */
export function readTarget(
  { model, prompt }: TargetMembers,
  scopes: ReadonlySet<Scope>,
  providers: Pick<ProviderRegistry, 'list'>,
): RequestTarget {
  const named = typeof model === 'string' ? parseModelName(model, providers) : undefined;
  const target = combine(named, withoutNulls(prompt ?? {}));
  const needed = 'prompt' in target ? 'prompts:invoke' : 'providers:invoke';
  if (!scopes.has(needed)) throw insufficientScope(needed);
  return target;
}

function combine(
  named: ReturnType<typeof parseModelName> | undefined,
  { id, version, variables }: WithoutNulls<NonNullable<TargetMembers['prompt']>>,
): RequestTarget {
  const byModel = named !== undefined && 'prompt' in named ? named : undefined;
  const direct = named !== undefined && 'provider' in named ? named : undefined;
  if (byModel !== undefined && id !== undefined && id !== byModel.prompt) {
    throw conflict('#/prompt/id', 'is not the prompt that model names');
  }
  if (byModel?.at !== undefined && version !== undefined && version !== byModel.at) {
    throw conflict('#/prompt/version', 'is not the version or label that model names');
  }
  const slugOrId = byModel?.prompt ?? id;
  if (slugOrId === undefined) {
    if (version !== undefined || variables !== undefined)
      throw conflict('#/prompt/id', 'is required, unless model names a prompt');
    if (direct === undefined) throw conflict('#/model', 'is required, unless prompt has an id');
    return { model: direct };
  }
  return {
    prompt: {
      slugOrId,
      ...readVersion(byModel?.at ?? version),
      ...(variables !== undefined && { variables: textsOf(variables) }),
      ...direct,
    },
  };
}

function readVersion(text: string | undefined): Pick<PromptTarget, 'version' | 'label'> {
  if (text === undefined) return {};
  return /^[1-9]\d{0,9}$/.test(text) ? { version: Number(text) } : { label: text };
}

/** The values of variables. A text can be sent as a part of a message. */
function textsOf(variables: SentVariables): Record<string, string | null> {
  const texts = Object.entries(variables).map(([name, value]) => [name, isObject(value) ? value.text : value] as const);
  return Object.fromEntries(texts);
}

/** Two members of a request contradict each other, or one needs another. */
export function conflict(pointer: string, detail: string): ProblemError {
  return new ProblemError('conflicting-members', {
    detail: 'Members of the request do not fit together.',
    errors: [{ detail, pointer }],
  });
}
