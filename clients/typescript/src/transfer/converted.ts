import { contentWarnings } from '../template.ts';
import type { components } from '../generated/types.ts';

export type PromptFile = components['schemas']['PromptExport'];
type Version = PromptFile['versions'][number];
export type Message = Version['messages'][number];
export type Content = Omit<Version, 'version' | 'note'>;
type Members = Readonly<Record<string, unknown>>;

/** A file of another tool. */
export interface Source {
  /** Without its folder. */
  readonly name: string;
  readonly text: string;
}

/** Something that the prompts here do not have, or have in another way. */
export interface Note {
  readonly prompt: string;
  readonly detail: string;
  /** Whether models get another text than there, until this is corrected. */
  readonly isMistake?: true;
}

/** Prompts in the form of an import. */
export interface Converted {
  readonly prompts: readonly PromptFile[];
  readonly notes: readonly Note[];
}

/** The source is not in the format. The message describes it. */
export class FormatError extends Error {}

export interface ConvertOptions {
  /** Of models whose provider the files do not name. */
  readonly provider?: string | undefined;
  /** @throws if the text is not YAML */
  readonly parseYaml: (text: string) => unknown;
}

/**
 * Converts the files of a format.
 * @throws {FormatError}
 */
export type Convert = (sources: readonly Source[], options: ConvertOptions) => Converted;

/** Says that something does not map. */
export interface Notify {
  (detail: string): void;
  /** Says that models would get another text than there. */
  mistake(detail: string): void;
}

/** A version in another tool. */
export interface ForeignVersion {
  readonly prompt: string;
  readonly description?: string | undefined;
  /** Orders the versions of a prompt. */
  readonly order: readonly number[];
  readonly labels: readonly string[];
  readonly note?: string | undefined;
  readonly content: Content;
}

/** Collects versions into prompts. */
export function createCollector(): {
  notify(prompt: string): Notify;
  add(version: ForeignVersion): void;
  result(): Converted;
} {
  const notes: Note[] = [];
  const byPrompt = new Map<string, ForeignVersion[]>();
  const add = (added: Note): void => {
    if (!notes.some(({ prompt, detail }) => prompt === added.prompt && detail === added.detail)) notes.push(added);
  };
  const notify = (prompt: string): Notify =>
    Object.assign(
      (detail: string) => {
        add({ prompt, detail });
      },
      {
        mistake: (detail: string) => {
          add({ prompt, detail, isMistake: true });
        },
      },
    );
  return {
    notify,
    add(version) {
      byPrompt.set(version.prompt, [...(byPrompt.get(version.prompt) ?? []), version]);
    },
    result() {
      const taken = new Set<string>();
      const prompts = [...byPrompt].map(([name, versions]): PromptFile => {
        const slug = freeSlug(name, taken);
        if (slug !== name) notify(name)(`gets the slug ${slug}`);
        const ordered = versions.toSorted(({ order: one }, { order: other }) => compare(one, other));
        const numbers = numbersOf(ordered, notify(name));
        const labels = labelsOf(ordered, numbers, notify(name));
        for (const { code, detail } of ordered.flatMap(({ content }) => contentWarnings(content))) {
          if (code === 'not-a-placeholder') notify(name).mistake(detail);
        }
        const description = ordered.at(-1)?.description?.slice(0, 4_000);
        return {
          slug,
          name: name.slice(0, 200),
          ...(description !== undefined && description !== '' && { description }),
          ...(Object.keys(labels).length > 0 && { labels }),
          versions: ordered.map(({ note, content }, index) => ({
            version: numbers[index] ?? 0,
            ...(note !== undefined && note !== '' && { note: note.slice(0, 500) }),
            ...content,
          })),
        };
      });
      prompts.sort((one, other) => (one.slug < other.slug ? -1 : 1));
      return { prompts, notes };
    },
  };
}

