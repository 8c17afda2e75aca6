import { describe, expect, it } from '@jest/globals';
import events from '../../generated/asyncapi.json' with { type: 'json' };
import api from '../../generated/openapi.json' with { type: 'json' };
import { findBreakingChanges } from '../../src/codegen/compatibility/breaking-changes.ts';
import { findUnintended } from '../../src/codegen/compatibility/intended-changes.ts';
import { makeReleasedCopy } from '../../src/codegen/compatibility/released-copy.ts';
import { sumUp } from '../../src/codegen/compatibility/sum-up.ts';
import { renderChangeList } from '../../src/codegen/change-list.ts';
import { readSurface, type Contracts } from '../../src/codegen/compatibility/surface.ts';
import { resolve } from '../../src/codegen/contract-document.ts';

type Node = Record<string, unknown>;

/**
 * Some operations of the contract without most of their errors, so that each case takes only milliseconds, and all
 * events.
 */
const routes = [
  '/v1/orders',
  '/v1/products/{id}',
  '/api/v1/integrations',
  '/api/v1/integrations/{id}/replays',
  '/api/v1/deliveries/{id}',
  '/api/v1/deliveries/{id}/attempts',
  '/api/v1/test-runs/{id}/results',
  '/health/live',
] as const;
const { examples: _, ...components } = api.components;
const paths = structuredClone(Object.fromEntries(routes.map((route) => [route, api.paths[route]])));
for (const { responses } of Object.values(paths).flatMap(Object.values<{ responses: Node }>)) {
  for (const status of Object.keys(responses))
    if (/^(4(?!22)|5)/.test(status)) Reflect.deleteProperty(responses, status);
}
const contracts = { api: { ...api, paths, components }, events } as unknown as Contracts;

/** The object at a place in a contract, such as `/v1/orders post responses 201`. Follows references. */
function at(document: object, place: string): Node {
  return place.split(' ').reduce<Node>((node, key) => {
    const child = node[key];
    if (typeof child !== 'object' || child === null) throw new Error(`${place}: there is no ${key}`);
    return resolve(document, child as Node);
  }, document as Node);
}

interface Edited {
  /** A schema of the API. */
  schema: (place: string) => Node;
  path: (place: string) => Node;
  /** A schema of an event's payload. */
  payload: (place: string) => Node;
  event: (place: string) => Node;
  api: Node;
}

type Edit = (edited: Edited) => unknown;

function edited(edit: Edit): Contracts {
  const copy = structuredClone(contracts);
  edit({
    schema: (place) => at(copy.api, `components schemas ${place}`),
    path: (place) => at(copy.api, `paths ${place}`),
    payload: (place) => at(copy.events, `components schemas ${place}`),
    event: (place) => at(copy.events, place),
    api: copy.api as unknown as Node,
  });
  return copy;
}

/** The breaking changes that the guard finds after an edit. */
function changesAfter(edit: Edit): string[] {
  return findBreakingChanges(contracts, edited(edit));
}

function drop(node: Node, key: string): void {
  if (!(key in node)) throw new Error(`there is no ${key} to drop`);
  Reflect.deleteProperty(node, key);
}

function rename(node: Node, from: string, to: string): void {
  node[to] = node[from];
  drop(node, from);
}

function list(node: Node, key: string): unknown[] {
  return (node[key] ??= []) as unknown[];
}

function remove(node: Node, key: string, value: unknown): void {
  const values = list(node, key);
  if (!values.includes(value)) throw new Error(`${key} does not contain ${String(value)}`);
  node[key] = values.filter((one) => one !== value);
}

const createOrder = '/v1/orders post';
const created = `${createOrder} responses 201`;
const text = { type: 'string', maxLength: 10 };
const openList = { type: 'string', minLength: 1, maxLength: 100, 'x-extensible-enum': ['true'] };
const integer = { type: 'integer', minimum: 0, maximum: 9 };

type Case = [finding: string, edit: Edit];

