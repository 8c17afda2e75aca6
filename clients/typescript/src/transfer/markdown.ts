import {
  baseName,
  createCollector,
  generationIn,
  isObject,
  listIn,
  noteStatements,
  parseYamlIn,
  textIn,
} from './converted.ts';
import type { Content, Convert, Message, Notify, Source } from './converted.ts';

type Members = Readonly<Record<string, unknown>>;
type Definitions = NonNullable<Content['variables']>;

/** Markdown with front matter: Prompty (`.prompty`), Dotprompt (`.prompt`), or any other text, which the user says. */
export const convertMarkdown: Convert = (sources, { provider, parseYaml }) => {
  const { notify: notifyOf, add, result } = createCollector();
  for (const source of sources) {
    const [, head = '', body = source.text] =
      /^\uFEFF?---\r?\n(?:(.*?)\r?\n)??---[ \t]*(?:\r?\n|$)(.*)$/s.exec(source.text) ?? [];
    const parsed = parseYamlIn({ ...source, text: head }, parseYaml);
    const front = isObject(parsed) ? parsed : {};
    const prompt = textIn(front['name']) ?? baseName(source);
    const notify = notifyOf(prompt);
    const description = textIn(front['description']);
    const convert = source.name.endsWith('.prompt') ? fromDotprompt : fromPrompty;
    const content = convert({ front, body, source, notify, provider });
    add({ prompt, description, order: [1], labels: [], content });
  }
  return result();
};

interface Document {
  readonly front: Members;
  readonly body: string;
  readonly source: Source;
  readonly notify: Notify;
  readonly provider: string | undefined;
}

/** https://prompty.ai: roles are lines of their own, the template is Jinja. */
function fromPrompty({ front, body, source, notify, provider }: Document): Content {
  const isPrompty = source.name.endsWith('.prompty');
  const known = ['name', 'description', 'model', 'inputs', 'version', 'authors', 'tags', 'template', '$schema'];
  noteOthers(front, known, notify);
  const model = isObject(front['model']) ? front['model'] : {};
  const configuration = membersOf(model['configuration'] ?? model['connection']);
  const config = {
    ...membersOf(model['parameters'] ?? model['options']),
    model:
      textIn(front['model']) ??
      model['id'] ??
      configuration['model'] ??
      configuration['name'] ??
      configuration['azure_deployment'],
    provider: model['provider'] ?? configuration['type'],
  };
  const images = body.match(/!\[[^\]\n]*\]\([^)\n]+\)/g) ?? [];
  if (isPrompty && images.length > 0) notify.mistake(`images are sent as text: ${images.slice(0, 10).join(', ')}`);
  for (const [name, input] of inputEntries(front['inputs'])) {
    const kind = membersOf(input)['type'] ?? membersOf(input)['kind'];
    if (kind === 'image' || kind === 'file' || kind === 'thread')
      notify.mistake(`inputs.${name}: a value of the type ${kind} is sent as text`);
  }
  const marks = /^[ \t]*#?[ \t]*(system|developer|user|assistant)[ \t]*:[ \t]*$/gim;
  const messages = split(noteStatements(body, notify), marks, isPrompty ? 'system' : 'user');
  return { messages, ...variablesOf(inputsOf(front['inputs'])), ...generationIn(config, provider, notify) };
}