/** An entry of a file, for its converter. */
export interface EntryContext extends Pick<ConvertOptions, 'provider'> {
  readonly source: Source;
  /** @param prompt its name in the other tool */
  readonly notify: (prompt: string) => Notify;
}

/**
 * Makes a converter of files in JSON: a version of a prompt, a list of them, or a page.
 * @param listOfPage the member that has the list of a page
 * @param convertOne returns nothing if the entry is left out; it can throw {FormatError}
 */
export function convertEntries(
  listOfPage: string,
  convertOne: (entry: Members, context: EntryContext) => ForeignVersion | undefined,
): Convert {
  return (sources, { provider }) => {
    const { notify, add, result } = createCollector();
    for (const source of sources) {
      const json = parseJson(source);
      const page = isObject(json) ? json[listOfPage] : undefined;
      for (const entry of [Array.isArray(page) ? page : json].flat()) {
        const version = convertOne(isObject(entry) ? entry : {}, { source, provider, notify });
        if (version !== undefined) add(version);
      }
    }
    return result();
  };
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** The most versions that a note names. */
const mostNamed = 10;
const labelForm = /^[a-z][a-z0-9-]{0,31}$/;

/** The numbers that the versions have there, if they are such numbers. Otherwise they are counted. */
function numbersOf(versions: readonly ForeignVersion[], notify: Notify): readonly number[] {
  const given = versions.map(({ order: [number = 0] }) => number);
  const areKept = versions.every(
    ({ order }, index) =>
      order.length === 1 && Number.isInteger(order[0]) && (given[index] ?? 0) > (given[index - 1] ?? 0),
  );
  const changed = versions.flatMap(({ order }, index) =>
    order[0] === index + 1 && order.slice(1).every((part) => part === 0)
      ? []
      : [`${order.join('.')} becomes ${index + 1}`],
  );
  if (changed.length > 0) {
    const more = changed.length > mostNamed ? ` and ${changed.length - mostNamed} more` : '';
    notify(`versions get other numbers when they are stored: ${changed.slice(0, mostNamed).join(', ')}${more}`);
  }
  return areKept ? given : versions.map((_, index) => index + 1);
}

function labelsOf(
  versions: readonly ForeignVersion[],
  numbers: readonly number[],
  notify: Notify,
): Record<string, number> {
  const labels = new Map<string, number>();
  for (const [index, version] of versions.entries()) {
    for (const label of version.labels) {
      // Here, the latest version needs no label.
      if (label === 'latest') continue;
      const name = label.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      if (!labelForm.test(name))
        notify(`the label ${JSON.stringify(label)} is left out: its name is not possible here`);
      else labels.set(name, numbers[index] ?? 0);
      if (name !== label && labelForm.test(name)) notify(`the label ${JSON.stringify(label)} becomes ${name}`);
    }
  }
  return Object.fromEntries(labels);
}

function freeSlug(name: string, taken: Set<string>): string {
  const words = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const made =
    words
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 70)
      .replaceAll(/^-+|-+$/g, '') || 'prompt';
  const base = ['export', 'import'].includes(made) ? `prompt-${made}` : made;
  let slug = base;
  for (let number = 2; taken.has(slug); number += 1) slug = `${base}-${number}`;
  taken.add(slug);
  return slug;
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** @throws {FormatError} */
function parseJson({ name, text }: Source): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new FormatError(`${name} is not JSON.`);
  }
}

/** @throws {FormatError} */
export function parseYamlIn({ name, text }: Source, parseYaml: ConvertOptions['parseYaml']): unknown {
  try {
    return parseYaml(text);
  } catch {
    throw new FormatError(`${name} is not YAML.`);
  }
}

/** The name of a file without its extension. */
export function baseName({ name }: Pick<Source, 'name'>): string {
  return name.replace(/\.[^.]+$/, '');
}