const brokenRequests: Case[] = [
  ['createOrder: removed', ({ path }) => drop(path('/v1/orders'), 'post')],
  [
    'createOrder: operationId createOrder → placeOrder',
    ({ path }) => (path(createOrder)['operationId'] = 'placeOrder'),
  ],
  ['createOrder: tag Orders → Sales', ({ path }) => (path(createOrder)['tags'] = ['Sales'])],
  [
    'createOrder body .table: added',
    ({ schema }) => {
      schema('OrderCreate properties')['table'] = text;
      list(schema('OrderCreate'), 'required').push('table');
    },
  ],
  ['createOrder body .note: required now', ({ schema }) => list(schema('OrderCreate'), 'required').push('note')],
  ['createOrder body .note: removed', ({ schema }) => drop(schema('OrderCreate properties'), 'note')],
  ['createOrder body .note: string removed', ({ schema }) => (schema('OrderCreate properties')['note'] = integer)],
  [
    'updateProduct body .sku: null removed',
    ({ schema }) => remove(schema('ProductUpdate properties sku'), 'type', 'null'),
  ],
  ['createOrder body .note: pattern none → "^[a-z]+$"', ({ schema }) => (schema('OrderNote')['pattern'] = '^[a-z]+$')],
  ['createOrder body .reference_id: pattern "\\\\S" → "."', ({ schema }) => (schema('ReferenceId')['pattern'] = '.')],
  ['createOrder body .note: format none → "email"', ({ schema }) => (schema('OrderNote')['format'] = 'email')],
  [
    'createOrder body .note: not none → {"pattern":"x"}',
    ({ schema }) => (schema('OrderNote')['not'] = { pattern: 'x' }),
  ],
  ['createOrder body .note: maxLength 1000 → 999', ({ schema }) => (schema('OrderNote')['maxLength'] = 999)],
  ['createOrder body .note: minLength 1 → 2', ({ schema }) => (schema('OrderNote')['minLength'] = 2)],
  ['createOrder body .items[].quantity: maximum 999 → 99', ({ schema }) => (schema('Quantity')['maximum'] = 99)],
  ['createOrder body .items[].quantity: minimum 1 → 2', ({ schema }) => (schema('Quantity')['minimum'] = 2)],
  ['createOrder body .items[].quantity: multipleOf none → 2', ({ schema }) => (schema('Quantity')['multipleOf'] = 2)],
  [
    'createOrder body .items: maxItems 200 → 9',
    ({ schema }) => (schema('OrderCreate properties items')['maxItems'] = 9),
  ],
  ['createOrder body .items: minItems 1 → 2', ({ schema }) => (schema('OrderCreate properties items')['minItems'] = 2)],
  [
    'createOrder body .items: uniqueItems added',
    ({ schema }) => (schema('OrderCreate properties items')['uniqueItems'] = true),
  ],
  ['createOrder body .metadata: maxProperties 16 → 8', ({ schema }) => (schema('OrderMetadata')['maxProperties'] = 8)],
  [
    'createOrder body .metadata: minProperties none → 1',
    ({ schema }) => (schema('OrderMetadata')['minProperties'] = 1),
  ],
  [
    'createOrder body .metadata: closed added',
    ({ schema }) => (schema('OrderMetadata')['additionalProperties'] = false),
  ],
  [
    'createOrder body .metadata(names): maxLength none → 9',
    ({ schema }) => (schema('OrderMetadata propertyNames')['maxLength'] = 9),
  ],
  [
    'createOrder body .metadata{}: maxLength 500 → 50',
    ({ schema }) => (schema('OrderMetadata additionalProperties')['maxLength'] = 50),
  ],
  [
    'createIntegration body .event_types[]: value ORDER_PLACED removed',
    ({ schema }) => remove(schema('SubscribableEventType'), 'enum', 'ORDER_PLACED'),
  ],
  ['createOrder body .note: list of values added', ({ schema }) => (schema('OrderNote')['enum'] = ['now', 'later'])],
  [
    'updateProduct body .active: list of values added',
    ({ schema }) => (schema('ProductUpdate properties active')['const'] = true),
  ],
  ['createReplay body .since: string date removed', ({ schema }) => list(schema('Moment'), 'anyOf').shift()],
  ['createOrder body .note: if none → {"minLength":5}', ({ schema }) => (schema('OrderNote')['if'] = { minLength: 5 })],
  [
    'createOrder body application/json: removed',
    ({ path }) => drop(path(`${createOrder} requestBody content`), 'application/json'),
  ],
  ['createOrder body application/json: removed', ({ path }) => drop(path(createOrder), 'requestBody')],
  [
    'listOrders body: required now',
    ({ path }) => (path('/v1/orders get')['requestBody'] = { required: true, content: {} }),
  ],
  ['listOrders parameter status (query): removed', ({ path }) => list(path('/v1/orders get'), 'parameters').shift()],
  [
    'listOrders parameter status (query): required now',
    ({ path }) => (path('/v1/orders get parameters 0')['required'] = true),
  ],
  [
    'listOrders parameter status (query): value open removed',
    ({ path }) => remove(path('/v1/orders get parameters 0 schema'), 'enum', 'open'),
  ],
  [
    'listOrders parameter limit (query): default 20 → 50',
    ({ api }) => (at(api, 'components parameters Limit schema')['default'] = 50),
  ],
  [
    'listOrders parameter limit (query): maximum 100 → 50',
    ({ api }) => (at(api, 'components parameters Limit schema')['maximum'] = 50),
  ],
  ['updateProduct parameter id (path): maxLength 36 → 20', ({ schema }) => (schema('ProductId')['maxLength'] = 20)],
  [
    'createOrder parameter X-Till (header): added',
    ({ path }) =>
      list(path(createOrder), 'parameters').push({ name: 'X-Till', in: 'header', required: true, schema: text }),
  ],
  [
    'createOrder security: orders:read added',
    ({ path }) => list(path(`${createOrder} security 0`), 'bearerAuth').push('orders:read'),
  ],
  ['createOrder security: apiKeyHeader removed', ({ path }) => list(path(createOrder), 'security').splice(1, 1)],
  [
    'getLiveness security: bearerAuth added',
    ({ path }) => list(path('/health/live get'), 'security').push({ bearerAuth: [] }),
  ],
  ['authentication apiKeyHeader: removed', ({ api }) => drop(at(api, 'components securitySchemes'), 'apiKeyHeader')],
  [
    'authentication apiKeyHeader: name "X-API-Key" → "X-Key"',
    ({ api }) => (at(api, 'components securitySchemes apiKeyHeader')['name'] = 'X-Key'),
  ],
];

