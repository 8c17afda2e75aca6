import { describe, expect, it } from '@jest/globals';
import { echoEntry } from '../../src/models/echo.ts';
import type { Fetch } from '../../src/models/transport/http.ts';
import { createStreamWatch } from '../../src/models/call/stream-watch.ts';
import { createProviderRegistry } from '../../src/models/registry.ts';
import {
  builtInProviderIds,
  compatibleProvidersVariable,
  findSettingsMistakes,
  providerNamePattern,
  providerVariables,
  type ProviderSettings,
} from '../../src/models/provider-settings.ts';
import { vendors } from '../../src/models/vendors/index.ts';
import { failure, provider, request } from './providers-harness.ts';
import { system } from '../../src/base/runtime/system.ts';

const none: ProviderSettings = { builtIn: {}, compatible: [], models: {}, concurrency: 1 };
const noFetch: Fetch = () => Promise.reject(new Error('Nothing may be sent.'));
const registryOf = (settings: Partial<ProviderSettings>) =>
  createProviderRegistry({
    random: system.random,
    settings: { ...none, ...settings },
    fetch: noFetch,
    streamFetch: noFetch,
    streamWatch: createStreamWatch({ clock: system.clock }),
  });
const server = { id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['llama', 'qwen'] };

describe('list', () => {
  it('has every built-in provider in order; only echo is configured without settings', () => {
    const listed = registryOf({}).list();
    expect(listed.map(({ id }) => id)).toEqual([...builtInProviderIds]);
    expect(listed.filter(({ configured }) => configured).map(({ id }) => id)).toEqual(['echo']);
  });

  it('has only the fields of a provider', () => {
    for (const info of registryOf({ compatible: [server] }).list()) {
      const fields = ['configured', 'defaultModel', 'embeddingModels', 'id', 'models', 'name', 'settings'];
      expect(Object.keys(info).sort()).toEqual(fields);
    }
  });

  it('ends with the configured servers', () => {
    const listed = registryOf({ compatible: [server, { ...server, id: 'vllm', defaultModel: 'qwen' }] }).list();
    const settings = [{ ...compatibleProvidersVariable, required: true, set: true }];
    const common = { name: 'Ollama', models: ['llama', 'qwen'], embeddingModels: [], configured: true, settings };
    expect(listed.slice(-2)).toEqual([
      { id: 'ollama', defaultModel: 'llama', ...common },
      { id: 'vllm', defaultModel: 'qwen', ...common },
    ]);
  });

  it('adds models from the configuration without repetition', () => {
    const registry = registryOf({ compatible: [server], models: { echo: ['echo-1', 'mine'], ollama: ['phi'] } });
    expect(provider(registry, 'echo').models).toEqual(['echo-1', 'echo-upper', 'echo-reverse', 'mine']);
    expect(provider(registry, 'ollama').models).toEqual(['llama', 'qwen', 'phi']);
  });
});

describe('configured', () => {
  const keys = { accessKeyId: 'AKIA', secretAccessKey: 's' };
  it.each([
    ['openai', { apiKey: 'k' }, true],
    ['openai', { baseUrl: 'http://127.0.0.1' }, false],
    ['openai', { apiKey: '' }, false],
    ['azure', { apiKey: 'k' }, false],
    ['azure', { apiKey: 'k', resourceName: 'r' }, true],
    ['azure', { apiKey: 'k', baseUrl: 'http://127.0.0.1' }, true],
    ['azure', { resourceName: 'r' }, false],
    ['amazon-bedrock', { ...keys }, false],
    ['amazon-bedrock', { ...keys, region: 'eu-central-1' }, true],
    ['amazon-bedrock', { region: 'eu-central-1', accessKeyId: 'AKIA' }, false],
    ['amazon-bedrock', { region: 'eu-central-1', apiKey: 'k' }, true],
  ] as const)('%s with %j: %s', (id, settings, expected) => {
    expect(provider(registryOf({ builtIn: { [id]: settings } }), id).configured).toBe(expected);
  });

  it('decides whether a call is made', async () => {
    const problem = await failure(registryOf({}), 'openai', request('gpt'));
    expect(problem).toMatchObject({ type: 'provider-not-configured', status: 422 });
  });
});

