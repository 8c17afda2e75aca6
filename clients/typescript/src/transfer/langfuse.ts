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
import { textsOf } from '../generated/template/render.ts';
import type { Convert, Message, Notify } from './converted.ts';

/**
 * Prompts of Langfuse, as its page exports them and as its API answers
 * (`GET /api/public/v2/prompts/{name}?version=…`): one, a list, or a page with `data`. Each is one version.
 */
export const convertLangfuse: Convert = convertEntries('data', (one, { source, provider, notify: notifyOf }) => {
  const name = textIn(one['name']);
  if (name === undefined) throw new FormatError(`${source.name} has no prompt of Langfuse.`);
  const notify = notifyOf(name);
  if (one['prompt'] === undefined) {
    notify('has no content: the list of prompts names them only. Get each version of each prompt.');
    return undefined;
  }
  const tags = listIn(one['tags']);
  if (tags.length > 0) notify(`tags are left out: ${tags.join(', ')}`);
  const messages = messagesOf(one['prompt'], notify);
  noteReferences(messages, notify);
  for (const text of messages.flatMap(({ content }) => textsOf(content))) noteStatements(text, notify);
  return {
    prompt: name,
    order: [Number(one['version'] ?? 1)],
    labels: listIn(one['labels']).map(String),
    note: textIn(one['commitMessage']),
    content: { messages, ...generationIn(isObject(one['config']) ? one['config'] : {}, provider, notify) },
  };
});

function messagesOf(prompt: unknown, notify: Notify): Message[] {
  if (typeof prompt === 'string') {
    notify('a text prompt becomes a message of the user');
    return [{ role: 'user', content: prompt }];
  }
  const entries = listIn(prompt).filter((entry) => {
    if (!isObject(entry) || entry['type'] !== 'placeholder') return true;
    notify(
      `the placeholder ${JSON.stringify(entry['name'])} is left out: send its messages as \`messages\`, which follow the prompt's`,
    );
    return false;
  });
  return messagesIn(entries, notify);
}
