import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { vendors } from '../../src/models/vendors/index.ts';
import { startTestService, type TestService } from '../support/service.ts';

const secret = 'sk-do-not-show-0123456789';
const path = '/api/v1/providers';
let service: TestService;

beforeAll(async () => {
  service = await startTestService({
    environment: {
      ANTHROPIC_API_KEY: secret,
      AZURE_API_KEY: secret,
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
        {
          id: 'ollama',
          name: 'Ollama',
          base_url: 'http://127.0.0.1:9/v1',
          api_key: secret,
          headers: { 'X-Tenant': secret },
          models: ['llama3.3', 'qwen3'],
          default_model: 'qwen3',
        },
      ]),
      PROVIDER_MODELS: JSON.stringify({ openai: ['gpt-next'] }),
    },
  });
});
afterAll(async () => {
  await service.close();
});

interface Listed {
  id: string;
  name: string;
  models: string[];
  defaultModel: string;
  configured: boolean;
  settings: { name: string; required: boolean; set: boolean; description: string }[];
}

const list = async (): Promise<Listed[]> => (await service.call('GET', path)).body as Listed[];

describe('200', () => {
  it('lists the built-in providers, then those of the configuration', async () => {
    expect((await list()).map(({ id }) => id)).toEqual([...vendors.map(({ id }) => id), 'echo', 'ollama']);
  });

  it('shows which of them are configured: a part of the required settings is not enough', async () => {
    const configured = (await list()).filter((provider) => provider.configured);
    expect(configured.map(({ id }) => id)).toEqual(['anthropic', 'echo', 'ollama']);
  });

  it('describes each provider as the configuration does', async () => {
    const providers = await list();
    expect(providers.find(({ id }) => id === 'echo')).toEqual({
      id: 'echo',
      name: 'Echo',
      models: ['echo-1', 'echo-upper', 'echo-reverse'],
      defaultModel: 'echo-1',
      configured: true,
      settings: [],
    });
    expect(providers.find(({ id }) => id === 'ollama')).toEqual({
      id: 'ollama',
      name: 'Ollama',
      models: ['llama3.3', 'qwen3'],
      defaultModel: 'qwen3',
      configured: true,
      settings: [{ name: 'OPENAI_COMPATIBLE_PROVIDERS', required: true, set: true, description: expect.any(String) }],
    });
    expect(providers.find(({ id }) => id === 'openai')?.models).toContain('gpt-next');
  });

  it('names the variables that configure each, and which of them have a value', async () => {
    const listed = await list();
    const settingsOf = (id: string): object =>
      Object.fromEntries(
        (listed.find((provider) => provider.id === id)?.settings ?? []).map(({ name, required, set }) => [
          name,
          { required, set },
        ]),
      );
    expect(settingsOf('anthropic')).toEqual({
      ANTHROPIC_API_KEY: { required: true, set: true },
      ANTHROPIC_BASE_URL: { required: false, set: false },
    });
    expect(settingsOf('openai')).toMatchObject({ OPENAI_API_KEY: { required: true, set: false } });
    expect(settingsOf('azure')).toEqual({
      AZURE_API_KEY: { required: true, set: true },
      AZURE_RESOURCE_NAME: { required: false, set: false },
      AZURE_BASE_URL: { required: false, set: false },
    });
    for (const { description } of listed.flatMap(({ settings }) => settings)) expect(description).not.toBe('');
  });

  it('names a default that is one of the models, everywhere', async () => {
    for (const { id, models, defaultModel } of await list()) {
      expect([id, models.includes(defaultModel)]).toEqual([id, true]);
    }
  });

  it('shows no credentials', async () => {
    expect((await service.call('GET', path)).text).not.toContain(secret);
  });
});

it('400: takes no parameters', async () => {
  expect((await service.call('GET', `${path}?configured=true`)).status).toBe(400);
});

it('401: requires a key', async () => {
  expect((await service.call('GET', path, { key: null })).status).toBe(401);
});

it('403: requires the scope prompts:read', async () => {
  expect((await service.call('GET', path, { key: await service.createKey('prompts:invoke') })).status).toBe(403);
  expect((await service.call('GET', path, { key: await service.createKey('prompts:read') })).status).toBe(200);
});

it('406: answers only JSON', async () => {
  expect((await service.call('GET', path, { headers: { Accept: 'text/html' } })).status).toBe(406);
});