describe('the address in the span of a call', () => {
  const keys = { apiKey: 'k', accessKeyId: 'AKIA', secretAccessKey: 's' };
  it.each([
    ...vendors.map(({ id }) => [id, { resourceName: 'ours', region: 'eu-central-1' }] as const),
    ['amazon-bedrock', { region: 'cn-north-1' }] as const,
    ...vendors.map(({ id }) => [id, { region: 'eu-central-1', baseUrl: 'http://127.0.0.1:1234/api' }] as const),
  ])('is that which is called: %s with %j', async (id, own) => {
    const called: string[] = [];
    const traced: string[] = [];
    const fetch: Fetch = async (input) => {
      called.push(new URL(input instanceof Request ? input.url : input).host);
      return await noFetch(input);
    };
    const registry = createProviderRegistry({
      ...{ fetch, streamFetch: fetch, random: system.random },
      settings: { ...none, builtIn: { [id]: { ...keys, ...own } } },
      streamWatch: createStreamWatch({ clock: system.clock }),
      beginCall({ address, provider: of }) {
        traced.push(of, new URL(address).host);
        return { context: {}, end: () => undefined };
      },
    });
    await failure(registry, id, request('model', { maxAttempts: 1 }));
    expect(traced).toEqual([id, called[0]]);
  });
});

describe('get', () => {
  it.each(['nobody', '', '__proto__', 'constructor'])('finds no %j', (id) => {
    expect(registryOf({}).get(id)).toBeUndefined();
  });
});

describe('the catalog', () => {
  it.each([...vendors, echoEntry])('of $id has valid, distinct names that include the default', (entry) => {
    const { models, defaultModel } = entry;
    expect(models).toContain(defaultModel);
    expect(new Set(models).size).toBe(models.length);
    for (const model of models) expect(model).toMatch(providerNamePattern);
  });
});

describe('findSettingsMistakes', () => {
  it('finds none in valid settings', () => {
    expect(findSettingsMistakes({ ...none, compatible: [server], models: { ollama: ['phi'] } })).toEqual([]);
  });

  it('finds all mistakes', () => {
    const mistakes = findSettingsMistakes({
      ...none,
      compatible: [
        { ...server, id: 'openai' },
        { ...server, id: 'two words', models: [] },
        { ...server, defaultModel: 'phi' },
        { ...server, models: ['naïve'] },
        { ...server, id: 'prompt' },
        { ...server, id: 'a/b' },
      ],
      models: { nobody: ['x'], openai: [''] },
    });
    expect(mistakes).toEqual([
      'Two providers have the id "openai".',
      'The provider id "two words" must be 1 to 200 visible ASCII characters.',
      'The provider "two words" needs a model.',
      'The default model of "ollama" is not one of its models.',
      'Two providers have the id "ollama".',
      'The model name "naïve" must be 1 to 200 visible ASCII characters.',
      'No provider can have the id "prompt".',
      'The provider id "a/b" must not have a slash.',
      'No provider has the id "nobody".',
      'The model name "" must be 1 to 200 visible ASCII characters.',
    ]);
  });

  it('finds lists that are too long', () => {
    const models = Array.from({ length: 501 }, (_, index) => `m${index}`);
    expect(findSettingsMistakes({ ...none, compatible: [{ ...server, models }], models: { echo: models } })).toEqual([
      'Models of "ollama" must not be more than 500.',
      'Models to add to "echo" must not be more than 500.',
    ]);
  });

  it('prevents a registry with them', () => {
    expect(() => registryOf({ models: { nobody: ['x'] } })).toThrow('No provider has the id "nobody".');
  });
});

describe('providerVariables', () => {
  it('name each variable once and each setting of a provider once', () => {
    const names = providerVariables.map(({ name }) => name);
    const settings = providerVariables.map((variable) => `${variable.provider} ${variable.setting}`);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(settings).size).toBe(settings.length);
  });

  it('mark as required what a provider cannot be called without', () => {
    for (const id of builtInProviderIds) {
      if (id === 'echo') continue;
      const variables = providerVariables.filter(({ provider: owner }) => owner === id);
      const isConfigured = (given: typeof variables): boolean => {
        const own = Object.fromEntries(given.map(({ setting }) => [setting, 'https://example.com']));
        return registryOf({ builtIn: { [id]: own } }).get(id)?.configured ?? false;
      };
      expect([id, isConfigured(variables)]).toEqual([id, true]);
      for (const variable of variables) {
        const isNeeded = !isConfigured(variables.filter((other) => other !== variable));
        expect([variable.name, isNeeded]).toEqual([variable.name, variable.required === true]);
      }
    }
  });

  it('mark every key as secret', () => {
    const open = providerVariables.filter(({ secret }) => !secret).map(({ setting }) => setting);
    expect(new Set(open)).toEqual(new Set(['baseUrl', 'organization', 'project', 'resourceName', 'region']));
  });
});
