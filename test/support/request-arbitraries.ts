import fc from 'fast-check';
import { operationTable, type OperationId } from '../../generated/operations.ts';
import { listOperations, resolve, type OperationEntry, type Parameter } from '../../src/codegen/contract-document.ts';
import { contract, hostileNames, valuesOf, type SchemaArbitraryOptions } from './schema-arbitraries.ts';

/** A request as it is sent, without authentication. */
export interface GeneratedRequest {
  /** The operation that it was generated for. */
  readonly operationId: OperationId;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface RequestOptions extends SchemaArbitraryOptions {
  /** Selects operations by the paths of the contract. The default is all of them. */
  readonly isWanted?: (path: string) => boolean;
}

/**
 * Requests for operations of the contract. Without slips all of them are valid; with slips some are broken or
 * borderline.
 */
export function requests({ isWanted = () => true, ...options }: RequestOptions): fc.Arbitrary<GeneratedRequest> {
  return fc.oneof(
    ...listOperations(contract)
      // The referee reads no JSON Lines.
      .filter(({ path, operation }) => isWanted(path) && operation['x-line-limit'] === undefined)
      .map((entry) => ({
        // Bodies have more possible mistakes than other parts.
        weight: entry.operation.requestBody === undefined ? 1 : 4,
        arbitrary: requestsOf(entry, options),
      })),
  );
}

/**
 * Whether a path belongs to the orders API or to the administration of webhooks. Other paths belong to the prompt
 * gateway.
 */
export function isOrdersPath(path: string): boolean {
  return /^\/(v1|api\/v1\/(integrations|deliveries|event-types))(\/|$)/.test(path);
}

/** Requests for one operation. */
function requestsOf(entry: OperationEntry, options: SchemaArbitraryOptions): fc.Arbitrary<GeneratedRequest> {
  const operationId = entry.operation.operationId as OperationId;
  return fc
    .record({
      path: paths(entry, options),
      query: queries(entry, options),
      headers: headerFields(entry, options),
      body: bodies(entry, options),
      method: slip(
        options,
        fc.constant<string>(operationTable[operationId].method),
        fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'),
      ),
      encoding: slip(
        options,
        fc.constant({}),
        fc.constantFrom(...['gzip', 'identity', 'Identity', 'br, gzip'].map((name) => ({ 'content-encoding': name }))),
      ),
      mediaType: slip(options, fc.constant('application/json'), fc.constantFrom(...mediaTypes)),
    })
    .map(({ method, path, query, headers, body, encoding, mediaType }) => ({
      operationId,
      method,
      url: path === '' ? `/${query}` : path + query,
      headers: {
        ...headers,
        ...(body === undefined ? {} : encoding),
        ...(body === undefined || mediaType === undefined ? {} : { 'content-type': mediaType }),
      },
      body,
    }));
}

/** Media types, right and wrong ones; `undefined` sends none. */
const mediaTypes = [
  ...['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'APPLICATION/JSON', 'application/json;x=y'],
  ...['application/json; charset=latin1', 'text/plain', 'application/xml', 'application/x-www-form-urlencoded'],
  ...['multipart/form-data; boundary=x', 'application/problem+json', 'application/merge-patch+json', 'text/json'],
  ...['json', '*/*', '', ';', 'application/json,application/json', undefined],
];

/** Numbers that are not integers in the contract, although some parsers accept them. */
const numberSpellings = [
  ...['0x10', '1e2', '1E+2', '1.0', '+5', '007', '-0', '5 ', ' 5', '', '1e999', 'Infinity', 'NaN', '٣', '1_000', '1,0'],
  ...[
    '99999999999999999999',
    '9007199254740993',
    '2147483648',
    '-1',
    'true',
    'null',
    '[]',
    '{}',
    '5\u0000',
    '0b1',
    '.5',
  ],
];

function paths({ path, parameters }: OperationEntry, options: SchemaArbitraryOptions): fc.Arbitrary<string> {
  const segments = path.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    const parameter = parameters.find((candidate) => candidate.in === 'path' && candidate.name === name);
    if (parameter === undefined) return fc.constant(segment);
    return slip(
      options,
      parameterTexts(parameter, options).map((text) => encodeURIComponent(text) || '%20'),
      fc.constantFrom(
        '%2F',
        '%2e%2e',
        '%00',
        '%zz',
        '%E0%A4%A',
        '%F0%9F%98%80',
        'a%20b',
        'A',
        '..',
        'a;b=c',
        "a'b",
        'a+b',
      ),
    );
  });
  const whole = fc.tuple(...segments).map((parts) => parts.join('/'));
  return slip(
    options,
    whole,
    whole.chain((text) => fc.constantFrom(`${text}/`, `/${text}`, text.toUpperCase(), `${text}/x`, text.slice(0, -1))),
  );
}

