import { isDeepStrictEqual } from 'node:util';
import { lostBreakpoints } from '../cache-hints.ts';
import { imagesIn, isDataUrl } from '../images.ts';
import { textOfMessage, type GenerateRequest, type Message } from '../language-model.ts';
import type { Unsupported } from '../provider.ts';
import { toAssistantParts } from '../call/parts.ts';
import { imageUrlsOf, prepareSdkCall, takesImage } from '../call/request.ts';
import type { SdkProvider } from '../vendors/vendor.ts';
import { toContentShape, toPartShape } from './shape.ts';
import { bodyOf, isFormatFunction, without } from './twin.ts';

/**
 * What a provider gets in another form than the request has it: texts, schemas and `strict` that are not as they are in
 * what the package would send, and addresses of images whose characters are escaped. Nothing is sent.
 *
 * @param twin The provider with `twinFetch`
 */
export async function findRewritten(twin: SdkProvider, request: GenerateRequest): Promise<Unsupported[]> {
  const short = { ...request, messages: shorten(request.messages) };
  const body = await bodyOf(twin, short);
  const found = body === undefined ? [] : [...(await findFormat(twin, short, body)), ...findTexts(twin, short, body)];
  const lost = lostBreakpoints(request, twin.dialect).map(({ member }) => ({
    member,
    detail: 'The provider does not get it. It decides itself what it caches.',
  }));
  return [...found, ...(await findAddresses(twin, request)), ...lost];
}

/** Characters at each end of a text that stand for it. */
const endCharacters = 20;

/** Messages with short texts of which no two are equal. No package looks at more of a text than its ends. */
function shorten(messages: readonly Message[]): Message[] {
  let number = 0;
  const toText = (text: string): string => {
    if (text.trim() === '') return text;
    number += 1;
    return `${text.slice(0, endCharacters)}${number}${text.slice(-endCharacters)}`;
  };
  return messages.map((message) => {
    if (message.role !== 'assistant') return { ...message, content: toContentShape(message.content, toText) };
    const { content } = message;
    if (typeof content === 'string') return { ...message, content: toText(content) };
    const parts = content.map((part) => (part.type === 'tool-call' ? { ...part, arguments: '{}' } : part));
    return { ...message, content: parts.map((part) => toPartShape(part, toText)) };
  });
}

function findTexts(twin: SdkProvider, { messages }: GenerateRequest, body: string): Unsupported[] {
  const sent = new Set(partsOf(body));
  // The texts of a message go out as parts or as one.
  const isSent = (message: Message): boolean =>
    sent.has(textOfMessage(message)) ||
    (message.role === 'assistant'
      ? toAssistantParts(twin, message).every((part) => part.type !== 'text' || sent.has(part.text))
      : textsIn(message).every((text) => sent.has(text)));
  return messages.flatMap((message, index) =>
    textsOf(message, `messages/${index}/content`).flatMap(({ text, member }) => {
      if (text === '' || sent.has(text) || isSent(message)) return [];
      const isTrimmed = sent.has(text.trim());
      const detail = isTrimmed
        ? 'The provider gets it without white space at its ends.'
        : 'The provider does not get this text.';
      return [{ member, detail }];
    }),
  );
}

function textsIn({ content }: Message): string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : []));
}

/** The texts of a message whose places a caller knows. */
function textsOf(message: Message, member: string): { text: string; member: string }[] {
  if (message.role !== 'user' || typeof message.content === 'string') return [{ text: textOfMessage(message), member }];
  return message.content.flatMap((part, at) =>
    part.type === 'text' ? [{ text: part.text, member: `${member}/${at}` }] : [],
  );
}

async function findFormat(twin: SdkProvider, request: GenerateRequest, body: string): Promise<Unsupported[]> {
  const { responseFormat: format } = request;
  if (format?.type !== 'json' || format.schema === undefined) return [];
  if (await isFormatFunction(twin, request)) {
    return [
      { member: 'response_format', detail: 'The provider gets the schema as a function that the model has to call.' },
    ];
  }
  const { options } = await prepareSdkCall(twin, request);
  const schema = options.responseFormat?.type === 'json' ? options.responseFormat.schema : undefined;
  const holder = partsOf(body).find((part) => membersOf(part).some((member) => isDeepStrictEqual(member, schema)));
  const found: Unsupported[] = [];
  if (holder === undefined) {
    const lax = { ...request, responseFormat: without(format, 'schema') };
    // Otherwise it is unsupported.
    if ((await bodyOf(twin, lax)) !== body) {
      const detail = 'The provider gets the schema in another form, because its API does not take it as it is.';
      found.push({ member: 'response_format/schema', detail });
    }
  }
  const { strict } = (holder ?? {}) as { strict?: unknown };
  const member = 'response_format/strict';
  if (typeof strict === 'boolean') {
    if (strict !== (format.strict ?? false)) found.push({ member, detail: `The provider gets ${strict}.` });
  } else if (format.strict !== undefined && !twin.dialect.strictJsonSchema) {
    found.push({ member, detail: 'The provider does not get it. It decides how exactly it follows the schema.' });
  }
  return found;
}

/** All values in a body, itself first. */
function partsOf(body: string): unknown[] {
  const parts: unknown[] = [JSON.parse(body)];
  for (let at = 0; at < parts.length; at += 1) for (const member of membersOf(parts[at])) parts.push(member);
  return parts;
}

function membersOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

async function findAddresses(twin: SdkProvider, { model, messages }: GenerateRequest): Promise<Unsupported[]> {
  const images = imagesIn(messages).filter(({ message, url }) => message.role === 'user' && !isDataUrl(url));
  if (images.length === 0) return [];
  const accepted = await twin.models().then(
    (models) => imageUrlsOf(models(model), twin.dialect),
    () => [],
  );
  return images.flatMap(({ url, member }) => {
    const sent = takesImage(url, accepted) ? new URL(url).href : url;
    return sent === url ? [] : [{ member, detail: `The provider gets the address ${sent.slice(0, 900)}` }];
  });
}
