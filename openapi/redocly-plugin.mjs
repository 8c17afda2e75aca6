// Rules for `redocly lint` that its own rule set lacks.

import { clientMethod } from '../src/codegen/client-names.ts';
import { completeContract } from './completion.mjs';

/**
 * Every string, array and integer has its bounds, in requests and in answers, so that no value is larger than what the
 * receiver can plan for. Strings with `enum` or `const` are bounded already. Generated Java and Go read an integer as one
 * of 32 bits if its format is not `int64`.
 */
const boundedSchemas = () => ({
  Schema(schema, { report, location }) {
    if (location.pointer.endsWith('/not')) return;
    const types = [schema.type].flat();
    const closed = schema.enum !== undefined || schema.const !== undefined;
    const missing = [
      types.includes('string') && !closed && ['maxLength'],
      types.includes('array') && ['maxItems'],
      types.includes('integer') && ['minimum', 'maximum'],
    ]
      .filter(Boolean)
      .flat()
      .filter((keyword) => schema[keyword] === undefined);
    if (missing.length > 0) {
      report({ message: `${types.join(' or ')} schema without ${missing.join(' and ')}`, location });
    }
    if (types.includes('integer') && schema.maximum >= 2 ** 31 && schema.format !== 'int64') {
      report({ message: 'an integer of more than 31 bits needs format: int64', location });
    }
  },
});

/** `$ref` has no siblings: validators differ on whether they count. */
const lonelyRefs = () => ({
  ref(node, { report, location }) {
    if (Object.keys(node).length > 1) {
      report({ message: '$ref has siblings, which some validators drop', location });
    }
  },
});

/** Whether a schema is the whole of a file, which names it. */
const isComponent = ({ source, pointer }) => pointer === '#/' && /[/\\]schemas[/\\][^/\\]+$/.test(source.absoluteRef);

const isOtherValue = ({ $ref }) => $ref?.endsWith('/OtherValue.yaml') === true;

/**
 * Calls `visit` with each schema that a body is made of, references followed, and with the schema that it is part of.
 * Redocly's own nested visitors stop at the first schema below the body.
 */
function walkSchema(schema, location, resolve, visit, parent = { node: {}, location }, seen = new Set()) {
  const target = schema.$ref === undefined ? { node: schema, location } : resolve(schema, location.source.absoluteRef);
  if (typeof target.node !== 'object') return;
  visit(target.node, target.location, parent);
  if (seen.has(target.node)) return;
  seen.add(target.node);
  const {
    properties = {},
    items,
    additionalProperties,
    propertyNames,
    anyOf = [],
    oneOf = [],
    allOf = [],
  } = target.node;
  const below = [
    items,
    additionalProperties,
    propertyNames,
    ...anyOf,
    ...oneOf,
    ...allOf,
    ...Object.values(properties),
  ];
  for (const child of below) {
    if (typeof child === 'object') walkSchema(child, target.location, resolve, visit, target, seen);
  }
}

/** A rule about each schema of each request body. */
const aboutRequestSchemas = (check) => () => ({
  RequestBody(body, { report, location, resolve }) {
    for (const [mediaType, { schema }] of Object.entries(body.content)) {
      walkSchema(schema, location.child(['content', mediaType, 'schema']), resolve, (node, place) => {
        for (const message of check(node)) report({ message, location: place });
      });
    }
  },
});

/** No keyword that makes a validator change a body, or that validators read differently. */
const portableRequests = aboutRequestSchemas((schema) =>
  ['default', 'readOnly', 'writeOnly', 'nullable', 'discriminator', 'unevaluatedProperties']
    .filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => `${keyword} in a request is read differently by different validators`),
);

/** Objects name their fields, or are maps that say which names and values they take. */
const closedRequests = aboutRequestSchemas((schema) => {
  const map = schema.propertyNames !== undefined && schema.additionalProperties !== undefined;
  const open = [schema.type].flat().includes('object') && schema.additionalProperties !== false && !map;
  return open ? ['request object that is open to unknown fields'] : [];
});

/**
 * Value lists are closed in requests and open in answers: there, an enum stands in an `anyOf` with `OtherValue`, so that
 * clients that were generated before accept a value that a later release adds. A union in an answer says by which member
 * its kinds are told apart.
 */
