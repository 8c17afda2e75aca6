import { convertEntries, FormatError, generationIn, isObject, listIn, messagesIn, textIn } from './converted.ts';
import type { Convert } from './converted.ts';

const variable = /\{\{\s*hc\s*:\s*([a-zA-Z_-][\w-]*)\s*:\s*([a-zA-Z_-][\w-]*)\s*\}\}/g;
const partial = /\{\{\s*hcp\s*:\s*([^:}]+?)\s*:/g;

/**
 * Prompts of Helicone: the body of a version (`model`, `messages` and parameters, as its address `s3_url` answers),
 * alone or as `body` beside the answers of its API `prompt` and `version`. One or a list.
 */
export const convertHelicone: Convert = convertEntries('data', (one, { source, provider, notify: notifyOf }) => {
  const version = isObject(one['version']) ? one['version'] : {};
  const prompt = isObject(one['prompt']) ? one['prompt'] : {};
  const body = [one['body'], one['prompt_body'], one].find(
    (value) => isObject(value) && Array.isArray(value['messages']),
  );
  if (!isObject(body)) throw new FormatError(`${source.name} has no messages of a prompt of Helicone.`);
  const name =
    textIn(prompt['name']) ??
    textIn(version['prompt_id']) ??
    textIn(body['prompt_id']) ??
    source.name.replace(/\.json$/, '');
  const notify = notifyOf(name);
  const toText = (text: string): string => {
    for (const [, id = ''] of text.matchAll(partial)) {
      notify.mistake(`contains a message of the prompt ${JSON.stringify(id)}: composed prompts do not exist here`);
    }
    return text.replaceAll(variable, (_, named: string, type: string) => {
      if (type !== 'string') notify(`the variable ${named} has no type here; it was ${type}`);
      return `{{${named}}}`;
    });
  };
  const { prompt_id: _id, version_id: _version, environment: _environment, inputs: _inputs, ...rest } = body;
  const config = isObject(rest['response_format']) ? rest : { ...rest, response_format: undefined };
  return {
    prompt: name,
    order: [Number(version['major_version'] ?? 1), Number(version['minor_version'] ?? 0)],
    labels: listIn(version['environments']).map(String),
    note: textIn(version['commit_message']),
    content: {
      messages: messagesIn(listIn(body['messages']), notify, toText),
      ...generationIn({ model: version['model'], ...config }, provider, notify),
    },
  };
});
