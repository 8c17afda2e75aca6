import type { Texts } from '../../../texts/en.ts';
import { parameterNames, type Generation, type GenerationDraft } from './generation-draft.ts';

export type GenerationWords = Texts['prompts']['generation'];

/** A stop sequence on one line: line breaks and other invisible characters as JSON writes them. */
export function stopText(stop: string): string {
  return JSON.stringify(stop).slice(1, -1);
}

/** The stop sequence that was typed like this. */
export function stopOf(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/** A parameter's value for people. */
export function parameterText(name: string, value: unknown, words: GenerationWords): string {
  if (Array.isArray(value)) return value.map((one) => `"${stopText(String(one))}"`).join(', ');
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  return name === 'reasoning_effort' ? (words.parameters.efforts[String(value)] ?? String(value)) : String(value);
}

/** What is set, in few words: `temperature 0.2`, `2 tools`, `JSON`. */
export interface GenerationSummary {
  readonly parameters: readonly string[];
  readonly format: readonly string[];
  readonly tools: readonly string[];
  readonly options: readonly string[];
  readonly fallbacks: readonly string[];
}

/** What of a draft is not the provider's default. */
export function summaryOf(draft: GenerationDraft, words: GenerationWords): GenerationSummary {
  const { parameters, format, tools, toolChoice, providerOptions, fallbacks, retries } = draft;
  return {
    parameters: parametersSummary(parameters, words),
    format: format.type === 'text' ? [] : [words.format.types[format.type] ?? format.type],
    tools: [
      ...(tools.length > 0 ? [words.tools.count(tools.length)] : []),
      ...(toolChoice === '' ? [] : [toolChoiceText(toolChoice, words)]),
    ],
    options:
      providerOptions.length > 0
        ? [words.options.summary(providerOptions.map(({ provider }) => provider).join(', '))]
        : [],
    fallbacks: [
      ...(fallbacks.length > 0 ? [words.fallbacks.count(fallbacks.length)] : []),
      ...(retries > 0 ? [words.fallbacks.retriesCount(retries)] : []),
    ],
  };
}

/** The parameters that are set, in few words. */
export function parametersSummary(parameters: GenerationDraft['parameters'], words: GenerationWords): string[] {
  return parameterNames.flatMap((name) => {
    const value = parameters[name];
    return value === undefined
      ? []
      : [`${words.parameters.inSummary[name] ?? name} ${parameterText(name, value, words)}`];
  });
}

/** A tool choice for people. */
export function toolChoiceText(choice: string, { tools }: GenerationWords): string {
  return choice.startsWith('tool:') ? tools.choiceOf(choice.slice('tool:'.length)) : (tools.choices[choice] ?? choice);
}

/** What a content says about the generation: sections with a heading each; none for what is the provider's default. */
export function generationText(content: Generation, words: GenerationWords): string {
  const { parameters = {}, response_format: format, tools = [], tool_choice: choice } = content;
  const known: readonly string[] = parameterNames;
  const names = [...known, ...Object.keys(parameters).filter((name) => !known.includes(name))];
  const values: Readonly<Record<string, unknown>> = parameters;
  const lines = names.flatMap((name) =>
    values[name] === undefined
      ? []
      : [`${words.parameters.names[name] ?? name}: ${parameterText(name, values[name], words)}`],
  );
  const sections: (readonly [string, readonly (string | undefined)[]])[] = [
    [words.parameters.title, lines],
    [
      words.format.title,
      format === undefined
        ? []
        : [
            words.format.types[format.type] ?? format.type,
            line(words.format.name, format.name),
            line(words.format.description, format.description),
            line(words.format.strict, format.strict === undefined ? undefined : format.strict ? words.yes : words.no),
            format.schema === undefined ? undefined : pretty(format.schema),
          ],
    ],
    ...tools.map(
      (tool) =>
        [
          words.tool(tool.name),
          [
            line(words.tools.purpose, tool.description),
            line(words.tools.strict, tool.strict === undefined ? undefined : tool.strict ? words.yes : words.no),
            pretty(tool.parameters),
          ],
        ] as const,
    ),
    [
      words.tools.choice,
      choice === undefined ? [] : [toolChoiceText(typeof choice === 'object' ? `tool:${choice.name}` : choice, words)],
    ],
    ...Object.entries(content.provider_options ?? {}).map(
      ([provider, options]) => [words.optionsOf(provider), [pretty(options)]] as const,
    ),
    [
      words.fallbacks.title,
      [
        ...(content.fallbacks ?? []).map(
          ({ provider, model }, index) => `${index + 1}. ${provider}${model === undefined ? '' : ` / ${model}`}`,
        ),
        ...(content.retries === undefined ? [] : [words.fallbacks.retriesCount(content.retries)]),
      ],
    ],
  ];
  return sections
    .flatMap(([title, texts]) => (texts.length === 0 ? [] : [[`── ${title} ──`, ...texts.filter(isText)].join('\n')]))
    .join('\n\n');
}

function line(name: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${name}: ${value}`;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}
