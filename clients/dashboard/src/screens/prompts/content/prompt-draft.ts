import type { Schemas } from 'prompt-gateway-client';
import { slug as slugLimits, testSettings as testSettingsLimits, variableName } from '../../../generated/limits.ts';
import { fits } from '../../../shared/limits.ts';
import type { Generation, GenerationMistakes } from '../generation/section.ts';
import { cleared, generationDraftOf, generationMistakesOf, generationOf } from '../generation/sections.ts';
import type { GenerationDraft } from '../generation/sections.ts';
import { parseJson, type JsonValue } from './exact-json.ts';

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

/** The content of a version while it is edited. */
export interface ContentDraft {
  readonly messages: readonly DraftMessage[];
  readonly variables: readonly DraftVariable[];
  readonly strict: boolean;
  /** Empty: none is selected. */
  readonly provider: string;
  readonly model: string;
  readonly generation: GenerationDraft;
}

/** A prompt while it is edited: everything as it was typed. */
export interface PromptDraft extends ContentDraft {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  /** JSON text; blank: none. */
  readonly testSettings: string;
  /** Of which invocations the content is kept; empty: as the service is set. */
  readonly invocationContent: string;
}

/** What is wrong with a draft, by the place where it is shown. */
export interface DraftMistakes {
  readonly name: boolean;
  readonly slug: boolean;
  readonly testSettings: 'syntax' | 'inexact' | 'size' | undefined;
  /** By the variable's key. */
  readonly variables: ReadonlyMap<string, 'name' | 'taken'>;
  /** By section. */
  readonly generation: Readonly<Record<string, GenerationMistakes>>;
}

/** A message with a key of its own. */
export function newMessage(role: string, content: DraftMessage['content'] = ''): DraftMessage {
  return { key: crypto.randomUUID(), role, content };
}

/** A part with a key of its own. */
export function newPart(part: Schemas['ContentPart']): DraftPart {
  return { ...part, key: crypto.randomUUID() };
}

/** A definition with a key of its own. */
export function newVariable(
  name: string,
  definition: Partial<Omit<DraftVariable, 'key' | 'name'>> = {},
): DraftVariable {
  return { key: crypto.randomUUID(), name, required: false, default: undefined, description: '', ...definition };
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
    invocationContent: '',
    generation: generationDraftOf({}),
  };
}

/** The draft that changes nothing of this prompt. */
export function draftOf(prompt: Prompt): PromptDraft {
  const { name, slug, description = '', test_settings: settings = null } = prompt;
  const { invocation_content: invocationContent = '' } = prompt;
  const testSettings = settings === null ? '' : JSON.stringify(settings, null, 2);
  return { name, slug, description, testSettings, invocationContent, ...contentDraftOf(prompt) };
}

/** The content of a prompt, or of one of its versions, as it is edited. */
export function contentDraftOf(
  content: Generation & Pick<Prompt, 'messages' | 'variables' | 'strict' | 'selected_provider' | 'selected_model'>,
): ContentDraft {
  return {
    messages: content.messages.map(({ role, content: said }) =>
      newMessage(role, typeof said === 'string' ? said : said.map(newPart)),
    ),
    variables: Object.entries(content.variables ?? {}).map(([name, definition]) =>
      newVariable(name, {
        required: definition.required === true,
        default: definition.default,
        description: definition.description ?? '',
      }),
    ),
    strict: content.strict === true,
    provider: content.selected_provider ?? '',
    model: content.selected_model ?? '',
    generation: generationDraftOf(content),
  };
}

/** Whether two drafts, or parts of drafts, say the same, whatever their keys. */
export function sameDraft<Part>(a: Part, b: Part): boolean {
  return a === b || withoutKeys(a) === withoutKeys(b);
}

function withoutKeys(draft: unknown): string {
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
    if (!fits(name, variableName)) variables.set(key, 'name');
    else if (names.has(name)) variables.set(key, 'taken');
    names.add(name);
  }
  return {
    name: draft.name.trim() === '',
    slug: !(isNew && draft.slug === '') && !fits(draft.slug, slugLimits),
    testSettings: testSettingsMistake(draft.testSettings),
    variables,
    generation: generationMistakesOf(draft.generation),
  };
}

/** Whether something is wrong. */
export function hasMistakes({ name, slug, testSettings, variables, generation }: DraftMistakes): boolean {
  const isWrong = Object.values(generation).some(({ size }) => size > 0);
  return name || slug || testSettings !== undefined || variables.size > 0 || isWrong;
}

function testSettingsMistake(text: string): DraftMistakes['testSettings'] {
  if (text.trim() === '') return undefined;
  const parsed = parseJson(text);
  if (parsed.error !== undefined) return parsed.error.kind;
  const bytes = new TextEncoder().encode(JSON.stringify(parsed.value)).length;
  return bytes > testSettingsLimits.maxBytes ? 'size' : undefined;
}

function testSettingsValue(text: string): JsonValue {
  const parsed = parseJson(text.trim() === '' ? 'null' : text);
  return parsed.error === undefined ? parsed.value : null;
}

/** The body that creates the prompt. The draft has no mistakes. */
export function createOf(draft: PromptDraft): Schemas['PromptCreate'] {
  const { name, slug, description, messages, variables, strict, provider, model, invocationContent } = draft;
  return {
    name,
    ...(slug !== '' && { slug }),
    ...(description !== '' && { description }),
    // A later release can have stored other roles and types of parts; they go back as they came.
    messages: messages.map(({ role, content }) => ({
      role,
      content: typeof content === 'string' ? content : content.map(({ key: _, ...part }) => part),
    })) as Schemas['MessagesInput'],
    ...(variables.length > 0 && { variables: definitionsOf(variables) }),
    strict,
    ...(provider !== '' && { selected_provider: provider }),
    ...(model !== '' && { selected_model: model }),
    ...(generationOf(draft.generation) as Pick<Schemas['PromptCreate'], keyof Generation>),
    test_settings: testSettingsValue(draft.testSettings),
    // A later release can have stored another mode; it goes back as it came.
    ...(invocationContent !== '' && {
      invocation_content: invocationContent as NonNullable<Schemas['PromptCreate']['invocation_content']>,
    }),
  };
}

/** A prompt without any value that can be left out. */
const emptied: Schemas['PromptUpdate'] = {
  description: null,
  variables: null,
  selected_provider: null,
  selected_model: null,
  invocation_content: null,
  ...(cleared as object),
};

/** The fields in which the draft differs from a stored prompt, so that what is the same makes no version. */
export function changesOf(draft: PromptDraft, stored: Prompt): Schemas['PromptUpdate'] {
  const before = new Map(Object.entries({ ...emptied, ...createOf(draftOf(stored)) }));
  const wanted = Object.entries({ ...emptied, ...createOf(draft) });
  return Object.fromEntries(
    wanted.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name))),
  );
}

/** What of the draft a model would see, and differs from a stored prompt; undefined if nothing does, or it has mistakes. */
export function contentChangesOf(draft: PromptDraft, stored: Prompt): Schemas['PromptDraft'] | undefined {
  const { variables, generation } = mistakesOf(draft, false);
  if (variables.size > 0 || Object.values(generation).some(({ size }) => size > 0)) return undefined;
  const { name, slug, description, test_settings, invocation_content } = stored;
  const before = { name, slug, description, test_settings, invocation_content };
  const changes = Object.entries(changesOf(draft, stored)).filter(([member]) => !Object.hasOwn(before, member));
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}
