import { addCompatibleErrors } from './compatible-errors.ts';
import {
  listOperations,
  resolve,
  type OpenApiDocument,
  type ResponseObject,
  type Schema,
} from './contract-document.ts';
import { addExamples } from './examples.ts';
import { separateTitledSchemas } from './titled-schemas.ts';

const problemMedia = 'application/problem+json';

/**
 * Adds the schemas to the bundled contract that follow from other parts, and so are not written in `openapi/`: a schema
 * for the problems of each answer, and the errors in the form of APIs of others. What operations and answers have in
 * common, `openapi/completion.mjs` adds before.
 *
 * @param errorForms the schemas of errors of APIs of others, by name
 */
export function completeContract(
  document: OpenApiDocument,
  errorForms: Readonly<Record<string, Schema>>,
): OpenApiDocument {
  const completed = structuredClone(document);
  addExamples(completed);
  separateTitledSchemas(completed);
  addCompatibleErrors(completed, errorForms);
  addProblemSchemas(completed);
  return completed;
}

/**
 * Gives each answer with `x-problem-types` a schema that lists them, and its status. So a generated client has an error
 * type for each status of an operation.
 */
function addProblemSchemas(document: OpenApiDocument): void {
  const { schemas } = document.components;
  schemas['ProblemFields'] = problemFields(schemas['Problem']);
  const add = (name: string, status: string, response: ResponseObject): void => {
    const media = response.content?.[problemMedia];
    const types = response['x-problem-types'];
    if (media === undefined || types === undefined || status === 'default') return;
    schemas[name] ??= problemSchema(name, Number(status), types, firstExample(document, response));
    media.schema = { $ref: `#/components/schemas/${name}` };
  };
  for (const { operation } of listOperations(document)) {
    const id = operation.operationId.charAt(0).toUpperCase() + operation.operationId.slice(1);
    for (const [status, response] of Object.entries(operation.responses)) {
      const shared = (response as { $ref?: string }).$ref?.split('/').at(-1);
      add(`${shared ?? `${id}${status}`}Problem`, status, resolve(document, response));
    }
  }
}

/** The fields of all problems, without type and status. */
function problemFields(problem: Schema | undefined): Schema {
  const { properties, required, ...rest } = problem as { properties: Schema; required: string[] };
  const others = Object.entries(properties).filter(([name]) => name !== 'type' && name !== 'status');
  return {
    ...rest,
    title: 'ProblemFields',
    required: required.filter((name) => name !== 'type' && name !== 'status'),
    properties: Object.fromEntries(others),
  };
}

function problemSchema(name: string, status: number, types: readonly string[], example: unknown): Schema {
  const values = types.map((type) => `urn:prompt-gateway:problem:${type}`);
  return {
    title: name,
    description: `Error details of an answer with status ${status} (RFC 9457).`,
    allOf: [
      {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: {
            description: 'Type of the problem. Programs decide by this, not by `title` or `detail`.',
            anyOf: [
              { type: 'string', title: `${name}Type`, enum: values },
              { $ref: '#/components/schemas/OtherValue' },
            ],
            examples: [values[0]],
          },
          status: { type: 'integer', description: 'HTTP status of the answer.', const: status, examples: [status] },
        },
      },
      { $ref: '#/components/schemas/ProblemFields' },
    ],
    examples: [example],
  };
}

function firstExample(document: OpenApiDocument, response: ResponseObject): unknown {
  const [example] = Object.values(response.content?.[problemMedia]?.examples ?? {});
  return resolve(document, example)?.value;
}
