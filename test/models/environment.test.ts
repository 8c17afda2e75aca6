import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStreamWatch } from '../../src/models/call/stream-watch.ts';
import { createProviderRegistry } from '../../src/models/registry.ts';
import type { Fetch } from '../../src/models/transport/http.ts';
import { vendors } from '../../src/models/vendors/index.ts';
import { provider, request, secret } from './providers-harness.ts';
import { system } from '../../src/base/runtime/system.ts';

/** Variables that the provider packages, or the AWS SDK, would read if they could. */
const hostile: Record<string, string> = {
  OPENAI_BASE_URL: 'http://127.0.0.1:9/wrong',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/wrong',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9/wrong',
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://127.0.0.1:9/wrong',
  AWS_REGION: 'wrong-region-1',
  AWS_BEARER_TOKEN_BEDROCK: 'wrong',
  AWS_SESSION_TOKEN: 'wrong',
  AZURE_RESOURCE_NAME: 'wrong',
};
const before: Record<string, string | undefined> = {};

beforeAll(() => {
  for (const name in hostile) {
    before[name] = process.env[name];
    process.env[name] = hostile[name];
  }
});
afterAll(() => {
  for (const name in hostile) {
    if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before[name];
  }
});

const keys = { region: 'eu-central-1', accessKeyId: 'AKIAEXAMPLE', secretAccessKey: secret };
/** Where it is not `/chat/completions` at the address of the vendor. */
const addresses: Record<string, string> = {
  anthropic: 'https://api.anthropic.com/v1/messages',
  google: 'https://generativelanguage.googleapis.com/v1beta/models/m:generateContent',
  xai: 'https://api.x.ai/v1/responses',
  azure: 'https://mine.openai.azure.com/openai/v1/chat/completions?api-version=v1',
  'amazon-bedrock': 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse',
  cohere: 'https://api.cohere.com/v2/chat',
};

describe.each(vendors)('$id', ({ id, address }) => {
  it('uses only its settings, whichever variables are set', async () => {
    const calls: string[] = [];
    const fetch: Fetch = (input, init) => {
      calls.push(String(input), JSON.stringify(init?.headers));
      return Promise.reject(new Error('Not sent.'));
    };
    const own = id === 'amazon-bedrock' ? keys : { apiKey: secret, resourceName: 'mine' };
    const registry = createProviderRegistry({
      random: system.random,
      settings: { builtIn: { [id]: own }, compatible: [], models: {}, concurrency: 1 },
      fetch,
      streamFetch: fetch,
      streamWatch: createStreamWatch({ clock: system.clock }),
    });
    await expect(provider(registry, id).generate(request('m'))).rejects.toThrow();
    expect(calls[0]).toBe(addresses[id] ?? `${address}/chat/completions`);
    expect(calls.join()).not.toMatch(/wrong/);
    if (id === 'amazon-bedrock') expect(calls[1]).toContain('Credential=AKIAEXAMPLE/');
  });
});
