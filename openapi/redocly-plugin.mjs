// Rules for `redocly lint` that its own rule set lacks.

/**
 * Every string, array and integer has its bounds, in requests and in answers, so that no value is larger than what the
 * receiver can plan for. Strings with `enum` or `const` are bounded already.
 */
const boundedSchemas = () => ({
  Schema(schema, { report, location }) {
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

/** Bodies have no keyword that makes a validator change them or differ between directions. */
const portableBodies = () => ({
  MediaType: {
    Schema(schema, { report, location }) {
      for (const keyword of [
        'default',
        'readOnly',
        'writeOnly',
        'nullable',
        'discriminator',
        'unevaluatedProperties',
      ]) {
        if (schema[keyword] !== undefined) {
          report({
            message: `${keyword} in a body is read differently by different validators`,
            location: location.child(keyword),
          });
        }
      }
    },
  },
});

/** Objects that a request may carry name their fields, or are maps that say which names and values they take. */
const closedRequests = () => ({
  RequestBody: {
    Schema(schema, { report, location }) {
      const map = schema.propertyNames !== undefined && schema.additionalProperties !== undefined;
      if ([schema.type].flat().includes('object') && schema.additionalProperties !== false && !map) {
        report({ message: 'request object that is open to unknown fields', location });
      }
    },
  },
});

/** Query parameters are scalars that are never empty: validators differ on everything else. */
const plainQueries = () => ({
  Parameter(parameter, { report, location, resolve }) {
    if (parameter.in !== 'query') return;
    const schema = resolve(parameter.schema).node;
    const scalar = ['string', 'integer', 'number', 'boolean'].includes(schema.type);
    if (!scalar || (schema.type === 'string' && schema.minLength === undefined)) {
      report({ message: 'query parameter that is not a scalar, or a string without minLength', location });
    }
  },
});

/** Redocly reads a plugin from its default export. */
export default function contractPlugin() {
  return {
    id: 'contract',
    rules: {
      oas3: {
        'bounded-schemas': boundedSchemas,
        'lonely-refs': lonelyRefs,
        'portable-bodies': portableBodies,
        'closed-requests': closedRequests,
        'plain-queries': plainQueries,
      },
    },
  };
}