/** https://google.github.io/dotprompt: roles are helpers, the template is Handlebars. */
function fromDotprompt({ front, body, notify, provider }: Document): Content {
  noteOthers(front, ['name', 'description', 'model', 'config', 'input', 'output'], notify);
  const { input, output } = front;
  const schema = membersOf(membersOf(input)['schema']);
  const defaults = membersOf(membersOf(input)['default']);
  const described = Object.entries(schema).map(([key, type]): [string, Definitions[string]] => {
    const [, name = key, optional = ''] = /^([\w.-]+)(\??)/.exec(key) ?? [];
    const text = /,\s*(.+)$/s.exec(textIn(type) ?? '')?.[1];
    return [
      name,
      {
        ...(optional === '' && !(name in defaults) && { required: true }),
        ...(text !== undefined && { description: text }),
      },
    ];
  });
  const variables = Object.fromEntries(isJsonSchema(schema) ? [] : described);
  if (isJsonSchema(schema)) notify('input.schema: not taken over');
  for (const [name, value] of Object.entries(defaults))
    variables[name] = { ...variables[name], default: toText(value) };
  const text = body.replaceAll(/\{\{!--.*?--\}\}|\{\{![^}]*\}\}/gs, '');
  // A third brace means that nothing is escaped.
  const plain = text.replaceAll(/\{\{\{(\s*[A-Za-z_][\w.-]*\s*)\}\}\}/g, '{{$1}}');
  if (/\{\{\s*history\s*\}\}/.test(plain)) notify.mistake('{{history}} is a variable here, not the conversation');
  const marks = /\{\{\s*role\s+['"](\w+)['"]\s*\}\}/g;
  const config = { ...membersOf(front['config']), model: front['model'] };
  return {
    messages: split(plain, marks, 'user'),
    ...variablesOf(variables),
    ...generationIn(config, provider, notify),
    ...formatOf(membersOf(output), notify),
  };
}

/** The parts of a text after the marks of roles. */
function split(text: string, marks: RegExp, first: Message['role']): Message[] {
  const messages: Message[] = [];
  let [role, start] = [first, 0];
  const end = (at: number): void => {
    const content = text.slice(start, at).trim();
    if (content !== '') messages.push({ role, content });
  };
  for (const mark of text.matchAll(marks)) {
    end(mark.index);
    const name = (mark[1] ?? '').toLowerCase();
    role = name === 'model' || name === 'assistant' ? 'assistant' : name === 'user' ? 'user' : 'system';
    start = mark.index + mark[0].length;
  }
  end(text.length);
  return messages;
}

function inputEntries(inputs: unknown): (readonly [name: string, input: unknown])[] {
  return Array.isArray(inputs)
    ? listIn(inputs).map((one) => [String(membersOf(one)['name']), one] as const)
    : Object.entries(membersOf(inputs));
}

/** Inputs by name, or a list of them: with their definition, or only with a default. */
function inputsOf(inputs: unknown): Definitions {
  return Object.fromEntries(
    inputEntries(inputs).map(([name, input]): [string, Definitions[string]] => {
      if (!isObject(input)) return [name, input === null || input === undefined ? {} : { default: toText(input) }];
      const { default: value, description, required, is_required } = input;
      return [
        name,
        {
          ...(value !== undefined && value !== null && { default: toText(value) }),
          ...(typeof description === 'string' && { description }),
          ...((required === true || is_required === true) && { required: true }),
        },
      ];
    }),
  );
}

function variablesOf(variables: Definitions): Pick<Content, 'variables'> {
  return Object.keys(variables).length === 0 ? {} : { variables };
}

function formatOf({ format, schema }: Members, notify: Notify): Pick<Content, 'response_format'> {
  if (format !== 'json') return {};
  if (isObject(schema) && isJsonSchema(schema)) return { response_format: { type: 'json', schema } };
  if (schema !== undefined) notify('output.schema is no JSON Schema, so the answer is any JSON');
  return { response_format: { type: 'json' } };
}

function isJsonSchema(schema: Members): boolean {
  return schema['type'] === 'object' && isObject(schema['properties']);
}

/** Members that change what models get. */
const partsOfRequests = ['tools', 'toolConfig', 'output', 'outputs', 'thread', 'messages'];

function noteOthers(front: Members, known: readonly string[], notify: Notify): void {
  const unknown = Object.keys(front).filter((name) => !known.includes(name));
  const lost = unknown.filter((name) => partsOfRequests.includes(name));
  if (lost.length > 0) notify.mistake(`${lost.toSorted().join(', ')}: not taken over`);
  const others = unknown.filter((name) => !lost.includes(name));
  if (others.length > 0) notify(`${others.toSorted().join(', ')}: not taken over`);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function membersOf(value: unknown): Members {
  return isObject(value) ? value : {};
}