/** Names what Jinja and Nunjucks do with a text, and the service does not. What is no placeholder here is found later. */
export function noteStatements(text: string, notify: Notify): string {
  if (/\{%|\{#/.test(text)) notify.mistake('statements and comments (`{% … %}`) have no meaning here');
  for (const [whole] of text.matchAll(/\{\{\s*[\w.-]+\s*\|.*?\}\}/gs)) {
    notify.mistake(`${whole} is a variable with a default here, not a filter`);
  }
  return text;
}

/** Names the prompts that a text includes: `@@@langfusePrompt:name=…|label=…@@@`, or `@@@name@@@` of PromptLayer. */
export function noteReferences(messages: readonly Message[], notify: Notify): void {
  for (const [, reference = ''] of JSON.stringify(messages).matchAll(/@@@(.*?)@@@/g)) {
    const name = /name=([^|]+)/.exec(reference)?.[1] ?? reference;
    notify.mistake(
      `contains the prompt ${JSON.stringify(name)}: composed prompts do not exist here. Export it resolved.`,
    );
  }
}

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
};

/** Messages in the form of OpenAI's chat completions, which most tools use. @param toText converts placeholders */
export function messagesIn(
  messages: readonly unknown[],
  notify: Notify,
  toText: (text: string) => string = (text) => text,
): Message[] {
  return messages.flatMap((message): Message[] => {
    if (!isObject(message)) return [];
    const role = roles[String(message['role'])];
    if (role === undefined) {
      notify(`a message with the role ${JSON.stringify(message['role'])} is left out`);
      return [];
    }
    const calls = [...listIn(message['tool_calls'] ?? message['function_call']), ...listIn(message['toolCalls'])];
    if (calls.length > 0) notify('calls of tools in messages are left out');
    const content = contentIn(message['content'], notify, toText);
    return content === '' && role !== 'assistant' ? [] : [{ role, content }];
  });
}

function contentIn(content: unknown, notify: Notify, toText: (text: string) => string): Message['content'] {
  if (typeof content === 'string') return toText(content);
  const parts = listIn(content).flatMap((part): Exclude<Message['content'], string> => {
    if (!isObject(part)) return [];
    const text = textIn(part['text']);
    if (text !== undefined) return [{ type: 'text', text: toText(text) }];
    const image = part['image_url'];
    const url = textIn(isObject(image) ? image['url'] : image);
    if (url !== undefined) return [{ type: 'image', url: toText(url) }];
    notify(`a part of the type ${JSON.stringify(part['type'])} is left out`);
    return [];
  });
  const [first] = parts;
  return parts.length === 1 && first?.type === 'text' ? (first.text ?? '') : parts;
}

/** The names of parameters here, by those of other tools. */
const parameterNames: Readonly<Record<string, keyof NonNullable<Content['parameters']>>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  topP: 'top_p',
  top_k: 'top_k',
  topK: 'top_k',
  max_tokens: 'max_output_tokens',
  maxTokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  max_output_tokens: 'max_output_tokens',
  maxOutputTokens: 'max_output_tokens',
  stop: 'stop',
  stop_sequences: 'stop',
  stopSequences: 'stop',
  seed: 'seed',
  presence_penalty: 'presence_penalty',
  presencePenalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
  frequencyPenalty: 'frequency_penalty',
  reasoning_effort: 'reasoning_effort',
  parallel_tool_calls: 'parallel_tool_calls',
};

/** Members that say nothing about the answer. */
const ignored: ReadonlySet<string> = new Set([
  'stream',
  'messages',
  'model',
  'provider',
  'n',
  'store',
  'stream_options',
]);

/**
 * Model, parameters, form of the answer and tools, from members in the form of OpenAI's chat completions.
 * @param provider of the model, if they do not name it
 */
export function generationIn(config: Members, provider: string | undefined, notify: Notify): Omit<Content, 'messages'> {
  const parameters: Record<string, unknown> = {};
  const left: string[] = [];
  for (const [name, value] of Object.entries(config)) {
    const known = Object.hasOwn(parameterNames, name) ? parameterNames[name] : undefined;
    if (
      value === null ||
      value === undefined ||
      ignored.has(name) ||
      ['response_format', 'tools', 'tool_choice'].includes(name)
    )
      continue;
    if (known === undefined) left.push(name);
    else if (known === 'stop') parameters[known] = [value].flat();
    else parameters[known] = value;
  }
  if (left.length > 0) notify(`${left.toSorted().join(', ')}: not taken over`);
  const format = formatIn(config['response_format'], notify);
  const tools = listIn(config['tools']).flatMap((tool) => toolIn(tool, notify));
  const choice = tools.length === 0 ? undefined : choiceIn(config['tool_choice'], notify);
  return {
    ...modelIn(textIn(config['model']), textIn(config['provider']) ?? provider, notify),
    ...(Object.keys(parameters).length > 0 && { parameters: parameters as NonNullable<Content['parameters']> }),
    ...(format !== undefined && { response_format: format }),
    ...(tools.length > 0 && { tools }),
    ...(choice !== undefined && { tool_choice: choice }),
  };
}

/** Providers of other tools, by their names there. */
const providers: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  googleai: 'google',
  vertexai: 'google',
  gemini: 'google',
  mistral: 'mistral',
  groq: 'groq',
  deepseek: 'deepseek',
  xai: 'xai',
  cohere: 'cohere',
  azure: 'azure',
  azure_openai: 'azure',
  openrouter: 'openrouter',
};
const families: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|o\d|chatgpt-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
];

