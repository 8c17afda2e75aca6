import type { Schemas } from 'prompt-gateway-client';
import { objectMistake, objectOf, type JsonMistake } from './exact-json.ts';

export type Parameters = Readonly<Schemas['GenerationParameters']>;

/** A tool while it is edited. */
export interface DraftTool {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly strict: boolean | undefined;
  /** JSON text of the schema of its arguments. */
  readonly parameters: string;
}

/** The form of the answer while it is edited. All but `type` count only for `json`. */
export interface DraftFormat {
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly strict: boolean | undefined;
  /** JSON text; blank: any JSON. */
  readonly schema: string;
}

/** The options of one provider while they are edited. */
export interface DraftOptions {
  readonly key: string;
  readonly provider: string;
  /** JSON text. */
  readonly options: string;
}

/** A fallback while it is edited. */
export interface DraftFallback {
  readonly key: string;
  readonly provider: string;
  /** Empty: the provider's default. */
  readonly model: string;
}

/** How a prompt's answers are generated, while it is edited. */
export interface GenerationDraft {
  readonly parameters: Parameters;
  readonly format: DraftFormat;
  readonly tools: readonly DraftTool[];
  /** Empty: as the model decides. `tool:` and a name: this tool. Else as the contract has it. */
  readonly toolChoice: string;
  readonly providerOptions: readonly DraftOptions[];
  readonly fallbacks: readonly DraftFallback[];
  /** How often a call is repeated that may have been billed. */
  readonly retries: number;
}

/** What is wrong at one field. */
export type GenerationMistake = JsonMistake | 'name' | 'taken' | 'provider';

/** Members of a prompt's content that say how answers are generated. */
export type Generation = Pick<
  Schemas['PromptVersion'],
  'parameters' | 'response_format' | 'tools' | 'tool_choice' | 'provider_options' | 'fallbacks' | 'retries'
>;

const toolName = /^[A-Za-z0-9_-]{1,64}$/;
/** What the arguments of a new tool look like. */
const noArguments = { type: 'object', properties: {}, required: [] };

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** The names of the parameters, in the order in which they are shown. */
export const parameterNames = [
  'temperature',
  'top_p',
  'top_k',
  'max_output_tokens',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'reasoning_effort',
  'parallel_tool_calls',
] as const satisfies readonly (keyof Parameters)[];

/** The parameters with another value of one of them; without a value it is the provider's default. */
export function withParameter<Name extends keyof Parameters>(
  parameters: Parameters,
  name: Name,
  value: Parameters[Name] | undefined,
): Parameters {
  const { [name]: _, ...rest } = parameters;
  const changed: Parameters = value === undefined ? rest : { ...rest, [name]: value };
  // In one order, so that the same parameters are the same text.
  const known = parameterNames.flatMap((one) => (changed[one] === undefined ? [] : [[one, changed[one]]]));
  return { ...(Object.fromEntries(known) as Parameters), ...changed };
}

/** A tool with a key of its own. */
export function newTool(tool: Partial<Omit<DraftTool, 'key'>> = {}): DraftTool {
  return {
    name: '',
    description: '',
    strict: undefined,
    parameters: pretty(noArguments),
    ...tool,
    key: crypto.randomUUID(),
  };
}

/** Options with a key of their own. */
export function newOptions(provider: string, options = '{}'): DraftOptions {
  return { key: crypto.randomUUID(), provider, options };
}

/** A fallback with a key of its own. */
export function newFallback(provider: string, model = ''): DraftFallback {
  return { key: crypto.randomUUID(), provider, model };
}

