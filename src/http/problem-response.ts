import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { problems } from '../../generated/problems.ts';
import {
  compatibleStatus,
  toAnthropicError,
  toCompatibleError,
  toMcpError,
  type ProblemFacts,
} from '../base/errors/compatible-error.ts';
import {
  ProblemError,
  saidByProvider,
  type ProblemDetail,
  type ProblemExtensions,
} from '../base/errors/problem-error.ts';

/** A complete HTTP answer with its body. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** The bytes that are sent, if they were made before: the body, perhaps compressed. */
  readonly bytes?: Buffer;
  readonly stream?: undefined;
}

const problemMediaType = 'application/problem+json';

/** The most places that a problem names: the limit of the contract. A body can have thousands of mistakes. */
const maxErrors = 100;

/** An API or protocol of others, for which their SDKs are made. */
export type ApiOfOthers = NonNullable<OperationRow['apis']>[number];

/** The APIs of others that have each collection under `/v1`, such as `models`; none for the service's own, such as `orders`. */
const apisOfCollections: ReadonlyMap<string | undefined, readonly ApiOfOthers[]> = new Map(
  Object.values<OperationRow>(operationTable).flatMap(({ path, apis = [] }) => {
    const [, version, collection] = path.split('/');
    return version === 'v1' ? [[collection, apis]] : [];
  }),
);

/**
 * The API of others that a request belongs to, also if this service does not have its path. On paths that both
 * OpenAI and Anthropic have, or that are unknown here, callers of Anthropic's send its version.
 *
 * @param headers by their names in lower case
 */
export function apiOf(path: string, headers: NodeJS.Dict<string | string[]> = {}): ApiOfOthers | undefined {
  if (path === '/mcp') return 'mcp';
  const [, version, collection] = path.split('/');
  if (version !== 'v1') return undefined;
  const [only, other] = apisOfCollections.get(collection) ?? ['openai', 'anthropic'];
  return other !== undefined && headers['anthropic-version'] !== undefined ? other : only;
}

/** Error details (RFC 9457), with the members that the contract adds. */
export interface ProblemDetails extends ProblemExtensions {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly request_id: string;
  readonly errors?: ProblemDetail[];
}

/** An error that is not a ProblemError becomes `internal-error`, whose detail does not contain the cause. */
export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  return new ProblemError('internal-error', {
    detail: 'The service failed unexpectedly. Report the request id to the operator.',
  });
}

/** @param instance path of the request */
export function problemDetails(problem: ProblemError, instance: string, requestId: string): ProblemDetails {
  return {
    type: `urn:prompt-gateway:problem:${problem.type}`,
    title: problems[problem.type].title,
    status: problem.status,
    detail: problem.message,
    instance: uriReference(instance.slice(0, 2_000)),
    request_id: requestId,
    ...(problem.errors === undefined ? {} : { errors: problem.errors.slice(0, maxErrors) }),
    ...problem.extensions,
  };
}

/**
 * Serialises a failure as RFC 9457 problem details, or for the APIs of others as their errors.
 * @param instance path of the request
 * @param headers of the request, as far as they could be read
 */
export function problemAnswer(
  error: unknown,
  instance: string,
  requestId: string,
  headers?: NodeJS.Dict<string | string[]>,
): RawAnswer {
  const problem = toProblem(error);
  const api = apiOf(instance, headers);
  if (api !== undefined) return compatibleAnswer(problem, api, requestId);
  return {
    status: problem.status,
    headers: { ...problem.headers, 'content-type': problemMediaType },
    body: JSON.stringify(problemDetails(problem, instance, requestId)),
  };
}

const writers: Readonly<Record<ApiOfOthers, (facts: ProblemFacts, requestId: string) => unknown>> = {
  openai: toCompatibleError,
  anthropic: toAnthropicError,
  mcp: toMcpError,
};

/** The SDKs repeat requests after 408, 409, 429 and 5xx, unless a header of the answer says that they should not. */
function compatibleAnswer(problem: ProblemError, api: ApiOfOthers, requestId: string): RawAnswer {
  const { type, status, message: detail, errors, headers, extensions } = problem;
  const { usage, provider_status: said, json_rpc } = extensions;
  const facts: ProblemFacts = {
    json_rpc,
    type,
    status,
    detail,
    errors,
    usage,
    provider_status: said,
    ...saidByProvider(problem),
  };
  return {
    status: compatibleStatus(facts),
    headers: {
      ...headers,
      ...(said !== undefined && { 'x-provider-status': String(said) }),
      'content-type': 'application/json; charset=utf-8',
      ...(![408, 429, 503].includes(status) && { 'x-should-retry': 'false' }),
      ...(api === 'anthropic' && { 'request-id': requestId }),
    },
    body: JSON.stringify(writers[api](facts, requestId)),
  };
}

/**
 * Escapes characters that some clients send in request lines, although a URI cannot contain them (RFC 3986, section
 * 3.3).
 */
function uriReference(path: string): string {
  return path.replaceAll(/[^\w\-.~!$&'()*+,;=:@/%]|%(?![\dA-Fa-f]{2})/g, (character) => encodeURIComponent(character));
}