const brokenAnswers: Case[] = [
  ['createOrder answer 201: removed', ({ path }) => drop(path(`${createOrder} responses`), '201')],
  ['createOrder answer 422: removed', ({ path }) => drop(path(`${createOrder} responses`), '422')],
  ['createOrder answer default: removed', ({ path }) => drop(path(`${createOrder} responses`), 'default')],
  [
    'createOrder answer 202: added',
    ({ path }) => (path(`${createOrder} responses`)['202'] = { description: 'Later.' }),
  ],
  [
    'createOrder answer 201 application/json: removed',
    ({ path }) => drop(path(`${created} content`), 'application/json'),
  ],
  ['createOrder answer 201 .total: removed', ({ schema }) => drop(schema('Order properties'), 'total')],
  ['createOrder answer 201 .note: removed', ({ schema }) => drop(schema('Order properties'), 'note')],
  ['createOrder answer 201 .items[].tags: removed', ({ schema }) => drop(schema('OrderItem properties'), 'tags')],
  ['createOrder answer 201 .total: no longer required', ({ schema }) => remove(schema('Order'), 'required', 'total')],
  ['createOrder answer 201 .total: string added', ({ schema }) => (schema('Order properties')['total'] = text)],
  [
    'createOrder answer 201 .total: null added',
    ({ schema }) => (schema('Order properties total')['type'] = ['integer', 'null']),
  ],
  [
    'createOrder answer 201 .total: integer removed',
    ({ schema }) => (schema('Order properties total')['type'] = 'number'),
  ],
  ['createOrder answer 201 .total: minimum 0 → -1', ({ schema }) => (schema('Order properties total')['minimum'] = -1)],
  [
    'createOrder answer 201 .total: maximum 9007199254740991 → none',
    ({ schema }) => drop(schema('Order properties total'), 'maximum'),
  ],
  [
    'createOrder answer 201 .items: maxItems 200 → 300',
    ({ schema }) => (schema('Order properties items')['maxItems'] = 300),
  ],
  ['createOrder answer 201 .currency: maxLength 3 → 4', ({ schema }) => (schema('CurrencyCode')['maxLength'] = 4)],
  [
    'createOrder answer 201 .currency: pattern "^[A-Z]{3}$" → none',
    ({ schema }) => drop(schema('CurrencyCode'), 'pattern'),
  ],
  [
    'createOrder answer 201 .created_at: format "date-time" → none',
    ({ schema }) => drop(schema('Timestamp'), 'format'),
  ],
  [
    'createOrder answer 201 .status: value canceled removed',
    ({ schema }) => remove(schema('Order properties status'), 'x-extensible-enum', 'canceled'),
  ],
  [
    'createOrder answer 201 .status: list of values removed',
    ({ schema }) => drop(schema('Order properties status'), 'x-extensible-enum'),
  ],
  [
    'createOrder answer 201 header Idempotency-Replayed: value false added',
    ({ path }) => (path(`${created} headers Idempotency-Replayed`)['schema'] = { enum: ['true', 'false'] }),
  ],
  [
    'createOrder answer 201 header Idempotency-Replayed: list of values removed',
    ({ path }) => (path(`${created} headers Idempotency-Replayed`)['schema'] = openList),
  ],
  [
    'createOrder answer 201 .metadata{}: maxLength 500 → none',
    ({ schema }) => drop(schema('OrderMetadata additionalProperties'), 'maxLength'),
  ],
  [
    'createOrder answer 201 .metadata: {} removed',
    ({ schema }) => drop(schema('OrderMetadata'), 'additionalProperties'),
  ],
  ['createOrder answer 201 header ETag: removed', ({ path }) => drop(path(`${created} headers`), 'ETag')],
  [
    'createOrder answer 201 header Location: no longer required',
    ({ path }) => (path(`${created} headers Location`)['required'] = false),
  ],
  [
    'getTestRunResults answer 200 .results[]: object status=skipped added',
    ({ schema }) =>
      list(schema('TestResult'), 'oneOf').push({
        type: 'object',
        properties: { status: { type: 'string', const: 'skipped' } },
      }),
  ],
  [
    'getTestRunResults answer 200 .results[]: object status=failed removed',
    ({ schema }) => list(schema('TestResult'), 'oneOf').pop(),
  ],
  [
    'getTestRunResults answer 200 .results[](status=failed).error: removed',
    ({ schema }) => drop(schema('TestFailure properties'), 'error'),
  ],
  [
    'createOrder answer 422 .type: value urn:prompt-gateway:problem:unknown-product removed',
    ({ schema }) =>
      remove(
        schema('CreateOrder422Problem allOf 0 properties type'),
        'x-extensible-enum',
        'urn:prompt-gateway:problem:unknown-product',
      ),
  ],
];

