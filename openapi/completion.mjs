// What follows from the rest of the contract, and so is not written in `openapi/`: tags and scopes, common answers, their
// headers, the examples of problems, the ways to authenticate, the pages of lists, the members of a PUT that cannot be
// changed, the fields of prompts, the types of events. Redocly
// applies these rules before it lints or bundles. What an operation or an answer states itself counts. An answer that is `null` is left out.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const folder = import.meta.dirname;
const problemTypes = parse(readFileSync(path.join(folder, 'problems.yaml'), 'utf8'));

/** The schemas of `prompt-content.yaml` that have a title, by name. */
const promptSchemas = {};
const promptContent = Object.entries(
  parse(readFileSync(path.join(folder, 'prompt-content.yaml'), 'utf8'), (key, value) => {
    if (key === '$ref') return path.join(folder, value);
    if (!['answer', 'request', 'update'].includes(key) || value.title === undefined) return value;
    promptSchemas[value.title] = value;
    return inRoot('schemas', value.title);
  }),
);
/** What `x-prompt-content` stands for, by its value. */
const promptFields = {
  answer: promptContent.map(([name, { answer }]) => [name, answer]),
  request: promptContent.map(([name, { answer, request = answer }]) => [name, request]),
  update: promptContent.map(([name, { answer, request = answer, update = request }]) => [name, update]),
  replaceable: promptContent
    .filter(([, { replaceable }]) => replaceable)
    .map(([name, { answer, request = answer }]) => [name, request]),
};
/** What stands in descriptions for the names of fields. */
const placeholders = [
  ['{content fields}', listed(promptFields.answer)],
  ['{replaceable fields}', listed(promptFields.replaceable)],
];

/** The messages of `asyncapi/asyncapi.yaml`: the type of an event, and the file with the schema of its payload. */
const events = Object.values(
  parse(readFileSync(path.join(folder, '../asyncapi/asyncapi.yaml'), 'utf8')).channels.integration.messages,
).map(({ name, payload }) => [name, path.join(folder, '../asyncapi', payload.$ref)]);
const eventTypes = events.map(([type]) => type);
/** What `x-event-types` stands for, by its value. `TEST` events are sent on request only. */
const eventSchemas = {
  all: () => ({ enum: eventTypes }),
  subscribable: () => ({ enum: eventTypes.filter((type) => type !== 'TEST') }),
  payloads: () => ({
    oneOf: events.map(([, file]) => ({ $ref: file })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(events) },
  }),
};

const needsKey = ({ security = [] }) => security.length > 0;
const isPublic = (operation) => !needsKey(operation);
const needsScope = ({ security = [] }) => security.some(({ bearerAuth = [] }) => bearerAuth.length > 0);
const hasBody = ({ requestBody }) => requestBody !== undefined;
const hasLines = (operation) => operation['x-line-limit'] !== undefined;
const takes = ({ parameters = [] }, name) =>
  parameters.some(({ $ref }) => $ref?.endsWith(`/parameters/${name}.yaml`) === true);

/**
 * Whether an operation changes or spends something, so that a process with `READ_ONLY` refuses it. `x-changes` says it
 * where the method does not.
 */
const changes = ({ 'x-changes': stated }, method) => stated ?? method !== 'get';

/** Operations that are one invocation, and the answers that come before there is one. */
const invokes = ({ operationId }) =>
  [
    'invokePrompt',
    'createChatCompletion',
    'createResponse',
    'createMessage',
    'createEmbedding',
    'testProvider',
  ].includes(operationId);
const beforeInvocation = ['304', '401', '406', '408', '413', '415', 'default'];

/** Resources whose id is in paths; the parameter is `Path…Id`. */
const resources = [
  'ApiKey',
  'Category',
  'Delivery',
  'Evaluation',
  'Integration',
  'Invocation',
  'Location',
  'Order',
  'Person',
  'Product',
  'TestRun',
];