const openAnswers = () => {
  const reported = new Set();
  const check = (body, isAnswer, { report, location, resolve }) => {
    for (const [mediaType, { schema }] of Object.entries(body.content ?? {})) {
      walkSchema(schema, location.child(['content', mediaType, 'schema']), resolve, (node, place, parent) => {
        if (isAnswer && node.oneOf !== undefined && node.discriminator === undefined) {
          report({ message: 'a union of an answer needs a discriminator', location: place });
        }
        const isWrong = isAnswer
          ? node.enum !== undefined && parent.node.anyOf?.some(isOtherValue) !== true
          : node.anyOf?.some(isOtherValue) === true;
        const where = `${parent.location.absolutePointer} ${place.absolutePointer}`;
        if (!isWrong || reported.has(where)) return;
        reported.add(where);
        const message = isAnswer
          ? `an answer has a value list that is not open: put ${node.enum} into an anyOf with OtherValue`
          : 'a request has a value list that is open';
        report({ message, location: parent.location });
      });
    }
  };
  return {
    RequestBody: (body, context) => check(body, false, context),
    Response: (response, context) => check(response, true, context),
  };
};

/** Query parameters are scalars that are never empty: validators differ on everything else. */
const plainQueries = () => ({
  Parameter(parameter, { report, location, resolve }) {
    if (parameter.in !== 'query') return;
    const schema = resolve(parameter.schema).node;
    const scalar = ['string', 'integer', 'number', 'boolean'].includes(schema.type);
    if (!scalar || (schema.type === 'string' && (schema.enum ?? schema.minLength) === undefined)) {
      report({ message: 'query parameter that is not a scalar, or a string without minLength', location });
    }
  },
});

/** Whether a schema is part of a condition, which generators of clients do not read. */
const inCondition = ({ pointer }) => /\/(if|then|else|not|dependentSchemas)(\/|$)/.test(pointer);

/** What the strict ones among the generators of clients cannot read, or make wrong code of. */
const generatorMistakes = [
  [({ type }) => [type].flat().filter((one) => one !== 'null').length > 1, 'several types: use anyOf'],
  [({ type }) => type === 'null', 'only null: name a type beside it, or use OnlyNull'],
  [({ format, pattern }) => pattern !== undefined && /^date(-time)?$/.test(format), 'a date with a pattern'],
  [({ enum: values = [] }) => values.includes(false), 'a list of booleans: use { not: { const: true } }'],
];

/** The objects without a title in a schema that can be null. openapi-python-client reads them twice and then refuses their names. */
function untitledObjects({ anyOf = [], oneOf = [], items, additionalProperties, properties = {} }) {
  const parts = [...anyOf, ...oneOf, items, additionalProperties, ...Object.values(properties)];
  return parts
    .filter((part) => typeof part === 'object' && (part.$ref ?? part.title) === undefined)
    .flatMap((part) => [
      ...([part.type].flat().includes('object') ? [part] : []),
      ...(canBeNull(part) ? [] : untitledObjects(part)),
    ]);
}

const canBeNull = ({ type }) => [type].flat().includes('null');

/** Generated clients compile and work: `npm run program -- test:generators`. */
const strictGenerators = () => ({
  Schema(schema, { report, location }) {
    // oapi-codegen reads conditions, too.
    if (Object.values(schema.properties ?? {}).includes(false)) {
      report({ message: 'a member that is false: use { not: {} }', location });
    }
    for (const [isMistake, message] of generatorMistakes) {
      if (!inCondition(location) && isMistake(schema)) report({ message, location });
    }
    if (canBeNull(schema) && !inCondition(location)) {
      for (const { description } of untitledObjects(schema)) {
        report({ message: `an object in a schema that can be null, without a title: ${description}`, location });
      }
    }
    if (
      schema.properties !== undefined &&
      schema.title === undefined &&
      !isComponent(location) &&
      !inCondition(location)
    ) {
      report({ message: 'an object without a title: generators would name it by its place', location });
    }
    const isUnion = (schema.anyOf ?? schema.oneOf) !== undefined && schema.anyOf?.some(isOtherValue) !== true;
    if (isUnion && schema.title === undefined && !isComponent(location) && !inCondition(location)) {
      report({ message: 'a union without a title', location });
    }
    for (const [keyword, members] of Object.entries({ anyOf: schema.anyOf ?? [], oneOf: schema.oneOf ?? [] })) {
      for (const [index, { $ref, type, title }] of members.entries()) {
        if (($ref ?? title) !== undefined || type === undefined || type === 'null') continue;
        report({ message: 'a member of a union without a title', location: location.child([keyword, index]) });
      }
    }
  },
  Link({ requestBody }, { report, location }) {
    if (typeof requestBody === 'object') report({ message: 'a link whose requestBody is an object', location });
  },
});

