import { toCompatibleError, type ProblemFacts } from '../errors/compatible-error.ts';
import { listOperations, resolve, type OpenApiDocument, type ResponseObject, type Schema } from './contract.ts';

/**
 * Gives the operations for SDKs of OpenAI's API the errors of that API. In `openapi/` they refer to the same answers as
 * all other operations; here each gets a copy in the other form.
 */
export function addCompatibleErrors(document: OpenApiDocument): void {
  const shared = document.components['responses'] as Record<string, ResponseObject>;
  for (const { operation } of listOperations(document)) {
    if (operation['x-openai-compatible'] === undefined) continue;
    document.components.schemas['CompatibleError'] = compatibleError;
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

const compatibleError: Schema = {
  title: 'CompatibleError',
  type: 'object',
  description: "An error in the form of OpenAI's API. The SDKs of that API turn it into their typed exceptions.",
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'What is wrong.',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: {
          type: 'string',
          description: 'What is wrong and where, for people.',
          maxLength: 2000,
          examples: ['The body of the request is not valid. messages[0].role is required.'],
        },
        type: {
          description: 'The kind of the error.',
          anyOf: [
            {
              type: 'string',
              title: 'CompatibleErrorType',
              enum: ['invalid_request_error', 'rate_limit_error', 'server_error'],
            },
            { $ref: '#/components/schemas/OtherValue' },
          ],
          examples: ['invalid_request_error'],
        },
        param: {
          type: ['string', 'null'],
          description: 'The first member, parameter or header that is wrong; `null` if the error has no such place.',
          maxLength: 2000,
          examples: ['messages[0].role'],
        },
        code: {
          type: 'string',
          description:
            'The type of the problem, without `urn:prompt-gateway:problem:`. Programs decide by this, or by the status.',
          maxLength: 100,
          examples: ['invalid-request'],
        },
        usage: {
          type: 'object',
          description: 'The tokens of a failed call, which may be charged for. Absent if the provider did not say.',
          required: ['input_tokens', 'output_tokens'],
          properties: {
            input_tokens: {
              type: 'integer',
              description: 'Tokens of the request.',
              minimum: 0,
              maximum: 9007199254740991,
              examples: [64],
            },
            output_tokens: {
              type: 'integer',
              description: 'Tokens of the answer.',
              minimum: 0,
              maximum: 9007199254740991,
              examples: [13],
            },
          },
          examples: [{ input_tokens: 64, output_tokens: 13 }],
        },
      },
    },
  },
  examples: [
    {
      error: {
        message: 'The body of the request is not valid. messages[0].role is required.',
        type: 'invalid_request_error',
        param: 'messages[0].role',
        code: 'invalid-request',
      },
    },
  ],
};
