/**
 * What the errors of calls mean. Those of the provider packages contain the request, the answer or both in their
 * message, so they are never passed on, not even as a cause.
 */
import {
  AISDKError,
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { readDelay, readRetryAfter } from '../../base/outbound/retry-after.ts';
import { isObject, membersOf } from '../../base/runtime/objects.ts';
import { ProviderHttpError } from '../transport/whole-response.ts';
import type { GenerateRequest, TokenCeiling, Usage } from '../language-model.ts';
import { ImpossibleModelError, type SdkProvider } from '../vendors/vendor.ts';
import { createConceal, type Conceal } from './conceal.ts';
import { readError, readErrorBody, type SaidError } from './error-body.ts';
import { tlsFaultOf } from './tls-faults.ts';
import { badAnswer, failedAnswer, incompleteAnswer, isTransient, tooLarge, type Failure } from './failures.ts';

/** A provider that can be called, and what its failures are described with. */
export interface CalledProvider extends SdkProvider {
  /** What operators check if the provider refuses the credentials, for a sentence. */
  readonly credentials: string;
  /** Spellings of the configured secrets of all providers. */
  readonly secrets: readonly string[];
  /** The most tokens that it can charge for a request. */
  readonly ceilingOf: (request: GenerateRequest) => Promise<TokenCeiling>;
}

/** What a failure is described with. */
export interface FailureContext extends Pick<CalledProvider, 'credentials'> {
  /** The present, for a `Retry-After` that is a date. */
  readonly now: Date;
  /** Every text of the provider goes through it. */
  readonly conceal: Conceal;
}

export function failureContext(
  { credentials, secrets }: Pick<CalledProvider, 'credentials' | 'secrets'>,
  request: GenerateRequest,
): FailureContext {
  return { now: new Date(), credentials, conceal: createConceal(secrets, request) };
}

/**
 * Classifies the error of a call that was not answered, or whose answer could not be read.
 *
 * @param isPrepared false for an error from before the provider's package was called: nothing was sent
 */
export function toFailure(error: unknown, context: FailureContext, isPrepared = true): Failure {
  const failure = findFailure(error, context);
  if (failure !== undefined) return failure;
  const cause = withoutMessage(error);
  // What the packages refuse to send is an error of their own kind. Any other comes from reading what was answered.
  if (isPrepared && !AISDKError.isInstance(error)) return { ...badAnswer(), cause };
  return { ...failed('The provider could not be called with this request.'), cause };
}

/**
 * Why an answer failed that its provider ended with an error.
 *
 * @param error what the provider says in the answer; undefined if it says nothing
 */
export function toAnswerFailure(error: unknown, usage: Usage, context: FailureContext): Failure {
  const failure = error === undefined ? failedAnswer() : toEventFailure(error, context);
  return { ...failure, usage, mayBeBilled: failure.mayBeBilled || (usage.outputTokens ?? 0) > 0 };
}

/**
 * Classifies what breaks a stream that has begun: the error of a rejected read, or an error that the provider reports
 * in an event.
 */
export function toStreamFailure(error: unknown, context: FailureContext): Failure {
  if (error instanceof Error) return findFailure(error, context) ?? { ...badAnswer(), cause: withoutMessage(error) };
  return toEventFailure(error, context);
}

/** @param event the provider's error, or what its package made of it */
function toEventFailure(event: unknown, context: FailureContext): Failure {
  const { statusCode, data, message } = membersOf(event);
  // `data` is what a package has read of an error. In the provider's own form it belongs to an answer.
  const read = isErrorBody(event) ? undefined : data;
  const said = { ...readError(message), ...readError(event), ...readError(read) };
  const { knownCode } = said;
  const status = [statusCode, ...statusesIn(read), ...statusesIn(event), statusOf(knownCode)]
    .map(Number)
    .find(isErrorStatus);
  return toStatusFailure(status ?? 500, said, knownCode ?? 'within the answer', context);
}

function findFailure(error: unknown, context: FailureContext): Failure | undefined {
  const transport = findTransportError(error);
  if (transport) return toTransportFailure(transport);
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const { statusCode: status, responseBody: body, responseHeaders: headers, data } = error;
    const said = readErrorBody(body, data);
    if (status >= 200 && status < 300) {
      const answer = parse(body);
      if (!isErrorBody(answer)) return badAnswer(status);
      const isKnown = [...statusesIn(answer), statusOf(said.knownCode)].map(Number).some(isErrorStatus);
      return isKnown ? toEventFailure(answer, context) : withWords(badAnswer(status), said, context);
    }
    const answered = said.knownCode === undefined ? `status ${status}` : `status ${status}, ${said.knownCode}`;
    const retryAfter = retryAfterOf(headers, context.now);
    // Amazon has the code in a header: `ValidationException:http://…`.
    const type = headers?.['x-amzn-errortype']?.split(':')[0];
    const words = { ...(type !== undefined && { code: type }), ...said };
    return { ...toStatusFailure(status, words, answered, context, retryAfter), status };
  }
  // An answer without the list of choices, or with an empty one, beside an error.
  if (InvalidResponseDataError.isInstance(error) && isErrorBody(error.data)) return toEventFailure(error.data, context);
  // An event that is not of the format, because it is an error in another one.
  if (TypeValidationError.isInstance(error) && membersOf(error.value)['error'] !== undefined) {
    return toEventFailure(error.value, context);
  }
  if (answerErrors.some((type) => type.isInstance(error))) return badAnswer();
  if (error instanceof ImpossibleModelError) return failed('The provider has no such model.');
  // What the package for Anthropic throws when the first event of a stream is not JSON.
  if (error instanceof Error && error.message === 'Expected a normalized Anthropic stream error') return badAnswer();
  return undefined;
}