const brokenEvents: Case[] = [
  ['event ORDER_PLACED: removed', ({ event }) => drop(event('channels integration messages'), 'orderPlaced')],
  [
    'event ORDER_PLACED payload .data.total: removed',
    ({ payload }) => drop(payload('OrderPlaced properties data properties'), 'total'),
  ],
  [
    'event ORDER_PLACED payload .data.spotName: removed',
    ({ payload }) => drop(payload('OrderPlaced properties data properties'), 'spotName'),
  ],
  ['event ORDER_PLACED payload .data: removed', ({ payload }) => drop(payload('OrderPlaced properties'), 'data')],
  [
    'event ORDER_PLACED payload .data.total: no longer required',
    ({ payload }) => remove(payload('OrderPlaced properties data'), 'required', 'total'),
  ],
  [
    'event ORDER_PLACED payload .data.total: string added',
    ({ payload }) => (payload('OrderPlaced properties data properties')['total'] = text),
  ],
  [
    'event ORDER_PLACED payload .data.total: null added',
    ({ payload }) => (payload('OrderPlaced properties data properties total')['type'] = ['integer', 'null']),
  ],
  [
    'event ORDER_PLACED payload .data.currency: maxLength 3 → 9',
    ({ payload }) => (payload('OrderPlaced properties data properties currency')['maxLength'] = 9),
  ],
  [
    'event ORDER_PLACED payload .type: value ORDER_NEW added',
    ({ payload }) => (payload('OrderPlaced properties type')['const'] = 'ORDER_NEW'),
  ],
  [
    'event ORDER_PLACED payload .createdAt: format "date-time" → none',
    ({ payload }) => drop(payload('EventTime'), 'format'),
  ],
  [
    'event ORDER_PLACED headers .webhook-id: removed',
    ({ payload }) => drop(payload('DeliveryHeaders properties'), 'webhook-id'),
  ],
  [
    'event ORDER_PLACED headers .webhook-id: removed',
    ({ payload }) => rename(payload('DeliveryHeaders properties'), 'webhook-id', 'Webhook-Id'),
  ],
  [
    'event ORDER_PLACED headers .webhook-id: no longer required',
    ({ payload }) => remove(payload('DeliveryHeaders'), 'required', 'webhook-id'),
  ],
  [
    'authentication standardWebhooks: name "webhook-signature" → "signature"',
    ({ event }) => (event('components securitySchemes standardWebhooks')['name'] = 'signature'),
  ],
];

