import assert from 'node:assert/strict';

/** The service under test, and the mock provider behind it. */
export const { GATEWAY_URL = '', GATEWAY_KEY = '', CONTROL_URL = '', LIMITED_URL = '' } = process.env;
export const baseURL = `${GATEWAY_URL}/v1`;
export const weather = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' };

interface Received {
  readonly body: Record<string, any>;
  readonly model: string;
  readonly aborted: boolean;
}

async function send(url: string, body?: unknown): Promise<any> {
  const headers = { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) });
  assert(answer.ok, `${url}: ${answer.status}`);
  return await answer.json();
}

/** Creates a prompt that greets. @returns its slug */
export async function createPrompt(fields: object = {}): Promise<string> {
  const { slug } = await send(`${GATEWAY_URL}/api/v1/prompts`, {
    name: 'Greeting',
    slug: `greeting-${crypto.randomUUID().slice(0, 8)}`,
    selected_provider: 'mock',
    messages: [{ role: 'user', content: 'Hello {{name|world}}' }],
    ...fields,
  });
  return slug;
}

export const reset = (): Promise<void> => send(`${CONTROL_URL}/reset`);

/** What the mock provider received, after it was all answered. */
export const requests = (): Promise<Received[]> => send(`${CONTROL_URL}/requests`);

/** The next answer of a model: texts and calls. */
export async function answer(...steps: object[]): Promise<void> {
  const finish = steps.some((step) => 'toolCall' in step) ? 'tool-calls' : 'stop';
  const behaviours = [{ kind: 'stream', steps: [...steps, { finish }] }];
  await send(`${CONTROL_URL}/behave`, { model: 'model-a', behaviours });
}

/** The next answer of Google's model: a call with a thought signature. */
export async function answerOfGoogle(streamed: boolean): Promise<void> {
  const parts = [{ functionCall: { name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'SIG' }];
  const json = JSON.stringify({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] });
  const behaviour = streamed
    ? { contentType: 'text/event-stream', body: `data: ${json}\n\n` }
    : { contentType: 'application/json', body: json };
  await send(`${CONTROL_URL}/behave`, { model: 'gemini', behaviours: [{ kind: 'body', ...behaviour }] });
}

export async function assertCalls(count: number): Promise<void> {
  assert.equal((await requests()).length, count, 'calls to the provider');
}
