import { describe, expect, it } from '@jest/globals';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import type { Message } from '../../src/providers/generation.ts';
import { failure, provider, request } from './providers-harness.ts';
import { system } from '../../src/runtime/system.ts';

const registry = createProviderRegistry({
  random: system.random,
  settings: { builtIn: {}, compatible: [], models: {}, concurrency: 1 },
  fetch: () => Promise.reject(new Error('Nothing may be sent.')),
});

const messages: Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Name  three\ncolours' },
  { role: 'assistant', content: 'Red' },
];

describe('echo', () => {
  it.each([
    ['echo-1', 'Name  three\ncolours'],
    ['echo-upper', 'NAME  THREE\nCOLOURS'],
    ['echo-reverse', 'colours three Name'],
  ])('%s answers the last user message', async (model, text) => {
    const result = await provider(registry, 'echo').generate(request(model, { messages }));
    expect(result).toEqual({ text, finishReason: 'stop', usage: { inputTokens: 6, outputTokens: 3 } });
  });

  it('answers with the last message if there is no user message', async () => {
    const only: Message[] = [{ role: 'system', content: 'Be brief.' }];
    const result = await provider(registry, 'echo').generate(request('echo-1', { messages: only }));
    expect(result.text).toBe('Be brief.');
  });

  it('counts no words in an empty message', async () => {
    const empty: Message[] = [{ role: 'user', content: '' }];
    const result = await provider(registry, 'echo').generate(request('echo-1', { messages: empty }));
    expect(result).toEqual({ text: '', finishReason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } });
  });

  it('refuses an unknown model', async () => {
    const problem = await failure(registry, 'echo', request('gpt'));
    expect(problem).toMatchObject({ type: 'provider-failed', extensions: { provider: 'echo', retryable: false } });
  });

  it('stops when the caller has left', async () => {
    const signal = AbortSignal.abort(new Error('Gone.'));
    await expect(provider(registry, 'echo').generate(request('echo-1', { signal }))).rejects.toThrow('Gone.');
  });
});
