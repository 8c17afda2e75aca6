import type * as Sdk from '@modelcontextprotocol/server';
import { operationTable, type Scope } from '../../../generated/operations.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { JsonText } from '../../base/runtime/json-text.ts';
import { defined, membersOf } from '../../base/runtime/objects.ts';
import type { OperationHandlers, RequestContext } from '../../http/operation.ts';
import { problemDetails } from '../../http/problem-response.ts';
import type { components, operations } from '../../../generated/types.ts';
import type { Prompts } from '../prompts.ts';
import { toListedPrompt, toMessages, type ListedPrompt } from './listed-prompts.ts';
import { tools, type Arguments, type Tool } from './tools.ts';

type Message = operations['sendMcpMessage']['requestBody']['content']['application/json'];
type PromptPage = {
  readonly data: readonly components['schemas']['Prompt'][];
  readonly pagination: { next: string | null };
};

export interface McpDependencies {
  readonly prompts: Pick<Prompts, 'get' | 'resolve'>;
  /** Of the service, for its name. */
  readonly version: string;
  /** The address of the service, if the operator has set it. */
  readonly publicUrl: URL | undefined;
  /** Whose pages can call the service. */
  readonly corsOrigins: readonly string[];
}

/** The package, and what is made of it once. It is loaded when it is first needed: it takes 0.2 s and 30 MB. */
interface Loaded {
  readonly sdk: typeof Sdk;
  readonly validator: Sdk.ServerOptions['jsonSchemaValidator'];
}

/** The revision with sessions, which the service does not need. The package adds those without. */
const olderRevisions = ['2025-11-25'];

/** How long a list holds, and for whom. Nothing is announced. */
const listHolds = { ttlMs: 30_000, cacheScope: 'private' } as const;

/** Prompts that are read together, and the most reads for one page, which has cost one request. */
const pagePrompts = 50;
const mostReads = 3;

const subscribe = 'subscriptions/listen';

/** The Model Context Protocol, by the package of its makers. A message is all that a server knows. */
export function mcpOperations({
  prompts,
  version,
  publicUrl,
  corsOrigins,
}: McpDependencies): Pick<OperationHandlers, 'sendMcpMessage'> {
  let loading: Promise<Loaded> | undefined;

  /** @param onFailure gets what is no problem: callers are not told of it */
  const serverOf = (
    context: RequestContext,
    { sdk, validator }: Loaded,
    onFailure: (error: unknown) => void,
  ): Sdk.Server => {
    const { principal } = context;
    const mayRead = principal.scopes.has('prompts:read');
    const own = tools.filter(({ operation }) => principal.scopes.has(operationTable[operation].scope as Scope));
    const server = new sdk.Server(
      { name: 'prompt-gateway', version },
      {
        capabilities: { tools: {}, ...(mayRead && { prompts: {} }) },
        supportedProtocolVersions: olderRevisions,
        cacheHints: { 'tools/list': listHolds, 'prompts/list': listHolds },
        ...(validator && { jsonSchemaValidator: validator }),
      },
    );
    const failed = (error: unknown): Sdk.ProtocolError => {
      if (error instanceof sdk.ProtocolError) return error;
      if (!(error instanceof ProblemError)) {
        onFailure(error);
        return new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, 'Internal error');
      }
      const { type, title, detail, errors } = problemDetails(error, context.path, context.requestId);
      const code = error.status >= 500 ? sdk.ProtocolErrorCode.InternalError : sdk.ProtocolErrorCode.InvalidParams;
      return new sdk.ProtocolError(code, detail, defined({ type, title, errors }));
    };
    server.setRequestHandler('tools/list', async () => ({ tools: own.map(toTool) }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = own.find(({ name }) => name === params.name);
      if (tool === undefined) {
        throw new sdk.ProtocolError(
          sdk.ProtocolErrorCode.InvalidParams,
          `There is no tool ${JSON.stringify(params.name.slice(0, 200))}.`,
        );
      }
      try {
        return await callTool(tool, params.arguments ?? {}, context);
      } catch (error) {
        throw failed(error);
      }
    });
    if (!mayRead) return server;
    server.setRequestHandler('prompts/list', async ({ params }) => {
      try {
        const { entries, next } = await readPrompts(params?.cursor, context, prompts);
        return {
          prompts: entries.map((entry) => ({ ...entry, arguments: entry.arguments.map((one) => ({ ...one })) })),
          ...(next !== undefined && { nextCursor: next }),
        };
      } catch (error) {
        throw failed(error);
      }
    });
    server.setRequestHandler('prompts/get', async ({ params }) => {
      try {
        const { reach } = principal;
        const found = await toMessages(params.name, params.arguments ?? {}, prompts, reach);
        return { description: found.description, messages: [...found.messages] };
      } catch (error) {
        throw failed(error);
      }
    });
    return server;
  };

  return {
    async sendMcpMessage({ body, headers, context }) {
      requireOwnPage(context, publicUrl, corsOrigins);
      if (body.method === subscribe) throw unknownMethod(body, 'Subscriptions are not served.');
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      const loaded = await loading;
      const { sdk } = loaded;
      const failures: unknown[] = [];
      const server = (): Sdk.Server => serverOf(context, loaded, (error) => failures.push(error));
      const handler = sdk.createMcpHandler(server, { keepAliveMs: 0 });
      const { signal } = context;
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        // Revisions with streams need both. What comes is made one message.
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        signal,
      });
      const response = await handler.fetch(request, { parsedBody: body });
      const text = await response.text();
      signal.throwIfAborted();
      for (const failure of failures) throw failure;
      return toAnswer(response, text, body);
    },
  };
}

