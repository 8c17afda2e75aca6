import { compatibleStatus, toCompatibleError, type ProblemFacts } from '../base/errors/compatible-error.ts';
import {
  listOperations,
  resolve,
  type OpenApiDocument,
  type ResponseObject,
  type Schema,
} from './contract-document.ts';

/**
 * Gives the operations for SDKs of OpenAI's API the errors of that API. In `openapi/` they refer to the same answers as
 * all other operations; here each gets a copy in the other form.
 *
 * @param schema of that form
 */
export function addCompatibleErrors(document: OpenApiDocument, schema: Schema): void {
  const shared = document.components['responses'] as Record<string, ResponseObject>;
  for (const { operation } of listOperations(document)) {
    if (operation['x-openai-compatible'] === undefined) continue;
    document.components.schemas['CompatibleError'] = schema;
    const failures = operation.responses['502'];
    const said = failures === undefined ? undefined : resolve(document, failures);
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status < '400') continue;
      const copy = compatible(document, resolve(document, response), status, said);
      const name = (response as { $ref?: string }).$ref?.split('/').at(-1);
      if (name === undefined) {
        operation.responses[status] = copy;
      } else {
        const unique = `Compatible${name}${said !== undefined && saysMore(status) ? 'OrProvider' : ''}`;
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
): ResponseObject {
  const sources = [response, ...(said !== undefined && status in refusals ? [said] : [])];
  const examples = sources
    .flatMap(({ content }) => Object.entries(content?.['application/problem+json']?.examples ?? {}))
    .map(([name, example]) => [name, resolve(document, example)] as const)
    .filter(([, { value }]) => said === undefined || String(compatibleStatus(value as ProblemFacts)) === status);
  const own = response['x-problem-types'];
  const added = said === undefined ? undefined : refusals[status];
  const types = own?.filter((type) => said === undefined || status !== '502' || type !== 'provider-rate-limited');
  return {
    ...response,
    ...(types !== undefined && { 'x-problem-types': [...types, ...(added === undefined ? [] : [added])] }),
    headers: {
      ...response.headers,
      'X-Should-Retry': shouldRetry,
      ...(said !== undefined && saysMore(status) && { 'X-Provider-Status': providerStatus }),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/CompatibleError' },
        examples: Object.fromEntries(
          examples.map(([name, { summary = name, value }]) => [
            name,
            { summary, value: toCompatibleError(value as ProblemFacts) },
          ]),
        ),
      },
    },
  };
}

const providerStatus = {
  description:
    "The status of the provider's answer. Absent if the service refused the request, or there was no answer.",
  schema: { type: 'string', pattern: '^[1-5][0-9]{2}$', maxLength: 3 },
  example: '429',
};

const shouldRetry = {
  description:
    "`false` if clients should not repeat the request by themselves, because the service has already done it, or because it cannot succeed. OpenAI's SDKs obey it. Absent otherwise.",
  schema: { type: 'string', const: 'false' },
  example: 'false',
};
