import { PromptGateway } from 'prompt-gateway-client';
import { contentWarnings } from 'prompt-gateway-client/template';
import { fetchReceiver } from 'prompt-gateway-client/webhooks';
import schema from 'prompt-gateway-client/schemas/TEST.v1.json';

/** Compiles for a browser or a worker: with the web types, and without those of Node. */
export const gateway = new PromptGateway({ baseUrl: '/', apiKey: null, fetch: (url, init) => fetch(url, init) });
export const receiver: (request: Request) => Promise<Response> = fetchReceiver({ secrets: 'x'.repeat(24) }, () => {});
export async function print(): Promise<string> {
  await using stream = gateway.prompts.stream('greeter', { variables: { name: 'Ada' } });
  for await (const event of stream) if (event.type === 'text') console.log(event.delta);
  return (await stream.final()).model;
}
export const id: string = schema.$id;
export const warnings = contentWarnings({ messages: [{ content: '{{name}' }] });