/** The answers of an operation, from `openapi.yaml`. For a status, the first that applies counts. */
const commonAnswers = [
  { status: 304, answer: 'NotModified', when: (operation) => needsKey(operation) && takes(operation, 'IfNoneMatch') },
  // Mistakes in JSON Lines are named line by line (422).
  { status: 400, answer: 'InvalidRequest', when: (operation) => hasBody(operation) && !hasLines(operation) },
  { status: 400, answer: 'InvalidParameters', when: needsKey },
  { status: 400, answer: 'InvalidPublicRequest', when: isPublic },
  { status: 401, answer: 'Unauthenticated', when: needsKey },
  {
    status: 403,
    answer: 'InsufficientScopeOrReadOnly',
    when: (operation, method) => needsScope(operation) && changes(operation, method),
  },
  { status: 403, answer: 'InsufficientScope', when: needsScope },
  ...resources.map((name) => ({
    status: 404,
    answer: `${name}NotFound`,
    when: (operation) => takes(operation, `Path${name}Id`),
  })),
  { status: 404, answer: 'DatasetNotFound', when: (operation) => takes(operation, 'PathDatasetName') },
  { status: 404, answer: 'PromptNotFound', when: (operation) => takes(operation, 'PathSlugOrId') },
  { status: 406, answer: 'NotAcceptable', when: needsKey },
  { status: 406, answer: 'PublicNotAcceptable', when: isPublic },
  { status: 408, answer: 'RequestTimeout', when: hasBody },
  { status: 409, answer: 'IdempotencyKeyInUse', when: (operation) => takes(operation, 'IdempotencyKey') },
  { status: 412, answer: 'PreconditionFailed', when: (operation) => takes(operation, 'IfMatch') },
  { status: 413, answer: 'ContentTooLarge', when: hasBody },
  { status: 415, answer: 'UnsupportedMediaType', when: hasBody },
  { status: 429, answer: 'RateLimited', when: needsKey },
  { status: 500, answer: 'InternalError', when: needsKey },
  { status: 500, answer: 'PublicInternalError', when: isPublic },
  { status: 503, answer: 'ServiceUnavailable', when: needsKey },
  { status: 'default', answer: 'OtherProblem', when: () => true },
];

const succeeds = ({ status }) => status.startsWith('2');
/** A request without the scope of its operation is not counted. Other reasons for a 403 are found later. */
const isCounted = ({ status, operation, types }) =>
  needsKey(operation) &&
  !['401', 'default'].includes(status) &&
  (status !== '403' || types.some((type) => type !== 'insufficient-scope'));
/** Whoever can compare the state of a resource gets it, but not from the operation that deletes the resource. */
const showsState = ({ operation, method }) =>
  takes(operation, 'IfNoneMatch') || (takes(operation, 'IfMatch') && method !== 'delete');

/** The headers of an answer, from `components/headers`. An answer of several operations has those of each of them. */
const commonHeaders = [
  { name: 'X-Request-Id', header: 'RequestId', when: () => true },
  { name: 'Cache-Control', header: 'CacheControl', when: () => true },
  { name: 'RateLimit', header: 'RateLimit', when: isCounted },
  { name: 'RateLimit-Policy', header: 'RateLimitPolicy', when: isCounted },
  {
    name: 'X-Invocation-Id',
    header: 'InvocationIdHeader',
    when: ({ status, operation }) => invokes(operation) && !beforeInvocation.includes(status),
  },
  {
    name: 'WWW-Authenticate',
    header: 'WwwAuthenticate',
    when: ({ status, operation }) => status === '401' || (status === '403' && needsKey(operation)),
  },
  {
    name: 'Location',
    header: 'LocationHeader',
    // A message that is accepted makes nothing.
    when: ({ status, operation }) =>
      ['201', '202'].includes(status) && needsKey(operation) && operation['x-mcp'] === undefined,
  },
  {
    name: 'ETag',
    header: 'ETag',
    when: (answer) => answer.status === '304' || (succeeds(answer) && showsState(answer)),
  },
  { name: 'Link', header: 'Link', when: (answer) => succeeds(answer) && takes(answer.operation, 'After') },
  {
    name: 'Idempotency-Replayed',
    header: 'IdempotencyReplayed',
    when: (answer) => succeeds(answer) && takes(answer.operation, 'IdempotencyKey'),
  },
  { name: 'Retry-After', header: 'RetryAfter', when: ({ status }) => ['429', '503'].includes(status) },
  {
    name: 'Retry-After',
    header: 'RetryAfterIfTemporary',
    when: ({ types }) => types.includes('idempotency-key-in-use'),
  },
];

/** Where a bearer token is accepted, the key can be in the other header, or a session can take its place. */
const otherWays = ['apiKeyHeader', 'sessionCookie'];

