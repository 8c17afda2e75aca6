import type { Schemas } from 'prompt-gateway-client';
import { parseJson, type JsonValue } from './exact-json.ts';
import {
  generationDraftOf,
  generationMistakesOf,
  generationOf,
  type Generation,
  type GenerationDraft,
  type GenerationMistake,
} from './generation-draft.ts';

type Prompt = Schemas['Prompt'];
export type Role = Schemas['MessageRole'];

/** The roles that a message can be given. */
export const roles: readonly Role[] = ['system', 'user', 'assistant'];

/** A part of a message while it is edited. A later release can have stored other types; they stay as they came. */
export interface DraftPart extends Readonly<Schemas['ContentPart']> {
  readonly key: string;
}

/** A message while it is edited. `key` stays the same when messages move. */
export interface DraftMessage {
  readonly key: string;
  readonly role: string;
  readonly content: string | readonly DraftPart[];
}

/** A definition of a variable while it is edited. Its name can be wrong or taken for a while. */
export interface DraftVariable {
  readonly key: string;
  readonly name: string;
  readonly required: boolean;
  /** Undefined: there is no default. It is something else than an empty default. */
  readonly default: string | undefined;
  readonly description: string;
}

/** A prompt while it is edited: everything as it was typed. */
export interface PromptDraft extends GenerationDraft {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly messages: readonly DraftMessage[];
  readonly variables: readonly DraftVariable[];
  readonly strict: boolean;
  /** Empty: none is selected. */
  readonly provider: string;
  readonly model: string;
  /** JSON text; blank: none. */
  readonly testSettings: string;
}

/** What is wrong with a draft, by the place where it is shown. */
export interface DraftMistakes {
  readonly name: boolean;
  readonly slug: boolean;
  readonly testSettings: 'syntax' | 'inexact' | 'size' | undefined;
  /** By the variable's key. */
  readonly variables: ReadonlyMap<string, 'name' | 'taken'>;
  /** By place. */
  readonly generation: ReadonlyMap<string, GenerationMistake>;
}

const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const variablePattern = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
/** Bytes of compact JSON that the service accepts. */
const largestTestSettings = 16 * 1024;

/** A message with a key of its own. */
export function newMessage(role: string, content: DraftMessage['content'] = ''): DraftMessage {
  return { key: crypto.randomUUID(), role, content };
}

/** A part with a key of its own. */
export function newPart(part: Schemas['ContentPart']): DraftPart {
  return { ...part, key: crypto.randomUUID() };
}

/** The messages of a draft as the contract has them. */
function messagesOf(messages: readonly DraftMessage[]): Schemas['Messages'] {
  return messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? content : content.map(({ key: _, ...part }) => part),
  }));
}

/** A definition with a key of its own. */
export function newVariable(
  name: string,
  definition: Partial<Omit<DraftVariable, 'key' | 'name'>> = {},
): DraftVariable {
  return { key: crypto.randomUUID(), name, required: false, default: undefined, description: '', ...definition };
}

/** The content of a draft as a version has it. */
export function contentOf(
  draft: PromptDraft,
): Generation &
  Pick<Schemas['PromptVersion'], 'messages' | 'variables' | 'strict' | 'selected_provider' | 'selected_model'> {
  const { messages, variables, strict, provider, model } = draft;
  return {
    messages: messagesOf(messages),
    variables: definitionsOf(variables),
    strict,
    ...(provider !== '' && { selected_provider: provider }),
    ...(model !== '' && { selected_model: model }),
    ...generationOf(draft),
  };
}

/** What a new prompt begins with. */
export function emptyDraft(): PromptDraft {
  return {
    name: '',
    slug: '',
    description: '',
    messages: [newMessage('user')],
    variables: [],
    strict: false,
    provider: '',
    model: '',
    testSettings: '',
    ...generationDraftOf({}),
  };
}

/** The draft that changes nothing of this prompt. */
export function draftOf(prompt: Prompt): PromptDraft {
  return {
    name: prompt.name,
    slug: prompt.slug,
    description: prompt.description ?? '',
    messages: prompt.messages.map(({ role, content }) =>
      newMessage(role, typeof content === 'string' ? content : content.map(newPart)),
    ),
    variables: Object.entries(prompt.variables ?? {}).map(([name, definition]) =>
      newVariable(name, {
        required: definition.required === true,
        default: definition.default,
        description: definition.description ?? '',
      }),
    ),
    strict: prompt.strict === true,
    provider: prompt.selected_provider ?? '',
    model: prompt.selected_model ?? '',
    testSettings:
      prompt.test_settings === undefined || prompt.test_settings === null
        ? ''
        : JSON.stringify(prompt.test_settings, null, 2),
    ...generationDraftOf(prompt),
  };
}

