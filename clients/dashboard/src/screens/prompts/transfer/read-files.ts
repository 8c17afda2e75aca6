import {
  converters,
  FormatError,
  type Converted,
  type ConvertOptions,
  type ForeignFormat,
  type PromptFile,
  type SizedPrompt,
  type Source,
} from 'prompt-gateway-client/transfer';

/** A prompt that was found in the files. */
export interface ReadPrompt extends SizedPrompt {
  /** What does not map from another tool. */
  readonly notes: readonly string[];
  /** Whether a prompt before it has the same slug. */
  readonly isRepeated: boolean;
}

/** What files contain. */
export interface ReadFiles {
  readonly prompts: readonly ReadPrompt[];
  /** The tools that files come from, besides this service. */
  readonly formats: readonly ForeignFormat[];
  /** Files that are in none of the formats, with the reason if it is known. */
  readonly unknown: readonly { readonly name: string; readonly reason?: string }[];
  /** Prompts of other tools that are left out as a whole. */
  readonly leftOut: Converted['notes'];
}

type Members = Readonly<Record<string, unknown>>;

/** Texts that a configuration of promptfoo can name. Alone, they are no prompts. */
const companions = /\.(txt|j2)$/i;
const ofPromptfoo = /\.ya?ml$/i;
const ofMarkdown = /\.(md|markdown|prompt|prompty)$/i;

/**
 * Finds the prompts in files: those of exports of this service, and those of other tools, in the form of an export.
 * @param provider of models of other tools that are named without one
 */
export async function readFiles(sources: readonly Source[], provider: string | undefined): Promise<ReadFiles> {
  const pause = createPauses();
  const prompts: PromptFile[] = [];
  const notes = new Map<string, string[]>();
  const unknown: { name: string; reason?: string }[] = [];
  const leftOut: Converted['notes'][number][] = [];
  const foreign = new Map<ForeignFormat, Source[]>();
  for (const source of sources) {
    await pause();
    const own = await ownPrompts(source, pause);
    const format = own === undefined ? formatOf(source, sources) : undefined;
    if (own !== undefined) prompts.push(...own);
    else if (format !== undefined) foreign.set(format, [...(foreign.get(format) ?? []), source]);
    else unknown.push({ name: source.name });
  }
  const inYaml = foreign.has('promptfoo') || foreign.has('markdown');
  const parseYaml: ConvertOptions['parseYaml'] = inYaml ? (await import('yaml')).parse : JSON.parse;
  for (const [format, files] of foreign) {
    try {
      const converted = converters[format](files, { provider, parseYaml });
      prompts.push(...converted.prompts);
      for (const note of converted.notes) {
        const slug = converted.prompts.find(({ name }) => name === note.prompt.slice(0, name.length))?.slug;
        if (slug === undefined) leftOut.push(note);
        else notes.set(slug, [...(notes.get(slug) ?? []), note.detail]);
      }
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      unknown.push({ name: files.map(({ name }) => name).join(', '), reason: error.message });
    }
  }
  const read: ReadPrompt[] = [];
  const slugs = new Set<string>();
  for (const prompt of prompts) {
    await pause();
    const { slug } = prompt;
    read.push({
      prompt,
      length: JSON.stringify(prompt).length,
      notes: notes.get(slug) ?? [],
      isRepeated: slugs.has(slug),
    });
    slugs.add(slug);
  }
  return { prompts: read, formats: [...foreign.keys()], unknown, leftOut };
}

/** The prompts of an export (JSON Lines), or of a file of one prompt or a list of them; undefined if it is none. */
async function ownPrompts({ text }: Source, pause: () => Promise<void>): Promise<PromptFile[] | undefined> {
  const whole = parse(text);
  if (whole !== undefined) {
    const list = isObject(whole) && Array.isArray(whole['prompts']) ? whole['prompts'] : [whole].flat();
    return list.length > 0 && list.every(isPrompt) ? list : undefined;
  }
  const prompts: PromptFile[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    await pause();
    const prompt = parse(line);
    if (!isPrompt(prompt)) return undefined;
    prompts.push(prompt);
  }
  return prompts.length > 0 ? prompts : undefined;
}

/** The tool that a file comes from, by its name and by members that only this tool has. */
function formatOf({ name, text }: Source, all: readonly Source[]): ForeignFormat | undefined {
  if (companions.test(name)) return all.some((one) => ofPromptfoo.test(one.name)) ? 'promptfoo' : undefined;
  if (ofPromptfoo.test(name)) return 'promptfoo';
  if (ofMarkdown.test(name)) return 'markdown';
  const json = parse(text);
  const page = isObject(json) ? [json['data'], json['items']].find(Array.isArray) : undefined;
  const [first] = (page ?? [json].flat()) as unknown[];
  if (!isObject(first)) return undefined;
  if ('prompt_template' in first) return 'promptlayer';
  if ([first['body'], first['prompt_body'], first].some((one) => isObject(one) && Array.isArray(one['messages']))) {
    return 'helicone';
  }
  if (Array.isArray(first['prompts']) || typeof first['prompts'] === 'string') return 'promptfoo';
  return 'name' in first ? 'langfuse' : undefined;
}

/** The service checks the rest. */
function isPrompt(value: unknown): value is PromptFile {
  return isObject(value) && typeof value['slug'] === 'string' && Array.isArray(value['versions']);
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Lets the page react between parts of long work. */
function createPauses(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < 12) return;
    await new Promise((resolve) => {
      setTimeout(resolve);
    });
    since = performance.now();
  };
}
