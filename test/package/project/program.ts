import { ConnectionError, isProblemOf, NotFoundError, PromptGateway } from 'prompt-gateway-client';
import schema from 'prompt-gateway-client/schemas/ORDER_PLACED.v1.json' with { type: 'json' };
import { renderMessages } from 'prompt-gateway-client/template';
import { signForTest, unwrap, WebhookVerificationError } from 'prompt-gateway-client/webhooks';

/** A program of a user, in an empty project on each runtime. It prints its results as JSON. */
const baseUrl = process.env['PROMPT_GATEWAY_URL'] ?? '';
const gateway = new PromptGateway({ baseUrl, apiKey: process.env['PROMPT_GATEWAY_API_KEY'] ?? '' });

const messages = [{ role: 'user' as const, content: 'Write a {{tone|short}} greeting for {{name}}.' }];
const slug = `welcome-${crypto.randomUUID().slice(0, 8)}`;
await gateway.prompts.create({ name: 'Welcome', slug, messages, selected_provider: 'echo' });

const variables = { name: 'Ada' };
const invocation = await gateway.prompts.invoke(slug, { variables }).withResponse();

const streamed: string[] = [];
const stream = gateway.prompts.stream(slug, { variables });
for await (const event of stream) if (event.type === 'text') streamed.push(event.delta);
const { finishReason, provider } = await stream.final();
const left = gateway.prompts.stream(slug, { variables });
for await (const event of left) if (event.type === 'text') break;
const leaving: unknown = await left.final().catch((error: unknown) => error);
await left[Symbol.asyncDispose]();

const found: string[] = [];
for await (const prompt of gateway.prompts.list({ q: slug, limit: 1 })) found.push(prompt.slug);

const notFound: unknown = await gateway.prompts.get(`no-${slug}`).catch((error: unknown) => error);
const missing: unknown = await gateway.prompts.invoke(slug).catch((error: unknown) => error);
const nobody = new PromptGateway({ baseUrl: 'http://127.1.2.3:4242', apiKey: null, maxRetries: 0 });
const unreachable: unknown = await nobody.service.getLiveness().catch((error: unknown) => error);
const aborted: unknown = await gateway.prompts
  .get(slug, { signal: AbortSignal.abort('stopped') })
  .catch((error: unknown) => error);

const secret = 'correct-horse-battery-staple';
const { body, headers } = await signForTest('{"type": "ORDER_PLACED", "id": "1"}', secret);
const event = await unwrap(body, headers, [secret]);
const forged: unknown = await unwrap(`${body} `, headers, [secret]).catch((error: unknown) => error);

const { versions } = process as { versions: Record<string, string | undefined> };
console.log(
  JSON.stringify({
    runtime: versions['bun']
      ? `Bun ${versions['bun']}`
      : versions['deno']
        ? `Deno ${versions['deno']}`
        : `Node ${versions['node'] ?? ''}`,
    text: invocation.data.text,
    status: invocation.response.status,
    streamed: { words: streamed.length, text: streamed.join(''), finishReason, provider },
    leaving: leaving instanceof DOMException && leaving.name,
    preview: renderMessages(messages, undefined, variables).messages[0]?.content,
    found: found.map((each) => each === slug),
    notFound: notFound instanceof NotFoundError && notFound.type,
    missing: isProblemOf(missing, 'prompts.invoke') && missing.problem.variables,
    unreachable: unreachable instanceof ConnectionError,
    aborted,
    schema: schema.$id,
    event: event.type,
    forged: forged instanceof WebhookVerificationError,
  }),
);
