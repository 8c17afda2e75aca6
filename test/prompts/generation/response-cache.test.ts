import { describe, expect, it } from '@jest/globals';
import { cacheKey, createResponseCache } from '../../../src/prompts/generation/response-cache.ts';
import type { GenerateRequest, GenerateResult, JsonObject, Message } from '../../../src/models/language-model.ts';

const answer = (text: string): GenerateResult => ({
  content: [{ type: 'text', text }],
  finishReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1 },
});

describe('createResponseCache', () => {
  it('returns an answer of the allowed age, and no older one', () => {
    let now = 0;
    const cache = createResponseCache(1_000_000, () => now);
    cache.set('key', answer('a'));
    now = 1_000;
    expect(cache.get('key', 1_000)).toEqual({ result: answer('a'), ageMs: 1_000 });
    expect(cache.get('key', 999)).toBeUndefined();
    expect(cache.get('key', Infinity)).toEqual({ result: answer('a'), ageMs: 1_000 });
  });

  it('returns nothing for an age of 0, even a new answer', () => {
    const cache = createResponseCache(1_000_000, () => 0);
    cache.set('key', answer('a'));
    expect(cache.get('key', 0)).toBeUndefined();
  });

  it('keeps the latest answer of a key', () => {
    let now = 0;
    const cache = createResponseCache(1_000_000, () => now);
    cache.set('key', answer('a'));
    now = 500;
    cache.set('key', answer('b'));
    expect(cache.get('key', 100)).toEqual({ result: answer('b'), ageMs: 0 });
  });

  it('removes the least recently used answers', () => {
    const cache = createResponseCache(10_000, () => 0);
    const long = 'x'.repeat(1_400);
    for (const key of ['a', 'b']) cache.set(key, answer(long));
    expect(cache.get('a', 1)).toBeDefined();
    cache.set('c', answer(long));
    expect(['a', 'b', 'c'].filter((key) => cache.get(key, 1) !== undefined)).toEqual(['a', 'c']);
  });

  it('does not keep an answer that is larger than the whole cache, and keeps the others', () => {
    const cache = createResponseCache(10_000, () => 0);
    cache.set('a', answer('a'));
    cache.set('b', answer('x'.repeat(10_000)));
    expect(cache.get('a', 1)).toBeDefined();
    expect(cache.get('b', 1)).toBeUndefined();
  });

  it('also limits the number of empty answers', () => {
    const cache = createResponseCache(60_000, () => 0);
    const keys = Array.from({ length: 1_000 }, (_, index) => String(index));
    for (const key of keys) cache.set(key, answer(''));
    expect(keys.filter((key) => cache.get(key, 1) !== undefined).length).toBeLessThanOrEqual(100);
  });

  it('stores nothing without memory', () => {
    const cache = createResponseCache(0, () => 0);
    cache.set('key', answer('a'));
    expect(cache.get('key', Infinity)).toBeUndefined();
  });
});

describe('cacheKey', () => {
  const user = (content: string): Message => ({ role: 'user', content });
  const key = (provider: string, model: string, messages: readonly Message[]): string =>
    cacheKey({ provider: { id: provider }, request: { model, messages } });

  it('is the same for the same request, in whichever order its parts are given', () => {
    expect(key('echo', 'echo-1', [user('a')])).toBe(
      cacheKey({ request: { messages: [{ content: 'a', role: 'user' }], model: 'echo-1' }, provider: { id: 'echo' } }),
    );
  });

  it('differs in provider, model, role, content, and where messages begin and end', () => {
    const keys = [
      key('echo', 'echo-1', [user('a')]),
      key('mock', 'echo-1', [user('a')]),
      key('echo', 'echo-2', [user('a')]),
      key('echo', 'echo-1', [{ role: 'system', content: 'a' }]),
      key('echo', 'echo-1', [user('b')]),
      key('echo', 'echo-1', [user('a'), user('')]),
      key('echo', 'echo-1', [user('a","user","b')]),
      key('echo', 'echo-1', [user('a'), user('b')]),
      key('echo', 'echo-1', [user('\ud800')]),
      key('echo', 'echo-1', [user('\ufffd')]),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('differs for any field that a request may have in the future', () => {
    const base: GenerateRequest = { model: 'echo-1', messages: [user('a')] };
    const said: object[] = [{}, { temperature: 0 }, { temperature: 1 }, { tools: [{ name: 'a' }] }, { tools: [] }];
    const keys = said.map((more) => cacheKey({ provider: { id: 'echo' }, request: { ...base, ...more } }));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('differs for what the answer is checked against', () => {
    const target = { provider: { id: 'echo' }, request: { model: 'echo-1', messages: [user('a')] } };
    const checked = (schema: JsonObject): string => cacheKey({ ...target, answerFormat: { type: 'json', schema } });
    expect(new Set([cacheKey(target), checked({ type: 'object' }), checked({ type: 'array' })]).size).toBe(3);
  });
});