/** The draft that changes nothing of this content. */
export function generationDraftOf(content: Generation): GenerationDraft {
  const { parameters = {}, response_format: format, tools = [], tool_choice: choice = 'auto' } = content;
  return {
    parameters,
    format: {
      type: format?.type ?? 'text',
      name: format?.name ?? '',
      description: format?.description ?? '',
      strict: format?.strict,
      schema: format?.schema === undefined ? '' : pretty(format.schema),
    },
    tools: tools.map(({ name, description = '', strict, parameters: schema }) =>
      newTool({ name, description, strict, parameters: pretty(schema) }),
    ),
    toolChoice: typeof choice === 'object' ? choiceOf(choice.name) : choice === 'auto' ? '' : choice,
    providerOptions: Object.entries(content.provider_options ?? {}).map(([provider, options]) =>
      newOptions(provider, pretty(options)),
    ),
    fallbacks: (content.fallbacks ?? []).map(({ provider, model }) => newFallback(provider, model)),
    retries: content.retries ?? 0,
  };
}

/** The value of a draft's `toolChoice` that names a tool. */
export function choiceOf(tool: string): string {
  return `tool:${tool}`;
}

/** The draft as the contract has it; without what has the provider's default. JSON that is wrong counts as `{}`. */
export function generationOf(draft: GenerationDraft): Generation {
  const { parameters, format, tools, toolChoice, providerOptions, fallbacks, retries } = draft;
  return {
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(format.type !== 'text' && { response_format: formatOf(format) }),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(toolChoice !== '' && {
      tool_choice: toolChoice.startsWith('tool:') ? { name: toolChoice.slice('tool:'.length) } : toolChoice,
    }),
    ...(providerOptions.length > 0 && {
      // `fromEntries` makes own members, also of `__proto__`.
      provider_options: Object.fromEntries(
        providerOptions.map(({ provider, options }) => [provider, objectOf(options) ?? {}]),
      ),
    }),
    ...(fallbacks.length > 0 && {
      fallbacks: fallbacks.map(({ provider, model }) => ({ provider, ...(model !== '' && { model }) })),
    }),
    ...(retries > 0 && { retries }),
  };
}

function formatOf({
  type,
  name,
  description,
  strict,
  schema,
}: DraftFormat): NonNullable<Generation['response_format']> {
  const value = schema.trim() === '' ? undefined : objectOf(schema);
  return {
    type,
    ...(name !== '' && { name }),
    ...(description !== '' && { description }),
    ...(strict !== undefined && { strict }),
    ...(value !== undefined && { schema: value }),
  };
}

function toolOf({ name, description, strict, parameters }: DraftTool): NonNullable<Generation['tools']>[number] {
  return {
    name,
    ...(description !== '' && { description }),
    ...(strict !== undefined && { strict }),
    parameters: objectOf(parameters) ?? {},
  };
}

/**
 * Finds what the service would refuse, by place: `format.schema`, `format.name`, and the key of a tool, of options or
 * of a fallback with the name of its field.
 */
export function generationMistakesOf(draft: GenerationDraft): ReadonlyMap<string, GenerationMistake> {
  const found = new Map<string, GenerationMistake>();
  const add = (place: string, mistake: GenerationMistake | undefined): void => {
    if (mistake !== undefined) found.set(place, mistake);
  };
  const { format, tools, providerOptions, fallbacks } = draft;
  if (format.type === 'json') {
    if (format.schema.trim() !== '') add('format.schema', objectMistake(format.schema));
    if (format.name !== '' && !toolName.test(format.name)) add('format.name', 'name');
  }
  const names = new Set<string>();
  for (const { key, name, parameters } of tools) {
    add(`${key}.name`, !toolName.test(name) ? 'name' : names.has(name) ? 'taken' : undefined);
    add(`${key}.parameters`, objectMistake(parameters));
    names.add(name);
  }
  const providers = new Set<string>();
  for (const { key, provider, options } of providerOptions) {
    add(`${key}.provider`, provider === '' ? 'provider' : providers.has(provider) ? 'taken' : undefined);
    add(`${key}.options`, objectMistake(options));
    providers.add(provider);
  }
  for (const { key, provider } of fallbacks) if (provider === '') add(`${key}.provider`, 'provider');
  return found;
}
