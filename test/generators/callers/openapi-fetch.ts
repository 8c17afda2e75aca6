import createClient from 'openapi-fetch';
import type { components, paths } from './client/index.ts';

type Schemas = components['schemas'];

function given<Value>(name: string): Value {
  return JSON.parse(process.env[name] ?? '') as Value;
}

const client = createClient<paths>({
  baseUrl: process.env['GATEWAY_URL'] ?? '',
  headers: { authorization: `Bearer ${process.env['GATEWAY_KEY'] ?? ''}` },
});

async function call(): Promise<void> {
  const { data: prompt } = await client.POST('/api/v1/prompts', { body: given<Schemas['PromptCreate']>('PROMPT') });
  const params = { path: { slugOrId: prompt?.id ?? '' } };
  const body = given<Schemas['InvokeRequest']>('INVOCATION');
  const { data: result } = await client.POST('/api/v1/prompts/{slugOrId}/invoke', { params, body });
  const { data: page } = await client.GET('/api/v1/prompts');
  const { data: order } = await client.POST('/v1/orders', { body: given<Schemas['OrderCreate']>('ORDER') });
  const { error } = await client.POST('/api/v1/prompts/{slugOrId}/invoke', { params, body: {} });
  if (typeof result === 'string') throw new Error('a stream');
  const status: string = order?.status ?? '';
  const type: string = error?.type ?? '';
  if (status === 'open' || !type.endsWith('missing-variables')) throw new Error(`${status}, ${type}`);
  console.log(
    JSON.stringify({
      text: result?.text,
      listed: page?.data.some(({ id }) => id === prompt?.id),
      total: order?.total,
      problem: error?.detail,
    }),
  );
}

await call();