async function load(): Promise<Loaded> {
  const [sdk, { CfWorkerJsonSchemaValidator }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/validators/cf-worker'),
  ]);
  // The other one makes code of schemas.
  return { sdk, validator: new CfWorkerJsonSchemaValidator() };
}

/**
 * The own origin is the address that the operator has set, else one of this machine: any other name could be one that a
 * page has made point here.
 * @throws {ProblemError} cross-origin
 */
function requireOwnPage({ caller }: RequestContext, publicUrl: URL | undefined, corsOrigins: readonly string[]): void {
  const { origin } = caller.headers;
  if (origin === undefined || corsOrigins.includes(origin)) return;
  const { protocol, host = '' } = caller;
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host);
  if (origin === (publicUrl?.origin ?? (isLocal ? `${protocol}://${host}` : undefined))) return;
  throw new ProblemError('cross-origin', {
    detail: 'A page of another origin sent the request. Add its origin to CORS_ORIGINS if it may.',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

function toTool({ name, title, description, isReading, properties, required }: Tool): Sdk.Tool {
  return {
    name,
    title,
    description,
    inputSchema: {
      type: 'object',
      properties: properties as NonNullable<Sdk.Tool['inputSchema']['properties']>,
      required: [...required],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: isReading, ...(!isReading && { destructiveHint: false }), openWorldHint: false },
  };
}

/** Performs the operation of a tool. Its problem is a result, which a model can read. */
async function callTool(tool: Tool, sent: Arguments, context: RequestContext): Promise<Sdk.CallToolResult> {
  try {
    requireArguments(tool, sent);
    const { operation, ...input } = tool.toCall(sent);
    context.note({ performed: operation });
    const { body, headers } = await context.perform(operation, input);
    const { etag, 'x-invocation-id': invocation_id } = headers;
    const more = defined({ etag, invocation_id });
    const content: Sdk.CallToolResult['content'] = [
      body,
      ...(Object.keys(more).length > 0 ? [JSON.stringify(more)] : []),
    ].map((text) => ({ type: 'text', text }));
    return { content };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.type === 'interrupted') throw error;
    context.note({ told: error });
    const problem = problemDetails(error, context.path, context.requestId);
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(problem) }] };
  }
}

/** @throws {ProblemError} invalid-request */
function requireArguments({ properties, required }: Tool, sent: Arguments): void {
  const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(properties, name));
  const missing = required.filter((name) => typeof sent[name] !== 'string');
  if (unknown.length + missing.length === 0) return;
  const place = (name: string, detail: string) => ({ detail, pointer: `#/params/arguments/${name.slice(0, 200)}` });
  throw new ProblemError('invalid-request', {
    detail: 'The arguments of the tool are not valid.',
    errors: [
      ...unknown.slice(0, 20).map((name) => place(name, 'is unknown')),
      ...missing.map((name) => place(name, 'is required, as a text')),
    ],
  });
}

/** A page of the prompts that have a description. The pages are those of `listPrompts`. */
async function readPrompts(
  cursor: string | undefined,
  context: RequestContext,
  prompts: Pick<Prompts, 'resolve'>,
): Promise<{ readonly entries: readonly ListedPrompt[]; readonly next: string | undefined }> {
  const { reach } = context.principal;
  const entries: ListedPrompt[] = [];
  let next = cursor;
  for (let reads = 0; reads < mostReads; reads += 1) {
    const query = { limit: pagePrompts, ...(next !== undefined && { after: next }) };
    const page = JSON.parse((await context.perform('listPrompts', { query })).body) as PromptPage;
    // One after the other: each can have another version to read.
    for (const prompt of page.data) {
      try {
        const entry = await toListedPrompt(prompt, prompts, reach);
        if (entry !== undefined) entries.push(entry);
      } catch (error) {
        // It was deleted in between.
        if (!(error instanceof ProblemError) || error.status !== 404) throw error;
      }
    }
    next = page.pagination.next ?? undefined;
    if (next === undefined || entries.length >= pagePrompts) break;
  }
  return { entries, next };
}

/** @throws {ProblemError} for what the package refuses by the status of HTTP */
function toAnswer(
  response: Response,
  text: string,
  { id }: Message,
): { readonly status: 202 } | { readonly status: 200; readonly body: JsonText<never> } {
  if (response.status === 202) return { status: 202 };
  const message = response.headers.get('content-type')?.startsWith('text/event-stream') ? onlyEventData(text) : text;
  if (response.status === 200) return { status: 200, body: new JsonText(message) };
  const { code, message: detail, data } = membersOf(membersOf(JSON.parse(message) as unknown)['error']);
  if (typeof code !== 'number' || response.status >= 500) throw new Error(`MCP answered ${response.status}.`);
  throw new ProblemError(response.status === 404 ? 'mcp-method-not-found' : 'mcp-message-refused', {
    detail: String(detail).slice(0, 1_000),
    extensions: {
      json_rpc: { code, ...(id !== undefined && { id }), ...(typeof data === 'object' && data && { data }) },
    },
  });
}

/** The message of a stream that ended. Nothing precedes it, because nothing is announced. */
function onlyEventData(text: string): string {
  return /^data: (.*)$/m.exec(text)?.[1] ?? '';
}

function unknownMethod({ id }: Message, detail: string): ProblemError {
  const json_rpc = { code: -32_601, ...(id !== undefined && { id }) };
  return new ProblemError('mcp-method-not-found', { detail, extensions: { json_rpc } });
}