const harmless: [what: string, edit: Edit][] = [
  [
    'a new operation',
    ({ path }) => (path('/v1/orders')['patch'] = { ...path(createOrder), operationId: 'changeOrders' }),
  ],
  ['an optional field of a request', ({ schema }) => (schema('OrderCreate properties')['table'] = text)],
  ['a field that is no longer required', ({ schema }) => remove(schema('OrderCreate'), 'required', 'items')],
  [
    'another type in a request',
    ({ schema }) => (schema('OrderCreate properties')['note'] = { type: ['string', 'null'] }),
  ],
  [
    'numbers instead of integers',
    ({ schema }) => (schema('OrderItemInput properties')['quantity'] = { type: 'number', minimum: 0.5 }),
  ],
  [
    'an array besides a string',
    ({ schema }) =>
      (schema('ProductUpdate properties')['sku'] = {
        anyOf: [schema('ProductUpdate properties sku'), { type: 'array', items: text }],
      }),
  ],
  [
    'wider bounds in a request',
    ({ schema }) => Object.assign(schema('OrderCreate properties items'), { minItems: 0, maxItems: 300 }),
  ],
  ['no pattern in a request', ({ schema }) => drop(schema('ProductUpdate properties image_url'), 'pattern')],
  ['a request that is no longer closed', ({ schema }) => drop(schema('OrderCreate'), 'additionalProperties')],
  ['a further value in a request', ({ schema }) => list(schema('SubscribableEventType'), 'enum').push('ORDER_CHANGED')],
  ['any value in a request instead of a list', ({ schema }) => (schema('EventTypesInput')['items'] = text)],
  ['a further format in a request', ({ schema }) => list(schema('Moment'), 'anyOf').push({ ...text, title: 'Week' })],
  ['a default', ({ schema }) => (schema('OrderNote')['default'] = 'none')],
  ['a body that is optional', ({ path }) => (path(`${createOrder} requestBody`)['required'] = false)],
  [
    'a further media type of a request',
    ({ path }) => (path(`${createOrder} requestBody content`)['text/csv'] = { schema: text }),
  ],
  [
    'an optional parameter',
    ({ path }) => list(path('/v1/orders get'), 'parameters').push({ name: 'sort', in: 'query', schema: text }),
  ],
  [
    'an optional header',
    ({ path }) => list(path(createOrder), 'parameters').push({ name: 'X-Till', in: 'header', schema: text }),
  ],
  [
    'a scope that is not needed',
    ({ path }) => (path(createOrder)['security'] = [{ bearerAuth: [] }, { apiKeyHeader: [] }, { sessionCookie: [] }]),
  ],
  ['no key at all', ({ path }) => (path(createOrder)['security'] = [])],
  [
    'a further way to authenticate',
    ({ path, api }) => {
      at(api, 'components securitySchemes')['session'] = { type: 'apiKey', in: 'cookie', name: 'session' };
      list(path(createOrder), 'security').push({ session: [] });
    },
  ],
  [
    'a field of an answer',
    ({ schema }) => {
      schema('Order properties')['table'] = text;
      list(schema('Order'), 'required').push('table');
    },
  ],
  ['a field of an answer that is always there', ({ schema }) => list(schema('Order'), 'required').push('spot')],
  [
    'a narrower answer',
    ({ schema }) => Object.assign(schema('Order properties total'), { maximum: 10, multipleOf: 5 }),
  ],
  [
    'an answer that lists its values',
    ({ schema }) => (schema('OrderItem properties')['name'] = { type: 'string', enum: ['Tea'] }),
  ],
  [
    'a value of an open list',
    ({ schema }) => list(schema('Attempt properties error'), 'x-extensible-enum').push('too-slow'),
  ],
  ['a header of an answer', ({ path }) => (path(`${created} headers`)['Server-Timing'] = { schema: text })],
  ['a header that is always there', ({ path }) => (path(`${created} headers RateLimit`)['required'] = true)],
  ['a media type of an answer', ({ path }) => (path(`${created} content`)['text/csv'] = { schema: text })],
  [
    'an error that `default` covers',
    ({ path }) => (path(`${createOrder} responses`)['423'] = path(`${createOrder} responses 422`)),
  ],
  [
    'a problem type',
    ({ schema }) =>
      list(schema('CreateOrder422Problem allOf 0 properties type'), 'x-extensible-enum').push(
        'urn:prompt-gateway:problem:closed',
      ),
  ],
  [
    'a type of event',
    ({ event }) =>
      (event('channels integration messages')['new'] = { ...event('channels integration messages test'), name: 'NEW' }),
  ],
  [
    'a field of an event',
    ({ payload }) => {
      payload('OrderPlaced properties')['sequence'] = integer;
      list(payload('OrderPlaced'), 'required').push('sequence');
    },
  ],
  ['a header of an event', ({ payload }) => (payload('DeliveryHeaders properties')['x-sequence'] = text)],
  [
    'texts and examples',
    ({ schema }) =>
      Object.assign(schema('OrderNote'), { title: 'Remark', description: 'New.', examples: ['New'], deprecated: true }),
  ],
  [
    'another order',
    ({ schema, path }) => {
      list(schema('Order'), 'required').reverse();
      list(schema('TestResult'), 'oneOf').reverse();
      list(path('/v1/orders get parameters 0 schema'), 'enum').reverse();
      list(path('/v1/orders get'), 'parameters').reverse();
    },
  ],
  [
    'a component that stands where it is used',
    ({ schema }) => {
      schema('OrderCreate properties')['note'] = schema('OrderNote');
      schema('Delivery properties body')['contentSchema'] = schema('Delivery properties body contentSchema');
    },
  ],
  [
    'a schema in parts',
    ({ schema }) =>
      (schema('OrderCreate properties')['note'] = { allOf: [{ type: 'string', minLength: 1 }, { maxLength: 1000 }] }),
  ],
  [
    'another component name',
    ({ schema, api }) => {
      rename(at(api, 'components schemas'), 'OrderNote', 'Remark');
      for (const user of ['OrderCreate', 'Order']) {
        schema(`${user} properties`)['note'] = { $ref: '#/components/schemas/Remark' };
      }
    },
  ],
];

