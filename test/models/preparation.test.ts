/** A call that fails before its provider's package is called is a fault of this service, not an answer of the provider. */
import { describe, expect, it } from '@jest/globals';
import type { CalledProvider } from '../../src/models/call/classify.ts';
import { beginEmbedding, type EmbeddingProvider } from '../../src/models/call/embedding.ts';
import type { Failure } from '../../src/models/call/failures.ts';
import type { AttemptResult, Turn } from '../../src/models/call/retries.ts';
import { beginStream } from '../../src/models/call/stream.ts';
import { beginWhole } from '../../src/models/call/whole.ts';
import { request } from './providers-harness.ts';

const faulty = {
  id: 'faulty',
  credentials: 'FAULTY_API_KEY',
  secrets: [],
  own: { isOpenAiCompatible: true },
  models: () => Promise.reject(new TypeError('a mistake of ours')),
};
const provider = faulty as unknown as CalledProvider;
const asked = request('model');

const calls: Record<string, (turn: Turn) => Promise<AttemptResult<unknown>>> = {
  'a whole answer': (turn) => beginWhole(provider, asked, turn),
  'a stream': (turn) => beginStream(provider, asked, turn, { showsThinking: false, needsArgumentObjects: false }),
  vectors: (turn) => beginEmbedding(faulty as unknown as EmbeddingProvider, asked, { input: 'text' }, turn),
};

describe('a call', () => {
  it.each(Object.keys(calls))('for %s is not billed, repeated or read when it could not be prepared', async (name) => {
    const ended: unknown[] = [];
    const turn: Turn = {
      signal: new AbortController().signal,
      leave: () => undefined,
      traceFields: undefined,
      plausible: (usage) => usage,
      check: (result) => Promise.resolve({ result }),
      end: (end) => ended.push(end.isUnbilled),
    };
    const result = await calls[name]?.(turn);
    expect(result).toMatchObject({
      failure: {
        type: 'provider-failed',
        detail: 'The provider could not be called with this request.',
        retryable: false,
        mayBeBilled: false,
      } satisfies Partial<Failure> as object,
    });
    expect(ended).toEqual([true]);
  });
});
