import { author } from '../base/fields/author.ts';
import type { AuthorRef } from '../base/limits/principal.ts';
import type { components } from '../../generated/types.ts';
import { changeable, fields, hidden, made } from '../base/fields/fields.ts';
import type { Change, Difference, New, None, SentChange, Shown, Thing, Undeclared } from '../base/fields/fields.ts';
import { flag, integer, json, list, moment, same, text, type Kind } from '../base/fields/kinds.ts';
import type { CacheHint, JsonObject, Parameters, ResponseFormat, Tool, ToolChoice } from '../models/language-model.ts';
import type { Message, VariableDefinition, VariableDefinitions } from './templates/render.ts';
import { oncePerObject } from '../base/runtime/once-per-object.ts';
import { gateList } from './labels/gate.ts';
import { labelDeletion, labelList } from './labels/label.ts';
import { testSettings } from './test-settings.ts';

type Schemas = components['schemas'];

/** A provider, and a model of it; without `model`, its default model. */
export interface Fallback {
  readonly provider: string;
  readonly model?: string;
}

const message: Kind<Message, Message, Schemas['Message'], Schemas['MessageInput']> = {
  toStored: toMessage,
  fromStored: toMessage,
  show: toMessage,
  read: toMessage,
};

/** Stored as a list, because a name such as `a.b` or `__proto__` cannot be the name of a field. */
const variables: Kind<
  VariableDefinitions,
  (VariableDefinition & { name: string })[],
  NonNullable<Schemas['Prompt']['variables']>
> = {
  toStored: (definitions) =>
    Object.entries(definitions).map(([name, definition]) => ({ name, ...toDefinition(definition) })),
  fromStored: (stored) => toVariables(stored.map((variable) => [variable.name, variable])),
  show: (definitions) => toVariables(Object.entries(definitions)),
  read: (definitions) => toVariables(Object.entries(definitions)),
};

/** True or absent. */
const onlyTrue: Kind<true, true, true, boolean> = {
  ...same<true>(),
  read: (sent) => (sent ? true : undefined),
};

/** Of which invocations the content may be kept. */
const contentMode = same<Schemas['InvocationContentMode']>();

/** A number that is not 0, or absent. */
const positive: Kind<number, number, number> = {
  ...integer,
  read: (sent) => (sent === 0 ? undefined : sent),
};

/** JSON of which an empty value means none. */
function jsonOrNone<Value extends object, Shown extends object, Sent extends object>(): Kind<
  Value,
  string,
  Shown,
  Sent
> {
  const kind = json<Value, Shown, Sent>();
  return { ...kind, read: (sent) => (Object.keys(sent).length === 0 ? undefined : kind.read(sent)) };
}
type Sent<Name extends keyof Schemas> = NonNullable<Schemas[Name]>;
const parameters = jsonOrNone<Parameters, Schemas['GenerationParameters'], Sent<'GenerationParametersInput'>>();
const responseFormat = json<ResponseFormat, Schemas['ResponseFormat'], Sent<'ResponseFormatInput'>>();
const tools = jsonOrNone<readonly Tool[], Schemas['Tools'], Sent<'ToolsInput'>>();
const toolChoice = json<ToolChoice, Schemas['ToolChoice'], Sent<'ToolChoiceInput'>>();
const providerOptions = jsonOrNone<
  Readonly<Record<string, JsonObject>>,
  NonNullable<Schemas['ProviderOptions']>,
  Sent<'ProviderOptions'>
>();
const fallbacks = jsonOrNone<readonly Fallback[], Schemas['Fallbacks'], Sent<'FallbacksInput'>>();

/** How a prompt generates. A request can replace these fields for one call. */
export const generationFields = fields({
  parameters: changeable(parameters, { optional: true }),
  responseFormat: changeable(responseFormat, { optional: true }),
  /** At least one. */
  tools: changeable(tools, { optional: true }),
  toolChoice: changeable(toolChoice, { optional: true }),
  /** By the id of the provider. */
  providerOptions: changeable(providerOptions, { optional: true }),
  /** What is called when the selected provider fails, in this order. At least one. */
  fallbacks: changeable(fallbacks, { optional: true }),
  /** How often a call is repeated that may have been billed. */
  retries: changeable(positive, { optional: true }),
});
export type PromptGeneration = Thing<typeof generationFields.table>;
/** Replacements for one call. A field that is left out is that of the prompt; `undefined` means none. */
export type Overrides = Change<typeof generationFields.table>;

/** What a request replaces. `null` means none. Empty parameters are merged with those of the prompt, so they change nothing. */
export function readOverrides({ parameters, ...others }: SentChange<typeof generationFields.table>): Overrides {
  const overrides = generationFields.readChange(others);
  return parameters === undefined ? overrides : { ...overrides, parameters: parameters ?? undefined };
}

/** Fields that could reach other tools, options and models than those of the prompt. */
export const guardedFields = [
  'tools',
  'tool_choice',
  'provider_options',
  'fallbacks',
] as const satisfies readonly (keyof Shown<typeof generationFields.table>)[];

/** The content of a version: everything that decides what an invocation sends, and to which provider. */
export const contentFields = fields({
  messages: changeable(list(message)),
  /** By name. Each is an own property, even `__proto__`. */
  variables: changeable(variables, { optional: true }),
  /** Whether unknown variables are refused. */
  strict: changeable(onlyTrue, { optional: true }),
  selectedProvider: changeable(text, { optional: true }),
  selectedModel: changeable(text, { optional: true }),
  ...generationFields.table,
});
export type PromptContent = Thing<typeof contentFields.table>;
/** Changes that are not saved. */
export type Draft = Change<typeof contentFields.table>;

