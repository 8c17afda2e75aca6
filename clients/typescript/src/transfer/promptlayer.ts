import {
  convertEntries,
  FormatError,
  generationIn,
  isObject,
  listIn,
  messagesIn,
  noteReferences,
  noteStatements,
  textIn,
} from './converted.ts';
import type { Convert, Message, Notify } from './converted.ts';

/** Prompt templates of PromptLayer, as its API answers: one, a list, or a page with `items`. */
export const convertPromptLayer: Convert = convertEntries('items', (one, { source, provider, notify: notifyOf }) => {
  const template = one['prompt_template'];
  const name = textIn(one['prompt_name']);
  if (!isObject(template) || name === undefined) {
    throw new FormatError(`${source.name} has no prompt template of PromptLayer.`);
  }
  const notify = notifyOf(name);
  const tags = listIn(one['tags']);
  if (tags.length > 0) notify(`tags are left out: ${tags.join(', ')}`);
  const metadata = isObject(one['metadata']) ? one['metadata'] : {};
  const model = isObject(metadata['model']) ? metadata['model'] : {};
  const parameters = isObject(model['parameters']) ? model['parameters'] : {};
  const own = Object.keys(metadata).filter((key) => key !== 'model');
  if (own.length > 0) notify(`metadata is left out: ${own.join(', ')}`);
  const config = {
    tools: template['tools'] ?? template['functions'],
    tool_choice: template['tool_choice'],
    ...parameters,
    model: model['name'],
    provider: model['provider'],
  };
  const messages = messagesOf(template, notify);
  noteReferences(messages, notify);
  return {
    prompt: name,
    order: [Number(one['version'] ?? 1)],
    labels: listIn(one['labels']).map(String),
    note: textIn(one['commit_message']),
    content: { messages, ...generationIn(config, provider, notify) },
  };
});

function messagesOf(template: Readonly<Record<string, unknown>>, notify: Notify): Message[] {
  if (!Array.isArray(template['messages'])) {
    notify('a completion becomes a message of the user');
    return messagesIn(
      [{ role: 'user', content: template['content'] }],
      notify,
      reader(template['template_format'], notify),
    );
  }
  return template['messages'].flatMap((message: unknown): Message[] => {
    if (!isObject(message)) return [];
    if (message['role'] === 'placeholder') {
      notify(
        `the placeholder ${JSON.stringify(message['name'])} is left out: send its messages as \`messages\`, which follow the prompt's`,
      );
      return [];
    }
    // An older form has the text in `prompt`.
    const { prompt } = message;
    const content = isObject(prompt) ? prompt['template'] : message['content'];
    const format = (isObject(prompt) ? prompt : message)['template_format'] ?? template['template_format'];
    return messagesIn([{ ...message, content }], notify, reader(format, notify));
  });
}

function reader(format: unknown, notify: Notify): (text: string) => string {
  return format === 'jinja2' ? (text) => noteStatements(text, notify) : (text) => fromFString(text, notify);
}

/** `{name}` is a variable, and a doubled brace one brace. */
function fromFString(text: string, notify: Notify): string {
  return text.replaceAll(/\{\{|\}\}|\{([^{}]*)\}/g, (found, name: string | undefined) => {
    if (name === undefined) return found[0] ?? '';
    if (/^[A-Za-z_][\w.-]*$/.test(name)) return `{{${name}}}`;
    notify.mistake(`${found} is not a variable here`);
    return found;
  });
}