const answerErrors = [
  JSONParseError,
  TypeValidationError,
  InvalidResponseDataError,
  NoContentGeneratedError,
  EmptyResponseBodyError,
];

function failed(detail: string): Failure {
  return { type: 'provider-failed', detail, retryable: false, mayBeBilled: false };
}

/** @param answered what the provider answered, for a sentence */
function toStatusFailure(
  status: number,
  said: SaidError,
  answered: string,
  context: FailureContext,
  retryAfter?: number,
): Failure {
  const { credentials } = context;
  const { knownCode: code, moderation } = said;
  if (status === 403 && moderation !== undefined) {
    const refused = failed(`The provider's moderation refused the request (${answered}).`);
    // A text can have names of accounts.
    return moderation === 'by its form' ? withWords(refused, said, context) : refused;
  }
  // Google answers a wrong key with 400.
  if (status === 401 || status === 403 || code === 'API_KEY_INVALID') {
    const detail = `The provider does not accept the configured credentials (${answered}). Check ${credentials}.`;
    return { ...failed(detail), type: 'provider-refused-credentials', code };
  }
  if (status === 429) {
    const detail = `The provider limits the rate of requests (${answered}).`;
    // An exhausted quota does not recover within seconds.
    const retryable = code !== 'insufficient_quota';
    return withWords({ ...failed(detail), type: 'provider-rate-limited', retryable, retryAfter }, said, context);
  }
  const failure = {
    ...failed(`The provider answered with an error (${answered}).`),
    retryable: isTransient(status),
    mayBeBilled: mayHaveWorked(status),
    retryAfter,
  };
  return withWords(failure, said, context);
}

/** Whether a server that answers with this status may have generated something before. An overloaded one has not. */
function mayHaveWorked(status: number): boolean {
  return status === 408 || (status >= 500 && status !== 503 && status !== 529);
}

/** Adds what the provider says. About refused credentials it is left out: such texts have parts of keys, and names of accounts. */
function withWords(failure: Failure, { message, code }: SaidError, { conceal }: FailureContext): Failure {
  return {
    ...failure,
    message: message === undefined ? undefined : conceal(message),
    code: code !== undefined && conceal(code) === code ? code : undefined,
  };
}

