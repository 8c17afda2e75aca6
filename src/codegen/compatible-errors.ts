import {
  compatibleStatus,
  toAnthropicError,
  toCompatibleError,
  toMcpError,
  type ProblemFacts,
} from '../base/errors/compatible-error.ts';
import {
  isOfOthers,
  listOperations,
  resolve,
  type OpenApiDocument,
  type Operation,
  type ResponseObject,
  type Schema,
} from './contract-document.ts';

/** How an API writes its errors. */
interface ErrorForm {
  /** Name of the schema, and begin of the names of answers. */
  readonly name: string;
  readonly isOf: (operation: Operation) => boolean;
  readonly toError: (facts: ProblemFacts) => unknown;
  readonly headers: NonNullable<ResponseObject['headers']>;
}

const requestId = '01J9ZQ4C7N8VX2M5K3T6B1R0DW';
const forms: readonly ErrorForm[] = [
  {
    name: 'CompatibleError',
    isOf: (operation) => operation['x-openai-compatible'] !== undefined,
    toError: toCompatibleError,
    headers: {},
  },
  {
    name: 'McpError',
    isOf: (operation) => operation['x-mcp'] !== undefined,
    toError: toMcpError,
    headers: {},
  },
  {
    name: 'AnthropicError',
    isOf: (operation) => operation['x-anthropic-compatible'] !== undefined,
    toError: (facts) => toAnthropicError(facts, requestId),
    headers: {
      'request-id': {
        description: "The same as `X-Request-Id`. Anthropic's SDKs read it.",
        schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$', maxLength: 128 },
        example: requestId,
      } as never,
    },
  },
];

/**
 * Gives the operations for SDKs of others the errors of their APIs. In `openapi/` they refer to the same answers as
 * all other operations; here each gets a copy in the other form. An operation of two APIs answers in the form of the
 * caller.
 *
 * @param schemas of these forms, by name
 */
export function addCompatibleErrors(document: OpenApiDocument, schemas: Readonly<Record<string, Schema>>): void {
  const shared = document.components['responses'] as Record<string, ResponseObject>;
  for (const { operation } of listOperations(document)) {
    if (!isOfOthers(operation)) continue;
    const own = forms.filter(({ isOf }) => isOf(operation));
    for (const { name } of own) document.components.schemas[name] = schemas[name] ?? {};
    const failures = operation.responses['502'];
    const said = failures === undefined ? undefined : resolve(document, failures);
    const prefix = own.map(({ name }) => name.replace('Error', '')).join('');
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status < '400') {
        const { headers } = resolve(document, response);
        Object.assign((resolve(document, response).headers ??= headers ?? {}), ...own.map((form) => form.headers));
        continue;
      }
      const copy = compatible(document, resolve(document, response), status, said, own);
      const name = (response as { $ref?: string }).$ref?.split('/').at(-1);
      if (name === undefined) {
        operation.responses[status] = copy;
      } else {
        const unique = `${prefix}${name}${said !== undefined && saysMore(status) ? 'OrProvider' : ''}`;
        shared[unique] = copy;
        operation.responses[status] = { $ref: `#/components/responses/${unique}` } as never;
      }
    }
  }
}

/** What providers refuse with these statuses has them here too; the other failures of providers stay 502. */
const refusals: Readonly<Record<string, string>> = {
  '400': 'provider-failed',
  '404': 'provider-failed',
  '429': 'provider-rate-limited',
};

function saysMore(status: string): boolean {
  return status in refusals || status === '502';
}

/** @param said the failures of providers, of an operation that calls them */
function compatible(
  document: OpenApiDocument,
  response: ResponseObject,
  status: string,
  said: ResponseObject | undefined,
  callers: readonly ErrorForm[],
): ResponseObject {
  const sources = [response, ...(said !== undefined && status in refusals ? [said] : [])];
  const examples = sources
    .flatMap(({ content }) => Object.entries(content?.['application/problem+json']?.examples ?? {}))
    .map(([name, example]) => [name, resolve(document, example)] as const)
    .filter(([, { value }]) => {
      const isOfAll = said === undefined || status === 'default';
      return isOfAll || String(compatibleStatus(value as ProblemFacts)) === status;
    });
  const own = response['x-problem-types'];
  const added = said === undefined ? undefined : refusals[status];
  const types = own?.filter((type) => said === undefined || status !== '502' || type !== 'provider-rate-limited');
  return {
    ...response,
    ...(types !== undefined && { 'x-problem-types': [...types, ...(added === undefined ? [] : [added])] }),
    headers: {
      ...response.headers,
      'X-Should-Retry': shouldRetry,
      ...Object.assign({}, ...callers.map((form) => form.headers)),
      ...(said !== undefined && saysMore(status) && { 'X-Provider-Status': providerStatus }),
    },
    content: {
      'application/json': {
        schema: callers.length === 1 ? referTo(callers[0]?.name) : { anyOf: callers.map(({ name }) => referTo(name)) },
        examples: Object.fromEntries(
          callers.flatMap(({ name: form, toError }, index) =>
            examples.map(([name, { summary = name, value }]) => [
              index === 0 ? name : `${name}-${form}`,
              { summary, value: toError(value as ProblemFacts) },
            ]),
          ),
        ),
      },
    },
  };
}

function referTo(name = ''): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

const providerStatus = {
  description:
    "The status of the provider's answer. Absent if the service refused the request, or there was no answer.",
  schema: { type: 'string', pattern: '^[1-5][0-9]{2}$', maxLength: 3 },
  example: '429',
};

const shouldRetry = {
  description:
    '`false` if clients should not repeat the request by themselves, because the service has already done it, or because it cannot succeed. The SDKs of OpenAI and Anthropic obey it. Absent otherwise.',
  schema: { type: 'string', const: 'false' },
  example: 'false',
};