describe('the contract guard', () => {
  it('finds nothing in an unchanged contract', () => {
    expect(findBreakingChanges(contracts, structuredClone(contracts))).toEqual([]);
  });

  it.each(brokenRequests)('finds in requests: %s', (finding, edit) => {
    expect(changesAfter(edit)).toContain(finding);
  });

  it.each(brokenAnswers)('finds in answers: %s', (finding, edit) => {
    expect(changesAfter(edit)).toContain(finding);
  });

  it.each(brokenEvents)('finds in events: %s', (finding, edit) => {
    expect(changesAfter(edit)).toContain(finding);
  });

  it.each(harmless)('accepts %s', (_what, edit) => {
    expect(changesAfter(edit)).toEqual([]);
  });

  it('finds that numbers became integers', () => {
    const before = edited(({ schema }) => (schema('OrderCreate properties')['note'] = { type: 'number' }));
    const after = edited(({ schema }) => (schema('OrderCreate properties')['note'] = { type: 'integer' }));
    expect(findBreakingChanges(before, after)).toEqual(['createOrder body .note: integer added']);
  });

  it('compares a schema that contains itself', () => {
    const tree = {
      type: 'object',
      properties: { parts: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    };
    const before = edited(({ schema, api }) => {
      at(api, 'components schemas')['Tree'] = tree;
      schema('OrderCreate properties')['tree'] = { $ref: '#/components/schemas/Tree' };
    });
    const after = structuredClone(before);
    at(after.api, 'components schemas Tree properties parts')['maxItems'] = 3;
    expect(findBreakingChanges(before, structuredClone(before))).toEqual([]);
    expect(findBreakingChanges(before, after)).toEqual(['createOrder body .tree.parts: maxItems none → 3']);
  });
});

describe('the copy that a release stores', () => {
  const copy = <T extends object>(document: T): T => JSON.parse(makeReleasedCopy(document)) as T;

  it('contains all that the guard compares', () => {
    const { api, events } = contracts;
    expect(readSurface({ api: copy(api), events: copy(events) })).toEqual(readSurface(contracts));
  });

  it('keeps properties with the names of texts', () => {
    const schema = { type: 'object', description: 'A text.', properties: { description: text, examples: text } };
    expect(copy({ schema })).toEqual({ schema: { type: 'object', properties: schema.properties } });
  });
});

describe('intended changes', () => {
  const breaking = [
    'createOrder answer 201 .total: removed',
    'getOrder answer 200 .total: removed',
    'getOrder: tag A → B',
  ];

  it('are not reported', () => {
    const intended = [
      { reason: 'It is a sum that callers can make.', changes: ['* .total: removed'] },
      { reason: 'The common word.', changes: ['getOrder: tag A → B'] },
    ];
    expect(findUnintended(breaking, intended)).toEqual([]);
  });

  it('do not hide other changes', () => {
    const intended = [{ reason: 'The common word.', changes: ['getOrder: tag A → B'] }];
    expect(findUnintended(breaking, intended)).toEqual([
      'createOrder answer 201 .total: removed (and 1 more like this)',
    ]);
    expect(findUnintended(['getOrder: tag A → BC'], intended)).toContain('getOrder: tag A → BC');
  });

  it('must match a change', () => {
    const intended = [
      { reason: 'It was in the last release.', changes: ['* removed', '*: tag *', 'listOrders: removed'] },
    ];
    expect(findUnintended(breaking, intended)).toEqual([
      'listOrders: removed (is listed, but nothing has changed like this)',
    ]);
  });
});

describe('the summary of changes', () => {
  const nothing = {
    ...{ breaking: [], added: [], removed: [], authentication: [], addedEvents: [], removedEvents: [] },
    ...{ events: [], operations: [], shared: [] },
  };

  it('is empty if nothing changed', () => {
    expect(
      sumUp(
        contracts,
        edited(() => undefined),
        [],
      ),
    ).toEqual(nothing);
    expect(renderChangeList(nothing, '1.0.0', contracts.api)).toContain('Nothing has changed.');
  });

  it('has operations, events and their parts, and each change of many operations once', () => {
    const after = edited(({ api: changed, path, payload, schema }) => {
      const { '/health/live': live, ...others } = changed['paths'] as Node;
      changed['paths'] = { ...others, '/health/alive': live };
      (path('/v1/orders get parameters') as unknown as Node[]).push({
        ...{ name: 'floor', in: 'query', schema: { type: 'string', enum: ['<1>', '{{base}}'] } },
      });
      (payload('OrderPlaced properties') as Node)['floor'] = { type: 'string' };
      (schema('Problem properties') as Node)['floor'] = { type: 'string' };
      Reflect.deleteProperty(schema('OrderItem properties'), 'total');
    });
    const intended = [{ reason: 'It is a `sum`.', changes: ['* .items[].total: removed'] }];
    const summary = sumUp(contracts, after, intended);
    expect(summary.added.map(({ path }) => path)).toEqual(['/health/alive']);
    expect(summary.removed).toEqual(['GET /health/live']);
    expect(summary.breaking).toEqual([
      { reason: 'It is a `sum`.', changes: ['createOrder answer 201 .items[].total: removed'] },
    ]);
    expect(summary.events).toEqual([{ name: 'ORDER_PLACED', changes: ['payload .floor: added'] }]);
    expect(summary.operations).toContainEqual({ name: 'listOrders', changes: ['parameter floor (query): added'] });
    const shared = summary.shared.find(({ change }) => change === 'error .floor: added');
    expect(shared?.operations).toEqual(expect.arrayContaining(['createOrder', 'updateProduct']));
    const html = renderChangeList(summary, '1.0.0', after.api);
    expect(html).toContain('since 1.0.0.');
    expect(html).toContain('<p>It is a <code>sum</code>.</p>');
    expect(html).toContain('<summary><a href="{{base}}/docs#/orders/listorders"><code>listOrders</code></a></summary>');
  });
});