/** Whether two drafts say the same, whatever their keys. */
export function sameDraft(a: PromptDraft, b: PromptDraft): boolean {
  return a === b || withoutKeys(a) === withoutKeys(b);
}

function withoutKeys(draft: PromptDraft): string {
  return JSON.stringify(draft, (name, value: unknown) => (name === 'key' ? undefined : value));
}

/** The definitions as the template renderer takes them; of two with one name the last counts. */
export function definitionsOf(variables: readonly DraftVariable[]): Schemas['VariableDefinitions'] {
  // `fromEntries` makes own members, also of `__proto__`.
  return Object.fromEntries(variables.map((variable) => [variable.name, definitionOf(variable)]));
}

function definitionOf({ required, default: fallback, description }: DraftVariable): Schemas['VariableDefinition'] {
  return {
    ...(required && { required }),
    ...(fallback !== undefined && { default: fallback }),
    ...(description !== '' && { description }),
  };
}

/** Finds what the service would refuse. */
export function mistakesOf(draft: PromptDraft, isNew: boolean): DraftMistakes {
  const variables = new Map<string, 'name' | 'taken'>();
  const names = new Set<string>();
  for (const { key, name } of draft.variables) {
    if (!variablePattern.test(name)) variables.set(key, 'name');
    else if (names.has(name)) variables.set(key, 'taken');
    names.add(name);
  }
  return {
    name: draft.name.trim() === '',
    slug:
      !(isNew && draft.slug === '') &&
      (!slugPattern.test(draft.slug) || draft.slug.length > 80 || uuidPattern.test(draft.slug)),
    testSettings: testSettingsMistake(draft.testSettings),
    variables,
    generation: generationMistakesOf(draft),
  };
}

/** Whether something is wrong. */
export function hasMistakes({ name, slug, testSettings, variables, generation }: DraftMistakes): boolean {
  return name || slug || testSettings !== undefined || variables.size > 0 || generation.size > 0;
}

function testSettingsMistake(text: string): DraftMistakes['testSettings'] {
  if (text.trim() === '') return undefined;
  const parsed = parseJson(text);
  if (parsed.error !== undefined) return parsed.error.kind;
  const bytes = new TextEncoder().encode(JSON.stringify(parsed.value)).length;
  return bytes > largestTestSettings ? 'size' : undefined;
}

function testSettingsValue(text: string): JsonValue {
  const parsed = parseJson(text.trim() === '' ? 'null' : text);
  return parsed.error === undefined ? parsed.value : null;
}

/** Content without any settings of the generation. */
const cleared: Pick<Schemas['PromptUpdate'], keyof Generation> = {
  parameters: null,
  response_format: null,
  tools: null,
  tool_choice: null,
  provider_options: null,
  fallbacks: null,
  retries: 0,
};

/** The body that makes a stored prompt what the draft says. The draft has no mistakes. */
function updateOf(draft: PromptDraft): Schemas['PromptUpdate'] {
  const { name, slug, description, strict, provider, model } = draft;
  return {
    name,
    slug,
    description: description === '' ? null : description,
    // A later release can have stored other roles and types of parts; they go back as they came.
    messages: messagesOf(draft.messages) as Schemas['MessagesInput'],
    variables: draft.variables.length === 0 ? null : definitionsOf(draft.variables),
    strict,
    selected_provider: provider === '' ? null : provider,
    selected_model: model === '' ? null : model,
    test_settings: testSettingsValue(draft.testSettings),
    ...cleared,
    ...(generationOf(draft) as Partial<typeof cleared>),
  };
}

/** The fields in which the draft differs from a stored prompt, so that what is the same makes no version. */
export function changesOf(draft: PromptDraft, stored: Prompt): Schemas['PromptUpdate'] {
  const before = Object.entries(updateOf(draftOf(stored)));
  const same = new Set(before.map(([name, value]) => `${name} ${JSON.stringify(value)}`));
  const wanted = Object.entries(updateOf(draft));
  return Object.fromEntries(wanted.filter(([name, value]) => !same.has(`${name} ${JSON.stringify(value)}`)));
}

/** The body that creates the prompt. The draft has no mistakes. */
export function createOf(draft: PromptDraft): Schemas['PromptCreate'] {
  const { messages, variables, slug, description, provider, model } = draft;
  return {
    name: draft.name,
    messages: messagesOf(messages) as Schemas['MessagesInput'],
    strict: draft.strict,
    test_settings: testSettingsValue(draft.testSettings),
    ...(slug !== '' && { slug }),
    ...(description !== '' && { description }),
    ...(variables.length > 0 && { variables: definitionsOf(variables) }),
    ...(provider !== '' && { selected_provider: provider }),
    ...(model !== '' && { selected_model: model }),
    ...(generationOf(draft) as Pick<Schemas['PromptCreate'], keyof Generation>),
  };
}
