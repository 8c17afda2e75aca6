import { describe, expect, it } from '@jest/globals';
import { setUp } from '../../support/per-operation.ts';
import { pricesPath, setPrice } from './prices-harness.ts';

const setup = setUp({
  OPENAI_API_KEY: 'sk-of-the-tests',
  OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
    { id: 'local', name: 'Local', base_url: 'http://127.0.0.1:9/v1', models: ['llama'] },
  ]),
});

interface Listed {
  readonly provider: string;
  readonly model: string;
  readonly source: string;
}

async function list(query = ''): Promise<readonly Listed[]> {
  const { body } = await setup.service.call('GET', `${pricesPath}?limit=100${query}`);
  return body.data as readonly Listed[];
}

describe('200', () => {
  it('lists the models of configured providers, and all prices that were set', async () => {
    await setPrice(setup.service, 'own');
    await setup.service.call('PUT', `${pricesPath}/azure/support-bot`, {
      body: { rates: [{ input: '1', output: '2' }] },
    });
    const listed = await list();
    const names = listed.map(({ provider, model }) => `${provider}/${model}`);
    const ids = listed.map(({ provider }) => provider);
    expect(ids).toEqual(ids.toSorted());
    expect(names).toEqual(expect.arrayContaining(['azure/support-bot', 'echo/own', 'local/llama']));
    const models = (await setup.service.call('GET', '/api/v1/providers')).body as {
      id: string;
      configured: boolean;
      models: string[];
    }[];
    const offered = models.flatMap(({ id, configured, models: ids }) =>
      configured ? ids.map((model) => `${id}/${model}`) : [],
    );
    const embeddings = ['3-large', '3-small', 'ada-002'].map((name) => `openai/text-embedding-${name}`);
    const others = ['azure/support-bot', 'echo/own', 'echo/echo-embed', ...embeddings];
    expect(new Set(names)).toEqual(new Set([...offered, ...others]));
  });

  it('filters by source and provider, so that missing prices are visible', async () => {
    await setPrice(setup.service, 'own');
    const missing = await list('&source=none');
    expect(missing).toContainEqual({ provider: 'local', model: 'llama', source: 'none', currency: 'USD', rates: [] });
    expect(new Set(missing.map(({ source }) => source))).toEqual(new Set(['none']));
    expect((await list('&source=operator')).map(({ source }) => source)).not.toContain('table');
    const openai = await list('&provider=openai');
    expect(openai.length).toBeGreaterThan(3);
    expect(new Set(openai.map(({ provider }) => provider))).toEqual(new Set(['openai']));
    expect(await list('&provider=nobody')).toEqual([]);
  });
});