/** The preprocessor of Redocly. */
export function completeContract() {
  /** What `openapi.yaml` says of paths: the tag, and the scopes. The longest path first. */
  let table;
  /** Those of `openapi.yaml`, by name. */
  let answers;

  function completeOperation(operation, { method, route, find }) {
    addTagAndScope(operation, { method, row: table.find(({ start }) => `${route}/`.startsWith(`${start}/`)) });
    fillInDescription(operation);
    for (const { status, answer, when } of commonAnswers) {
      if (!(status in operation.responses) && when(operation, method))
        operation.responses[status] = inRoot('responses', answer);
    }
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (answer === null) Reflect.deleteProperty(operation.responses, status);
    }
    for (const [status, answer] of Object.entries(operation.responses)) {
      const [, common] = answer.$ref?.split('openapi.yaml#/components/responses/') ?? [];
      const instance =
        answer.$ref === undefined ? examplePath(route, (operation.parameters ?? []).map(find)) : undefined;
      const target = answers[common] ?? find(answer);
      completeAnswer(target, { status, operation, method, instance });
      if (status === '403' && target['x-problem-types'].includes('read-only') !== changes(operation, method)) {
        throw new Error(`${operation.operationId}: its 403 has read-only if the operation changes something, else not`);
      }
    }
    const scopes = operation.security?.find(({ bearerAuth }) => bearerAuth !== undefined)?.bearerAuth;
    if (scopes !== undefined) operation.security.push(...otherWays.map((way) => ({ [way]: scopes })));
  }

  return {
    Root({ components, tags }) {
      table = tags
        .flatMap((tag) =>
          tag['x-paths'].map((start) => ({ start, tag: tag.name, scopes: tag['x-scopes'], limited: tag['x-limited'] })),
        )
        .toSorted((one, other) => other.start.length - one.start.length);
      for (const tag of tags)
        for (const name of ['x-paths', 'x-scopes', 'x-limited']) Reflect.deleteProperty(tag, name);
      const examples = Object.entries(problemTypes).filter(([, { example }]) => example !== undefined);
      components.examples = Object.fromEntries(
        examples.map(([type, { example }]) => [exampleName(type), problemExample({ type, ...example })]),
      );
      Object.assign((components.schemas ??= {}), promptSchemas);
      answers = components.responses;
    },
    PathItem(item, { key: route, resolve, location }) {
      const find = (node) => resolve(node, location.source.absoluteRef).node;
      const operations = Object.entries(item).filter(([, { responses }]) => responses !== undefined);
      for (const [method, operation] of operations) completeOperation(operation, { method, route, find });
    },
    Parameter(parameter) {
      if (parameter['x-names'] !== undefined) completeNames(parameter);
    },
    Schema(schema) {
      if (schema['x-page-of'] !== undefined) completePage(schema);
      if (schema['x-event-types'] !== undefined) completeEventTypes(schema);
      if (schema.properties?.['x-prompt-content'] !== undefined) completePrompt(schema);
      if (schema.properties?.['x-unchangeable'] !== undefined) completeChange(schema);
      fillInDescription(schema);
    },
  };
}

/**
 * Gives an operation the tag, the scope and the words of `x-limited` that `openapi.yaml` has for its path, unless it has
 * its own.
 */
function addTagAndScope(operation, { method, row: { tag, scopes, limited } = {} }) {
  const scope = scopes?.[method === 'get' ? 'read' : 'change'];
  const {
    operationId,
    summary,
    description,
    tags = [tag],
    security = scope === undefined ? undefined : [{ bearerAuth: [scope] }],
    'x-limited': own,
    ...rest
  } = operation;
  // What needs no key concerns no key.
  const reach = security?.length === 0 ? undefined : { ...limited, ...own };
  replaceMembers(operation, {
    ...{ operationId, summary, description, tags },
    ...(security && { security }),
    ...(reach && { 'x-limited': reach }),
    ...rest,
  });
}

/** Completes an answer in its place, also one that was completed for another operation. */
function completeAnswer(answer, { instance, ...place }) {
  const { description, 'x-problems': problems, headers, ...rest } = answer;
  const types = problems?.map((problem) => problem.type ?? problem) ?? rest['x-problem-types'] ?? [];
  const derived = commonHeaders.filter(({ when }) => when({ ...place, types }));
  replaceMembers(answer, {
    description,
    ...(types.length > 0 && { 'x-problem-types': [...new Set(types)] }),
    headers: {
      ...Object.fromEntries(derived.map(({ name, header }) => [name, component(`headers/${header}`)])),
      ...headers,
    },
    ...(problems !== undefined && { content: { 'application/problem+json': problemContent(problems, instance) } }),
    ...rest,
  });
}

/**
 * `x-problems` lists the problems of an answer. Each is a type, or an object with the type and the fields of an example.
 * Without fields, the example is that of `problems.yaml`, if it has one.
 */
function problemContent(problems, instance) {
  const examples = problems.flatMap((problem) => {
    const { type, name = type, example, ...fields } = typeof problem === 'string' ? { type: problem } : problem;
    const entry = problemTypes[type];
    if (entry === undefined) throw new Error(`problems.yaml has no ${type}`);
    if (example !== undefined) return [[name, example]];
    if (fields.detail !== undefined) return [[name, problemExample({ type, instance, ...fields })]];
    return entry.example === undefined ? [] : [[name, inRoot('examples', exampleName(type))]];
  });
  return { schema: component('schemas/Problem'), examples: Object.fromEntries(examples) };
}

