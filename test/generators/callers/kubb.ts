import type { ResponseErrorConfig } from '@kubb/plugin-client/clients/axios';
import { createOrder, createPrompt, invokePrompt, listPrompts } from './client';
import type { InvokePrompt422, InvokeRequest, OrderCreate, PromptCreate } from './client';

function given<Value>(name: string): Value {
  return JSON.parse(process.env[name] ?? '') as Value;
}

const config = {
  baseURL: process.env['GATEWAY_URL'] ?? '',
  headers: { authorization: `Bearer ${process.env['GATEWAY_KEY'] ?? ''}` },
};

async function call(): Promise<void> {
  const prompt = await createPrompt(given<PromptCreate>('PROMPT'), undefined, config);
  const result = await invokePrompt(prompt.id, given<InvokeRequest>('INVOCATION'), undefined, config);
  const page = await listPrompts(undefined, config);
  const order = await createOrder(given<OrderCreate>('ORDER'), undefined, config);
  if (typeof result === 'string') throw new Error('a stream');
  const problem = await invokePrompt(prompt.id, {}, undefined, config).then(
    () => undefined,
    (error: ResponseErrorConfig<InvokePrompt422>) => error.response?.data.detail,
  );
  console.log(
    JSON.stringify({
      text: result.text,
      listed: page.data.some(({ id }) => id === prompt.id),
      total: order.total,
      problem,
    }),
  );
}

await call();