/** The provider and model here. `openai/gpt-5` and `openai:chat:gpt-5` name both. */
function modelIn(
  model: string | undefined,
  provider: string | undefined,
  notify: Notify,
): Pick<Content, 'selected_provider' | 'selected_model'> {
  if (model === undefined || model === '') return {};
  const [, prefix = '', rest = model] = /^([a-z_]+)(?:\/|:(?:chat:|messages:|responses:)?)(.+)$/i.exec(model) ?? [];
  const named = providers[(prefix || (provider ?? '')).toLowerCase()];
  const name = prefix !== '' && named !== undefined ? rest : model;
  const found = named ?? provider ?? families.find(([form]) => form.test(name))?.[1];
  if (found !== undefined) return { selected_provider: found, selected_model: name };
  notify(`the model ${model} is left out: its provider is not known. Choose one.`);
  return {};
}

function formatIn(format: unknown, notify: Notify): Content['response_format'] | undefined {
  if (!isObject(format) || format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') return { type: 'json' };
  const named = format['json_schema'];
  if (format['type'] === 'json_schema' && isObject(named) && isObject(named['schema'])) {
    const { name, description, schema, strict } = named;
    return {
      type: 'json',
      schema: schema as Record<string, unknown>,
      ...(typeof name === 'string' && { name }),
      ...(typeof description === 'string' && { description }),
      ...(typeof strict === 'boolean' && { strict }),
    };
  }
  notify('response_format: not taken over');
  return undefined;
}

function toolIn(tool: unknown, notify: Notify): NonNullable<Content['tools']> {
  const called = isObject(tool) ? (tool['function'] ?? tool) : undefined;
  if (!isObject(called) || typeof called['name'] !== 'string') {
    notify('a tool that is not a function is left out');
    return [];
  }
  const { name, description, parameters, strict } = called;
  return [
    {
      name,
      parameters: isObject(parameters) ? parameters : { type: 'object' },
      ...(typeof description === 'string' && { description }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  ];
}

function choiceIn(choice: unknown, notify: Notify): Content['tool_choice'] | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const called = isObject(choice) ? (choice['function'] ?? choice) : undefined;
  if (isObject(called) && typeof called['name'] === 'string') return { name: called['name'] };
  notify('tool_choice: not taken over');
  return undefined;
}