/** @param fields `detail`, `instance` (the path of the request), `errors` and others; `summary` if it is not the title */
function problemExample({ type, summary, detail, instance, ...fields }) {
  const { title, status } = problemTypes[type];
  if (instance === undefined) throw new Error(`the example of ${type} in a shared answer needs an instance`);
  const [urn, request_id] = [`urn:prompt-gateway:problem:${type}`, '01J9ZQ4C7N8VX2M5K3T6B1R0DW'];
  return { summary: summary ?? title, value: { type: urn, title, status, detail, instance, request_id, ...fields } };
}

/** `x-names` lists the names that a header field, a list separated by commas, can have. */
function completeNames(parameter) {
  const { schema, 'x-names': names } = parameter;
  const one = `(?:${names.join('|')})`;
  parameter.description += ` The names are ${names.map((name) => `\`${name}\``).join(', ')}.`;
  schema.pattern = `^ *${one}(?: *, *${one})* *$`;
}

/** `x-page-of` says what a page contains, such as `API keys`. `items` is the schema of one. */
function completePage(page) {
  const { 'x-page-of': entries, title, description, items, maxItems = 100 } = page;
  replaceMembers(page, {
    ...(title !== undefined && { title }),
    type: 'object',
    description,
    required: ['data', 'pagination'],
    properties: {
      data: { type: 'array', description: `The ${entries} of this page.`, maxItems, items },
      pagination: component('schemas/Pagination'),
    },
  });
}

/** Puts the types of events in the place of `x-event-types`. */
function completeEventTypes(schema) {
  const members = Object.entries(schema).flatMap(([name, value]) =>
    name === 'x-event-types' ? Object.entries(eventSchemas[value]()) : [[name, value]],
  );
  replaceMembers(schema, Object.fromEntries(members));
}

/** Puts the fields of a prompt's content in their place among the properties. */
function completePrompt(schema) {
  const properties = Object.entries(schema.properties).flatMap(([name, property]) =>
    // Redocly resolves each reference once, so it has to be an object of its own.
    name === 'x-prompt-content' ? structuredClone(promptFields[property]) : [[name, property]],
  );
  schema.properties = Object.fromEntries(properties);
}

/**
 * `x-unchangeable` names a resource: a request that changes it can have the members of an answer that it does not list, so
 * that what GET returned can be sent back.
 */
function completeChange(schema) {
  const { 'x-unchangeable': name, ...own } = schema.properties;
  const { properties } = readSchema(path.join(folder, 'components/schemas', `${name}.yaml`));
  const others = Object.entries(properties).filter(([member]) => !member.startsWith('x-') && !(member in own));
  schema.properties = { ...own, ...Object.fromEntries(others.map(([member, answer]) => [member, sentBack(answer)])) };
}

/** The schema of a value that an answer had, in a request: closed, but for objects, whose members nobody reads. */
function sentBack(answer) {
  const schema = answer.$ref === undefined ? answer : readSchema(answer.$ref);
  if (schema.format === 'date-time') return component('schemas/DateTimeInput');
  if (schema.properties !== undefined) return component('schemas/IgnoredObject');
  const [known, other] = schema.anyOf ?? [];
  if (other?.$ref?.endsWith('/OtherValue.yaml')) return known;
  if (schema.items !== undefined) {
    const { description, maxItems } = schema;
    return { type: 'array', description, maxItems, items: sentBack(schema.items) };
  }
  // A name stands for one schema.
  return Object.fromEntries(Object.entries(answer).filter(([member]) => member !== 'title'));
}

/** A schema in a file, with absolute references. */
function readSchema(file) {
  return parse(readFileSync(file, 'utf8'), (key, value) =>
    key === '$ref' ? path.resolve(path.dirname(file), value) : value,
  );
}

function fillInDescription(node) {
  for (const [placeholder, names] of placeholders) {
    if (node.description?.includes(placeholder)) node.description = node.description.replace(placeholder, names);
  }
}

function listed(fields) {
  const names = fields.map(([name]) => `\`${name}\``);
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function replaceMembers(node, members) {
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key);
  Object.assign(node, members);
}

function exampleName(type) {
  return `problem-${type}`;
}

function component(name) {
  return { $ref: path.join(folder, 'components', `${name}.yaml`) };
}

function inRoot(group, name) {
  return { $ref: `${path.join(folder, 'openapi.yaml')}#/components/${group}/${name}` };
}

/** A path with the examples of its parameters. */
function examplePath(route, parameters) {
  return route.replaceAll(/\{(\w+)\}/g, (placeholder, name) => {
    const { example, schema } = parameters.find((parameter) => parameter.name === name) ?? {};
    return example ?? schema?.examples?.[0] ?? placeholder;
  });
}