/** A list of which an empty one means none. */
const names: Kind<readonly string[], string[], string[], readonly string[]> = {
  ...list(text),
  read: (sent) => (sent.length === 0 ? undefined : [...sent]),
};

/** Who made a version: the API key. */

/** The stored fields of a prompt. */
export const promptFields = fields({
  /** UUID. */
  id: made(text),
  /** Unique, never in the form of a UUID. Made from the name if a creation leaves it out. */
  slug: changeable(text, { initially: '' }),
  /** Other ids under which it answers. Unique among all prompts, and never in the form of a slug or an id. */
  aliases: changeable(names, { optional: true }),
  name: changeable(text),
  description: changeable(text, { optional: true }),
  ...contentFields.table,
  /** Any JSON value except `null`, which means that there is none. */
  testSettings: changeable(testSettings, { optional: true }),
  /** Not part of the content of versions: it holds for all of them. */
  invocationContent: changeable(contentMode, { optional: true }),
  /** Number of the latest version, whose content this is. */
  version: made(integer),
  versionCreatedAt: hidden(moment),
  versionAuthor: hidden(author),
  versionNote: hidden(text, { optional: true }),
  /** Ordered by name. At least one. */
  labels: made(labelList, { optional: true }),
  /** The last deletion of a label, until the next change of a label. */
  deletedLabel: hidden(labelDeletion, { optional: true }),
  /** Whether one of its labels has a canary that runs, or was ended because of its failures. Absent otherwise. */
  hasCanary: hidden(onlyTrue, { optional: true, storedAs: 'has_rollout' }),
  /** What versions have to show before labels name them. At least one. */
  gates: hidden(gateList, { optional: true }),
  /** Number of writes that changed labels or gates: part of the revision. */
  labelWrites: hidden(integer, { initially: 0 }),
  createdAt: made(moment),
  /** Each change moves it forward, even if the clocks of two processes disagree. */
  updatedAt: made(moment),
  /** Marked by a DELETE that may still be in progress. Readers no longer see the prompt. */
  deleting: hidden(flag),
});

/** A prompt in its current state. */
export interface Prompt extends Thing<typeof promptFields.table> {
  /** Number of writes, from 1. */
  readonly revision: number;
  /** Ids of the last writes, newest last. */
  readonly writes: readonly string[];
  /** Number of events that wait to be sent. */
  readonly waiting: number;
}

/** A prompt in a list of names. */
export interface PromptName {
  readonly id: string;
  readonly slug: string;
  readonly createdAt: Date;
}

/** The fields that a caller sets on a new prompt. */
export type NewPrompt = New<typeof promptFields.table>;
/** Changes of a prompt. */
export type PromptChange = Change<typeof promptFields.table>;

/** The content of a prompt in one version. Never changes. */
export interface PromptVersion {
  readonly promptId: string;
  readonly version: number;
  readonly content: PromptContent;
  readonly createdAt: Date;
  readonly author: AuthorRef;
  readonly note: string | undefined;
}

/** A version as an entry of a list. */
export interface ListedVersion {
  readonly version: PromptVersion;
  /** Whether it is the latest version. */
  readonly isCurrent: boolean;
}

/** The latest version of a prompt, which is stored in the prompt. */
export const currentVersion: (prompt: Prompt) => PromptVersion = oncePerObject((prompt) => {
  const { id: promptId, version, versionCreatedAt: createdAt, versionAuthor: author, versionNote: note } = prompt;
  return { promptId, version, content: contentFields.pick(prompt), createdAt, author, note };
});

/** Copies a message member by member. */
function toMessage({ role, content }: Message): Schemas['MessageInput'] {
  if (typeof content === 'string') return { role, content };
  return {
    role,
    content: content.map(({ type, text: words, url, cache_control: control }) => ({
      type: type === 'image' ? 'image' : 'text',
      ...(words !== undefined && { text: words }),
      ...(url !== undefined && { url }),
      ...(control !== undefined && { cache_control: control as CacheHint }),
    })),
  };
}

/** Copies variable definitions member by member; members that are not set are absent. */
function toVariables(
  definitions: Iterable<readonly [string, VariableDefinition]>,
): NonNullable<Schemas['Prompt']['variables']> {
  // `fromEntries` defines properties; an assignment to `__proto__` would change the prototype instead.
  return Object.fromEntries(Array.from(definitions, ([name, definition]) => [name, toDefinition(definition)]));
}

function toDefinition({
  default: value,
  description,
  required,
}: VariableDefinition): NonNullable<Schemas['Prompt']['variables']>[string] {
  return {
    ...(value === undefined ? {} : { default: value }),
    ...(description === undefined ? {} : { description }),
    ...(required === undefined ? {} : { required }),
  };
}

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInPrompt = None<
  | Undeclared<
      typeof promptFields.table,
      Omit<Schemas['Prompt'], 'warnings'>,
      Omit<Schemas['PromptCreate'], 'note'>,
      Omit<Schemas['PromptUpdate'], 'note' | 'warnings'>
    >
  | Difference<
      Omit<Schemas['PromptVersion'], 'version' | 'created_at' | 'author' | 'note' | 'current'>,
      Shown<typeof contentFields.table>
    >
  | Exclude<keyof Shown<typeof generationFields.table>, keyof NonNullable<Schemas['InvokeRequest']>>
>;