/**
 * Generators name classes and types by component or by title. A component is named by its file (generation makes that its
 * title), an enum within another schema by a title of its own. No name occurs twice, whatever its kind, case and dashes.
 * A member without a title is named by its object and itself: `status` of Order is OrderStatus. That is no other's name.
 */
const uniqueNames = () => {
  const places = new Map();
  const untitledMembers = [];
  const keyOf = (name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const add = (name, place, location) => {
    const key = keyOf(name);
    const known = places.get(key) ?? new Map();
    places.set(key, known.set(place, { name, location }));
  };
  return {
    ref: {
      leave(node, { resolve }) {
        const { location } = resolve(node);
        const [, name] =
          /[/\\](?:components[/\\]\w+|schemas)[/\\]([^/\\]+)\.yaml$/.exec(location?.source.absoluteRef) ?? [];
        if (name !== undefined) add(name, location.source.absoluteRef, location);
      },
    },
    Schema({ title, enum: values, properties = {} }, { report, location }) {
      const [, component] = /([^/\\]+)\.yaml$/.exec(location.source.absoluteRef) ?? [];
      const owner = title ?? (isComponent(location) ? component : undefined);
      for (const [name, member] of Object.entries(owner === undefined ? {} : properties)) {
        // Generation makes a string of an open list of values.
        if ((member.$ref ?? member.title) !== undefined || member.anyOf?.some(isOtherValue)) continue;
        untitledMembers.push({ name: `${owner}${name}`, location: location.child(['properties', name]) });
      }
      if (isComponent(location)) {
        if (title !== undefined) report({ message: 'the title of a component is its name: leave it out', location });
      } else if (title === undefined) {
        if (values !== undefined) report({ message: 'an enum within another schema needs a title', location });
      } else if (/^([A-Z][a-z0-9]*)+$/.test(title)) {
        add(title, location.absolutePointer, location);
      } else {
        report({ message: `the title ${title} is not in PascalCase`, location });
      }
    },
    Root: {
      leave(_, { report }) {
        for (const named of places.values()) {
          if (named.size < 2) continue;
          for (const { name, location } of named.values()) report({ message: `${name} is a name twice`, location });
        }
        for (const { name, location } of untitledMembers) {
          if (places.has(keyOf(name))) report({ message: `needs a title: ${name} is another schema's name`, location });
        }
      },
    },
  };
};

/** Methods of a client begin with a verb, and no two of a tag are the same. */
const clientMethods = () => {
  const seen = new Set();
  return {
    Operation({ operationId, tags }, { report, location }) {
      const method = clientMethod(tags[0], operationId);
      if (!/^[a-z]/.test(method)) report({ message: `${operationId} does not begin with a verb`, location });
      if (seen.has(`${tags[0]}.${method}`)) report({ message: `${method} is twice among ${tags[0]}`, location });
      seen.add(`${tags[0]}.${method}`);
    },
  };
};

/** A POST without an idempotency key says whether a client may send it again when its answer got lost. */
const statedRepetition = () => ({
  Operation(operation, { key: method, report, location }) {
    const takesKey = operation.parameters?.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey.yaml')) === true;
    const mustState = method === 'post' && !takesKey;
    if (mustState === (operation['x-repeatable'] !== undefined)) return;
    report({ message: 'x-repeatable belongs to each POST without Idempotency-Key, and to no other', location });
  },
});

/**
 * `x-event-schema` is the schema of the events of a stream, `x-line-schema` that of each line of JSON Lines. Redocly
 * bundles and checks them like other schemas.
 */
const eventSchemas = (types) => ({
  ...types,
  MediaType: {
    ...types.MediaType,
    properties: { ...types.MediaType.properties, 'x-event-schema': 'Schema', 'x-line-schema': 'Schema' },
  },
});

/** Redocly reads a plugin from its default export. */
export default function contractPlugin() {
  return {
    id: 'contract',
    typeExtension: { oas3: eventSchemas },
    preprocessors: { oas3: { complete: completeContract } },
    rules: {
      oas3: {
        'bounded-schemas': boundedSchemas,
        'client-methods': clientMethods,
        'lonely-refs': lonelyRefs,
        'open-answers': openAnswers,
        'unique-names': uniqueNames,
        'portable-requests': portableRequests,
        'closed-requests': closedRequests,
        'plain-queries': plainQueries,
        'stated-repetition': statedRepetition,
        'strict-generators': strictGenerators,
      },
      async3: {
        'bounded-schemas': boundedSchemas,
        'lonely-refs': lonelyRefs,
        'strict-generators': strictGenerators,
        'unique-names': uniqueNames,
      },
    },
  };
}
