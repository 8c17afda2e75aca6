import { format, type Options } from 'prettier';
import { listOperations, resolve, type OpenApiDocument, type OperationEntry, type Parameter } from './contract.ts';

/** An entry of `x-codeSamples`, which reference pages show beside an operation. */
export interface CodeSample {
  lang: string;
  source: string;
}

/** One request of the contract: the examples of its parameters, and one example of its body. */
interface ExampleRequest {
  /** What is special about this example, if the operation has several. */
  comment: string | undefined;
  path: string;
  query: [string, string][];
  body: unknown;
}

/** The address of a start without configuration. The reference page puts its own in its place. */
export const localAddress = 'http://127.0.0.1:8080';
/** Samples stand in a narrow column. */
const width = { printWidth: 64 };

/** Makes the samples of every operation from the examples of the contract. @returns samples by operationId */
export async function makeCodeSamples(document: OpenApiDocument): Promise<Record<string, CodeSample[]>> {
  const samples: Record<string, CodeSample[]> = {};
  for (const entry of listOperations(document)) {
    samples[entry.operation.operationId] = [{ lang: 'curl', source: await curlSample(entry, document) }];
  }
  return samples;
}

/**
 * Required parameters, and the query parameters that only this operation has. Those that many operations share (pages,
 * times, conditions) would hide what the sample shows.
 */
function exampleRequests({ path, operation, parameters }: OperationEntry, document: OpenApiDocument): ExampleRequest[] {
  const own = new Set((operation.parameters ?? []).filter(isWrittenOut).map(({ name }) => name));
  const shown = parameters.filter(({ name, in: place, required }) => required || (place === 'query' && own.has(name)));
  const values = new Map(shown.map((parameter) => [parameter.name, exampleOf(parameter, document)]));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values.get(name))));
  const query = shown
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }): [string, string] => [name, String(values.get(name))]);
  const examples = Object.values(operation.requestBody?.content['application/json']?.examples ?? {});
  if (examples.length === 0) return [{ comment: undefined, path: filled, query, body: undefined }];
  return examples.map((reference) => {
    const { summary, value } = resolve(document, reference);
    return { comment: examples.length > 1 ? summary : undefined, path: filled, query, body: value };
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

async function curlSample(entry: OperationEntry, document: OpenApiDocument): Promise<string> {
  const { operation, parameters } = entry;
  const fields = [
    ...(operation.security?.[0] === undefined ? [] : [`"Authorization: Bearer $API_KEY"`]),
    // curl sends no field for a variable that is not set.
    ...(parameters.some(({ name }) => name === 'Idempotency-Key') ? [`"Idempotency-Key: $IDEMPOTENCY_KEY"`] : []),
  ];
  const commands = exampleRequests(entry, document).map(async ({ comment, path, query, body }) => {
    const usual = body === undefined ? 'get' : 'post';
    const search = new URLSearchParams(query).toString();
    const address = search === '' ? localAddress + path : quote(`${localAddress}${path}?${search}`);
    const lines = [
      `curl ${entry.method === usual ? '' : `-X ${entry.method.toUpperCase()} `}${address}`,
      ...fields.map((field) => `-H ${field}`),
      ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quote(await formatJson(body))}`]),
    ];
    return `${comment === undefined ? '' : `# ${comment}\n`}${lines.join(' \\\n  ')}\n`;
  });
  return (await Promise.all(commands)).join('\n');
}

async function formatJson(value: unknown): Promise<string> {
  const options: Options = { parser: 'json', ...width };
  return (await format(JSON.stringify(value), options)).trimEnd();
}

/** As one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
