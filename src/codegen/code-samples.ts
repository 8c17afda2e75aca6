import { format } from 'oxfmt';
import { clientMethod, clientResource } from './client-names.ts';
import {
  listOperations,
  resolve,
  type OpenApiDocument,
  type OperationEntry,
  type Parameter,
  type ResponseObject,
} from './contract-document.ts';

/** An entry of `x-codeSamples`, which reference pages show beside an operation. */
export interface CodeSample {
  lang: string;
  source: string;
}

/** One request of the contract: the examples of its parameters, and one example of its body. */
interface ExampleRequest {
  /** The purpose of this example, if the operation has several. */
  comment: string | undefined;
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
}

/** The address of a service that was started without configuration. The reference page replaces it by its own. */
export const localAddress = 'http://127.0.0.1:8080';
/** The reference shows samples in a narrow column. */
const width = 52;

/** Creates the samples of every operation from the examples of the contract. @returns samples by operationId */
export async function makeCodeSamples(document: OpenApiDocument): Promise<Record<string, CodeSample[]>> {
  const samples: Record<string, CodeSample[]> = {};
  for (const entry of listOperations(document)) {
    const requests = exampleRequests(entry, document);
    samples[entry.operation.operationId] = [
      { lang: 'curl', source: await curlSample(entry, requests) },
      // Of MCP, editors are the clients.
      ...(entry.operation['x-mcp']
        ? []
        : [{ lang: 'TypeScript', source: await clientSample(entry, requests, document) }]),
    ];
  }
  return samples;
}

/**
 * Required parameters, and the filters that only this list has. Parameters that many operations share (pages, times,
 * conditions) would make the sample hard to read.
 */
function exampleRequests(
  { method, operation, parameters }: OperationEntry,
  document: OpenApiDocument,
): ExampleRequest[] {
  const own = method === 'get' ? (operation.parameters ?? []).filter(isWrittenOut) : [];
  const filters = new Set(own.filter((parameter) => parameter.in === 'query').map(({ name }) => name));
  const shown = parameters.filter(({ name, required }) => required === true || filters.has(name));
  const valuesIn = (place: Parameter['in']): Record<string, unknown> =>
    Object.fromEntries(
      shown
        .filter((parameter) => parameter.in === place)
        .map((parameter) => [parameter.name, exampleOf(parameter, document)]),
    );
  const values = { path: valuesIn('path'), query: valuesIn('query') };
  const examples = Object.values(operation.requestBody?.content ?? {}).flatMap(({ examples: own = {} }) =>
    Object.values(own),
  );
  if (examples.length === 0) return [{ comment: undefined, ...values, body: undefined }];
  return examples.map((reference) => {
    const { summary, value } = resolve(document, reference);
    return { comment: examples.length > 1 ? summary : undefined, ...values, body: value };
  });
}

function isWrittenOut(parameter: Parameter): boolean {
  return !('$ref' in parameter);
}

function exampleOf({ name, example, schema }: Parameter, document: OpenApiDocument): unknown {
  const found = example ?? (resolve(document, schema)['examples'] as unknown[] | undefined)?.[0];
  if (found === undefined) throw new Error(`the parameter ${name} has no example`);
  return found;
}

function needsKey({ operation }: OperationEntry): boolean {
  return operation.security?.[0] !== undefined;
}

async function curlSample(entry: OperationEntry, requests: readonly ExampleRequest[]): Promise<string> {
  const fields = [
    ...(needsKey(entry) ? [`"Authorization: Bearer $API_KEY"`] : []),
    // curl sends no header field if the variable is not set.
    ...(entry.parameters.some(({ name }) => name === 'Idempotency-Key') ? [`"Idempotency-Key: $IDEMPOTENCY_KEY"`] : []),
  ];
  const [mediaType] = Object.keys(entry.operation.requestBody?.content ?? {});
  const commands = requests.map(async ({ comment, path, query, body }) => {
    const usual = body === undefined ? 'get' : 'post';
    const target = entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const address = search === '' ? localAddress + target : quote(`${localAddress}${target}?${search}`);
    const lines = [
      `curl ${entry.method === usual ? '' : `-X ${entry.method.toUpperCase()} `}${address}`,
      ...fields.map((field) => `-H ${field}`),
      ...(body === undefined ? [] : [`-H 'Content-Type: ${mediaType}'`, `-d ${quote(await formatBody(body))}`]),
    ];
    return `${comment === undefined ? '' : `# ${comment}\n`}${lines.join(' \\\n  ')}\n`;
  });
  return (await Promise.all(commands)).join('\n');
}

