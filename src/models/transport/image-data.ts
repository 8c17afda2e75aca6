/**
 * Keeps the data of images out of the provider packages. They write the whole request as JSON, some of them twice, which
 * stops the event loop for long with many megabytes. So they get a short stand-in, and the `fetch` under them puts the
 * data in its place.
 */
import { randomUUID } from 'node:crypto';
import type { LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { TextInPieces, type Fetch } from './http.ts';

/** Shorter data goes through the packages. */
const shortest = 16 * 1024;
/** How stand-ins begin. Nobody can guess it, so no text of a caller or a model has one. */
const beginning = `image-${randomUUID()}-`;
const standIns = new RegExp(`${beginning}(\\d+);`);

/** The data of the images of each call, by the signal that ends it: the packages hand it on to their `fetch`. */
const dataOfCalls = new WeakMap<AbortSignal, readonly string[]>();

/**
 * Replaces the data of images in a prompt.
 *
 * @param signal ends the call; the call's `fetch` must get the same one
 */
export function withoutImageData(prompt: LanguageModelV4Prompt, signal: AbortSignal): LanguageModelV4Prompt {
  const taken: string[] = [];
  const take = <Part extends { readonly type: string }>(part: Part | LanguageModelV4FilePart): typeof part => {
    if (!('data' in part) || part.data.type !== 'data') return part;
    const { data } = part.data;
    if (typeof data !== 'string' || data.length < shortest) return part;
    taken.push(data);
    return { ...part, data: { ...part.data, data: `${beginning}${taken.length - 1};` } };
  };
  const short = prompt.map((message) => {
    if (message.role === 'user') return { ...message, content: message.content.map(take) };
    if (message.role !== 'tool') return message;
    const content = message.content.map((part) => {
      if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
      return { ...part, output: { ...part.output, value: part.output.value.map(take) } };
    });
    return { ...message, content };
  });
  if (taken.length === 0) return prompt;
  dataOfCalls.set(signal, taken);
  return short;
}

/** Puts the data of images back into the bodies of requests, which are sent in pieces then. */
export function withImageData(fetch: Fetch): Fetch {
  return (url, init) => {
    const data = init?.signal ? dataOfCalls.get(init.signal) : undefined;
    if (data === undefined || typeof init?.body !== 'string') return fetch(url, init);
    return fetch(url, { ...init, body: new TextInPieces(restored(init.body, data)) });
  };
}

/** The parts of the body, with the data in place of its stand-ins. */
function restored(body: string, data: readonly string[]): string[] {
  // With a group in the pattern, every second part is the index of a stand-in.
  return body.split(standIns).map((part, position) => (position % 2 === 0 ? part : (data[Number(part)] ?? '')));
}
