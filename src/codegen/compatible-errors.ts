import { toCompatibleError, type ProblemFacts } from '../base/errors/compatible-error.ts';
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
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status < '400') continue;
      const copy = compatible(document, resolve(document, response));
      const name = (response as { $ref?: string }).$ref?.split('/').at(-1);
      if (name === undefined) {
        operation.responses[status] = copy;
      } else {
        shared[`Compatible${name}`] = copy;
        operation.responses[status] = { $ref: `#/components/responses/Compatible${name}` } as never;
      }
    }
  }
}

function compatible(document: OpenApiDocument, response: ResponseObject): ResponseObject {
  const examples = Object.entries(response.content?.['application/problem+json']?.examples ?? {});
  return {
    ...response,
    headers: { ...response.headers, 'X-Should-Retry': shouldRetry },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/CompatibleError' },
        examples: Object.fromEntries(
          examples.map(([name, example]) => {
            const { summary = name, value } = resolve(document, example);
            return [name, { summary, value: toCompatibleError(value as ProblemFacts) }];
          }),
        ),
      },
    },
  };
}

const shouldRetry = {
  description:
    "`false` if clients should not repeat the request by themselves, because the service has already done it, or because it cannot succeed. OpenAI's SDKs obey it. Absent otherwise.",
  schema: { type: 'string', const: 'false' },
  example: 'false',
};