/** Calls of the published client, `prompt-gateway-client`, or of OpenAI's SDK. */
async function clientSample(
  entry: OperationEntry,
  requests: readonly ExampleRequest[],
  document: OpenApiDocument,
): Promise<string> {
  const { operationId, tags: [tag = ''] = [] } = entry.operation;
  const { 'x-openai-compatible': ofOpenai, 'x-anthropic-compatible': ofAnthropic } = entry.operation;
  const ofSdk = ofOpenai ?? ofAnthropic;
  const own = `gateway.${clientResource(tag)}.${clientMethod(tag, operationId)}`;
  const method = ofSdk === undefined ? own : `${ofOpenai === undefined ? 'anthropic' : 'openai'}.${ofSdk}`;
  const answer = answerName(entry, document);
  const calls = requests.map(({ comment, path, query, body }, index) => {
    // The SDKs of others read a list in their own way.
    const hasQuery = ofSdk === undefined && Object.keys(query).length > 0;
    const input = body ?? (hasQuery ? query : undefined);
    const given = [...Object.values(path), input].filter((value) => value !== undefined);
    const call = `${method}(${given.map((value) => JSON.stringify(value)).join(', ')})`;
    const heading = comment === undefined ? '' : `// ${comment}\n`;
    const list = /^(\w+)Page$/.exec(answer)?.[1];
    if (list !== undefined) return `for await (const ${list} of ${call}) {\nconsole.log(${list});\n}`;
    // Later examples show other ways to call it. They return the same.
    return `${heading}${index > 0 || answer === 'confirmation' ? '' : `const ${answer} = `}await ${call};`;
  });
  const key = `process.env.API_KEY ?? ''`;
  const program = [
    ...(ofSdk === undefined
      ? [
          `import { PromptGateway } from 'prompt-gateway-client';`,
          `const gateway = new PromptGateway({ baseUrl: '${localAddress}', apiKey: ${needsKey(entry) ? key : 'null'} });`,
        ]
      : ofOpenai === undefined
        ? [
            `import Anthropic from '@anthropic-ai/sdk';`,
            `const anthropic = new Anthropic({ baseURL: '${localAddress}', apiKey: ${key} });`,
          ]
        : [
            `import OpenAI from 'openai';`,
            `const openai = new OpenAI({ baseURL: '${localAddress}/v1', apiKey: ${key} });`,
          ]),
    ...calls,
  ];
  return formatted('sample.ts', program.join('\n\n'));
}

/** A variable name for the answer: `order` for an `Order`, `liveness` for the answer of `getLiveness`. */
function answerName({ operation }: OperationEntry, document: OpenApiDocument): string {
  const [response] =
    Object.entries(operation.responses)
      .find(([status]) => status.startsWith('2'))
      ?.slice(1) ?? [];
  const schema = resolve(document, response as ResponseObject).content?.['application/json']?.schema;
  const component = schema?.['$ref'] as string | undefined;
  const name =
    component
      ?.split('/')
      .at(-1)
      ?.replace(/With[A-Z].*/, '') ?? operation.operationId.replace(/^[a-z]+/, '');
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** @param value a text is sent as it is */
async function formatBody(value: unknown): Promise<string> {
  if (typeof value === 'string') return value;
  return (await formatted('sample.json', JSON.stringify(value))).trimEnd();
}

/** @throws if the text has a mistake */
async function formatted(fileName: string, text: string): Promise<string> {
  const { code, errors } = await format(fileName, text, { singleQuote: true, printWidth: width });
  if (errors.length > 0) throw new Error(`${errors.map(({ message }) => message).join('; ')} in ${text}`);
  return code;
}

/** Quotes a text as one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
