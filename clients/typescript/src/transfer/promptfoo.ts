import {
  baseName,
  createCollector,
  FormatError,
  generationIn,
  isObject,
  messagesIn,
  noteStatements,
  parseYamlIn,
  textIn,
} from './converted.ts';
import type { Convert, ConvertOptions, Message, Notify, Source } from './converted.ts';

/** Configurations of promptfoo (YAML, or JSON, which is YAML too), with the files that `prompts` name beside them. */
export const convertPromptfoo: Convert = (sources, options) => {
  const { notify: notifyOf, add, result } = createCollector();
  const isConfiguration = ({ name }: Source): boolean => /\.(ya?ml|json)$/.test(name);
  let found = 0;
  for (const source of sources.filter(isConfiguration)) {
    const config = parseYamlIn(source, options.parseYaml);
    if (!isObject(config) || config['prompts'] === undefined) continue;
    const title = textIn(config['description']) ?? baseName(source);
    const prompts = [config['prompts']].flat();
    for (const [index, prompt] of prompts.entries()) {
      const given = isObject(prompt) ? (textIn(prompt['label']) ?? textIn(prompt['id'])) : undefined;
      const raw = isObject(prompt) ? (textIn(prompt['raw']) ?? textIn(prompt['id'])) : textIn(prompt);
      if (raw === undefined) throw new FormatError(`${source.name}: prompts/${index} is neither a text nor has one.`);
      const file = /^(?:file:\/\/)?([^\n]+\.(?:txt|md|json|ya?ml|j2|js|ts|py|csv))(?::\w+)?$/.exec(raw)?.[1];
      const name =
        given ?? (file === undefined ? numbered(title, index, prompts.length) : baseName({ name: lastPart(file) }));
      const notify = notifyOf(name);
      const text = file === undefined ? raw : sources.find((one) => one.name === lastPart(file))?.text;
      found += 1;
      if (text === undefined || /\.(js|ts|py|csv)$/.test(file ?? '')) {
        notify.mistake(
          `${raw} is left out: ${text === undefined ? 'the file is not among those that are converted' : 'it is a program or a table'}`,
        );
        continue;
      }
      if (config['tests'] !== undefined || config['defaultTest'] !== undefined)
        notify('tests and their assertions are not converted; `datasets push` takes them');
      const messages = messagesOf(text, notify, options);
      add({
        prompt: name,
        order: [1],
        labels: [],
        content: { messages, ...providerOf(config, options.provider, notify) },
      });
    }
  }
  if (found === 0) throw new FormatError('No file is a configuration of promptfoo with prompts.');
  return result();
};

function numbered(title: string, index: number, count: number): string {
  return count === 1 ? title : `${title} ${index + 1}`;
}

function lastPart(file: string): string {
  return file.split('/').at(-1) ?? file;
}

/** A text of the user, or a conversation as JSON or YAML. */
function messagesOf(text: string, notify: Notify, { parseYaml }: ConvertOptions): Message[] {
  const toText = (part: string): string => noteStatements(part, notify);
  if (/^\s*(\[|- role:)/.test(text)) {
    try {
      const parsed = parseYaml(text);
      if (Array.isArray(parsed)) return messagesIn(parsed, notify, toText);
    } catch {
      notify('is a conversation with statements in it, so it becomes one message of the user');
    }
  }
  return [{ role: 'user', content: toText(text.trim()) }];
}

/** The first provider: a text, `{id, config}`, or `{<id>: {config}}`. */
function providerOf(config: Readonly<Record<string, unknown>>, provider: string | undefined, notify: Notify) {
  const all = [config['providers'] ?? config['targets'] ?? []].flat();
  const [first] = all;
  const names = all.map((one) => (isObject(one) ? (textIn(one['id']) ?? Object.keys(one)[0]) : textIn(one)) ?? '');
  if (all.length > 1) notify(`only the first of the providers is taken over: ${names.slice(1).join(', ')}`);
  const inner = isObject(first)
    ? (first['config'] ?? (names[0] === undefined ? undefined : membersOf(first[names[0]])['config']))
    : undefined;
  return generationIn({ ...membersOf(inner), model: names[0] }, provider, notify);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