function queries({ parameters }: OperationEntry, options: SchemaArbitraryOptions): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const pairs = known.map((parameter) =>
    fc.option(
      parameterTexts(parameter, options).map((text) => `${parameter.name}=${encodeURIComponent(text)}`),
      { freq: 2 },
    ),
  );
  const names = fc.constantFrom(
    ...known.flatMap(({ name }) => [name, name, `${name}[]`, `${name}[$gt]`, `${name}.x`]),
    ...hostileNames,
    '[zzz]',
  );
  const strange = fc.oneof(
    fc
      .tuple(names, fc.constantFrom('1', '', 'x', '[object Object]'))
      .map(([name, value]) => `${encodeName(name)}=${encodeURIComponent(value)}`),
    fc.constantFrom('', '&', '=', '=x', 'limit', 'limit=%zz', 'q=a+b', 'q=%F0%9F', 'q=a=b', 'a[b][c]=1'),
  );
  const join = (list: readonly (string | null)[]): string => list.filter((pair) => pair !== null).join('&');
  return fc
    .tuple(fc.tuple(...pairs), slip(options, fc.constant(null), fc.array(strange, { minLength: 1, maxLength: 2 })))
    .map(([own, slipped]) => {
      const query = join([...own, ...(slipped ?? [])]);
      return query === '' && slipped === null ? '' : `?${query}`;
    });
}

/** Brackets are not encoded, because some servers give them a meaning. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll('%5B', '[').replaceAll('%5D', ']').replaceAll('%24', '$');
}

function headerFields(
  { parameters }: OperationEntry,
  options: SchemaArbitraryOptions,
): fc.Arbitrary<Record<string, string>> {
  const fields = parameters
    .filter((parameter) => parameter.in === 'header')
    .map((parameter) =>
      fc.option(
        fc.tuple(
          fc.constant(parameter.name.toLowerCase()),
          // Characters that HTTP can carry (RFC 9110, section 5.5). Blanks around a value are not part of it.
          parameterTexts(parameter, options).map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').trim()),
        ),
        { freq: 2 },
      ),
    );
  return fc.tuple(...fields).map((list) => Object.fromEntries(list.filter((field) => field !== null)));
}

function bodies({ operation }: OperationEntry, options: SchemaArbitraryOptions): fc.Arbitrary<string | undefined> {
  const { requestBody } = operation;
  const schema = requestBody?.content['application/json']?.schema;
  if (requestBody === undefined || schema === undefined) {
    return slip(options, fc.constant(undefined), fc.constantFrom('{}', 'null', '{"$ne":1}', '<x/>', ''));
  }
  const right = valuesOf(schema, options).map((value) => JSON.stringify(value));
  const required = resolve(contract, requestBody).required === true;
  return slip(
    options,
    required ? right : fc.option(right, { nil: undefined, freq: 10 }),
    fc.oneof(
      fc.constantFrom(undefined, '', ' ', '{', '[]', 'null', '0', '"x"', '{"name":"x",}', '\ufeff{}', "{'a':1}", 'NaN'),
      right.chain((text) =>
        fc.constantFrom(
          ...['1e400', '-0', '1.0', '1E2', '12345678901234567890'].map((number) => text.replace(/:\d+/, `:${number}`)),
        ),
      ),
      right.chain((text) =>
        fc.constantFrom(text.slice(0, -1), `${text} `, `${text}${text}`, text.replace('{', '{"name":"twice",')),
      ),
    ),
  );
}

function parameterTexts(parameter: Parameter, options: SchemaArbitraryOptions): fc.Arbitrary<string> {
  const values = valuesOf(parameter.schema, options, parameter.name).map((value) =>
    typeof value === 'string' ? value.toWellFormed() : (JSON.stringify(value) ?? ''),
  );
  return slip(options, values, fc.constantFrom(...numberSpellings));
}

function slip<Right, Wrong>(
  { slipOneIn }: SchemaArbitraryOptions,
  right: fc.Arbitrary<Right>,
  wrong: fc.Arbitrary<Wrong>,
): fc.Arbitrary<Right | Wrong> {
  if (slipOneIn === undefined) return right;
  return fc.oneof({ weight: slipOneIn * 2 - 1, arbitrary: right }, { weight: 1, arbitrary: wrong });
}
