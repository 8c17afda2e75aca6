import { createOrder, createPrompt, invokePrompt, listPrompts } from './client';
import type { OrderCreate, PromptCreate } from './client';
import { client } from './client/client.gen';

function given<Value>(name: string): Value {
  return JSON.parse(process.env[name] ?? '') as Value;
}

const key = process.env['GATEWAY_KEY'] ?? '';
client.setConfig({ baseUrl: process.env['GATEWAY_URL'] ?? '', auth: key });

async function call(): Promise<void> {
  const { data: prompt } = await createPrompt({ body: given<PromptCreate>('PROMPT'), throwOnError: true });
  const path = { slugOrId: prompt.id };
  const body = given<{ variables: Record<string, unknown> }>('INVOCATION');
  const { data: result } = await invokePrompt({ path, body, throwOnError: true });
  const { data: page } = await listPrompts({ throwOnError: true });
  const { data: order } = await createOrder({ body: given<OrderCreate>('ORDER'), throwOnError: true });
  const { error } = await invokePrompt({ path, body: {} });
  if (typeof result === 'string') throw new Error('a stream');
  console.log(
    JSON.stringify({
      text: result.text,
      listed: page.data.some(({ id }) => id === prompt.id),
      total: Number(order.total),
      problem: error?.detail,
    }),
  );
}

await call();
