import { callBytes, copies } from '../../base/limits/memory-budget.ts';
import type { GenerateRequest, Message } from '../../models/language-model.ts';
import { tokensIn, vectorBytes } from '../../models/vectors.ts';
import type { Plan } from './plan.ts';

/** The memory for the calls of a plan, in bytes. They are made one after the other, and share their messages. */
export function bytesOf({ targets }: Plan): number {
  return callBytes + Math.max(...targets.map(({ request }) => copies * lengthOf(request) + bytesOfVectors(request)));
}

function bytesOfVectors({ embedding }: GenerateRequest): number {
  return embedding === undefined ? 0 : vectorBytes(embedding);
}

/** The characters of everything in a request that can be long. */
function lengthOf({ messages, embedding, original, ...rest }: GenerateRequest): number {
  if (original !== undefined)
    return messages.reduce((sum, message) => sum + lengthOfMessage(message), original.text.length);
  const { tools, responseFormat, providerOptions, parameters } = rest;
  const hasMore = [tools, responseFormat, providerOptions, parameters].some((member) => member !== undefined);
  // Of the texts there are messages.
  const others = (hasMore ? lengthOfJson(rest) : 0) + (embedding === undefined ? 0 : tokensIn(embedding));
  return messages.reduce((sum, message) => sum + lengthOfMessage(message), others);
}

function lengthOfMessage({ content }: Message): number {
  return typeof content === 'string' ? content.length : content.reduce((sum, part) => sum + lengthOfPart(part), 0);
}

function lengthOfPart(part: Exclude<Message['content'], string>[number]): number {
  if (part.type === 'text') return part.text.length;
  return part.type === 'image' ? part.url.length : lengthOfJson(part);
}

/** About the length of a value as JSON. Writing it would hold up others if it is large. */
function lengthOfJson(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let length = 2;
  if (Array.isArray(value)) for (const element of value) length += lengthOfJson(element) + 1;
  else for (const [name, member] of Object.entries(value)) length += name.length + 4 + lengthOfJson(member);
  return length;
}
