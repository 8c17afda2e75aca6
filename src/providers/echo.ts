import { ProblemError } from '../errors/problem-error.ts';
import {
  textOf,
  type CallOptions,
  type GenerateEvent,
  type GenerateRequest,
  type GenerateResult,
  type Message,
} from './generation.ts';

/**
 * The provider that needs no network: it answers with the last user message (without one, the last message). `echo-1`
 * returns it unchanged, `echo-upper` in upper case, `echo-reverse` with its words in reverse order. Usage counts the
 * words (runs of characters other than white space) of all messages and of the answer.
 *
 * @throws ProblemError `provider-failed` for any other model, as a real provider does for an unknown model
 */
export function echo({ model, messages }: GenerateRequest, { signal }: Pick<CallOptions, 'signal'>): GenerateResult {
  signal.throwIfAborted();
  const transform = transforms.get(model);
  if (transform === undefined) {
    throw new ProblemError('provider-failed', {
      detail: 'The provider has no such model.',
      extensions: { provider: 'echo', model, retryable: false },
    });
  }
  const text = transform(subject(messages));
  const inputTokens = messages.reduce((sum, message) => sum + countWords(textOf(message)), 0);
  return { text, finishReason: 'stop', usage: { inputTokens, outputTokens: countWords(text) } };
}

/** The answer of `echo` in pieces of one word. */
export async function* echoStream(
  request: GenerateRequest,
  { signal }: Pick<CallOptions, 'signal'>,
): AsyncGenerator<GenerateEvent> {
  const result = echo(request, { signal });
  for (const [delta] of result.text.matchAll(/\s*\S+\s*?|\s+$/g)) {
    signal.throwIfAborted();
    yield { type: 'text', delta };
  }
  for (const toolCall of result.toolCalls ?? []) yield { type: 'tool-call', toolCall };
  yield { type: 'finish', result };
}

const transforms: ReadonlyMap<string, (text: string) => string> = new Map([
  ['echo-1', (text) => text],
  ['echo-upper', (text) => text.toUpperCase()],
  ['echo-reverse', (text) => words(text).reverse().join(' ')],
]);

function subject(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'user') ?? messages.at(-1);
  return last === undefined ? '' : textOf(last);
}

/** Counts without storing the words: a prompt can have millions. */
function countWords(text: string): number {
  let count = 0;
  for (const word = /\S+/g; word.test(text);) count += 1;
  return count;
}

function words(text: string): string[] {
  return text.match(/\S+/g) ?? [];
}