function toTransportFailure({ reason, status, cause, host }: ProviderHttpError): Failure {
  const code = codeOf(cause);
  const message = code === undefined ? undefined : [code, host].join(' ').trim();
  const known = { code, message, status, cause: cause instanceof Error ? cause : undefined };
  const fault = proxyFaults[code ?? ''] ?? tlsFaultOf(code, cause);
  const where = message === undefined ? '' : ` (${message})`;
  switch (reason) {
    case 'unreachable':
      // A host that does not exist or has no valid certificate will also fail a second later.
      return {
        ...failed(`The provider could not be reached${fault === undefined ? '' : `: ${fault}`}${where}.`),
        retryable: transientCodes.has(code ?? ''),
        ...known,
      };
    case 'stale':
    case 'unanswered': {
      if (code === 'ANSWER_TOO_LONG') {
        return { ...tooLarge(), detail: "The headers of the provider's answer are too large.", ...known };
      }
      if (isNotHttp(cause)) return { ...badAnswer(), detail: "The provider's answer is not HTTP.", ...known };
      const detail = `The provider closed the connection without an answer${where}.`;
      return { ...failed(detail), retryable: true, mayBeBilled: true, isStale: reason === 'stale', ...known };
    }
    case 'cut':
      return { ...incompleteAnswer(), ...known };
    case 'too-large':
      return tooLarge(status);
  }
}

/** Whether an answer could not be read, by the code or the name of the error. */
function isNotHttp(cause: unknown): boolean {
  const { code, name } = membersOf(cause);
  return code === 'NOT_HTTP' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || name === 'HTTPParserError';
}

/** What is wrong with the proxy of this service. */
const proxyFaults: Readonly<Record<string, string>> = {
  PROXY_UNREACHABLE: 'there is no connection to the proxy. Check PROVIDER_PROXY_URL',
  PROXY_CREDENTIALS: 'the proxy does not accept the credentials in PROVIDER_PROXY_URL',
  PROXY_REFUSED: 'the proxy does not connect to it. Check what the proxy allows, and PROVIDER_PROXY_RESOLVES',
};

/** Of connections that could not be opened. */
const transientCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'ETIMEOUT',
  'EAI_AGAIN',
  'PROXY_UNREACHABLE',
]);

/** The code of the system for what undici names itself. */
const systemCodes: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
};

function codeOf(cause: unknown): string | undefined {
  const { code } = membersOf(cause);
  return typeof code === 'string' && /^[A-Z][A-Z_0-9]{1,99}$/.test(code) ? (systemCodes[code] ?? code) : undefined;
}

function findTransportError(error: unknown): ProviderHttpError | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current instanceof ProviderHttpError) return current;
    current = current.cause;
  }
  return undefined;
}

/** The status with which the providers send an error of this code when they do not stream. */
function statusOf(code = ''): number | undefined {
  if (/rate_limit|quota|RESOURCE_EXHAUSTED/.test(code)) return 429;
  if (/overloaded|UNAVAILABLE/.test(code)) return 503;
  if (/authentication|invalid_api_key|UNAUTHENTICATED/.test(code)) return 401;
  if (/permission/i.test(code)) return 403;
  return /invalid|unsupported|not_found|context_length|content_|too_large/i.test(code) ? 400 : undefined;
}

/** Where the formats can have a status in an error. */
function statusesIn(said: unknown): unknown[] {
  const outer = membersOf(said);
  const inner = isObject(outer['error']) ? outer['error'] : outer;
  return [inner['code'], inner['status'], outer['code'], outer['status']];
}

/** Whether an answer without an error status is an error. */
function isErrorBody(answer: unknown): boolean {
  const { error, detail, object } = membersOf(answer);
  return isObject(error) || [error, detail].some((said) => said !== undefined && said !== null) || object === 'error';
}

/** Undefined for what is not JSON. */
function parse(body = ''): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isErrorStatus(status: number): boolean {
  return status >= 400 && status <= 599;
}

/** An error's name and stack frames, without its message. */
function withoutMessage(error: unknown): Error {
  const copy = new Error(error instanceof Error ? error.name : typeof error);
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  copy.stack = [String(copy), ...frames].join('\n');
  return copy;
}

/**
 * How long a provider asks callers to wait: `retry-after-ms` (OpenAI, Azure), else `Retry-After`.
 *
 * @param headers response headers by lower-case name
 * @returns milliseconds from now, at least 0 and at most a day; undefined if absent or invalid
 */
export function retryAfterOf(headers: Readonly<Record<string, string>> | undefined, now: Date): number | undefined {
  return readDelay(headers?.['retry-after-ms'], 1) ?? readRetryAfter(headers?.['retry-after'], now);
}
