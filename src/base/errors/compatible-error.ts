import type { ProblemDetail, ProblemExtensions } from './problem-error.ts';
import { fromStep } from '../runtime/json-pointer.ts';
import { defined } from '../runtime/objects.ts';

/** The body of an error of OpenAI's API. */
export interface CompatibleError {
  readonly error: {
    readonly message: string;
    readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error' | 'insufficient_quota';
    /** The member, parameter or header that is wrong, such as `messages[0].content`. */
    readonly param: string | null;
    /** The type of the problem without its prefix, or the provider's code if that refused the request itself. */
    readonly code: string;
    /** What a failed call has used, and may be charged for. */
    readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number };
  };
}

/** What a problem document has in common with the errors of these APIs. */
export interface ProblemFacts {
  /** With or without its prefix. */
  readonly type: string;
  readonly status: number;
  readonly detail: string;
  readonly errors?: readonly ProblemDetail[] | undefined;
  readonly provider_status?: number | undefined;
  readonly provider_code?: string | undefined;
  readonly provider_message?: string | undefined;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number } | undefined;
  readonly json_rpc?: ProblemExtensions['json_rpc'] | undefined;
}

/**
 * The status that an API of a provider would answer with: what a provider says about the request itself, or about the rate of
 * requests, is an answer to the caller there.
 */
export function compatibleStatus({ type, status, provider_status: said }: Omit<ProblemFacts, 'detail'>): number {
  const slug = slugOf(type);
  if (slug === 'provider-rate-limited') return 429;
  if (slug !== 'provider-failed') return status;
  if (said === 404) return 404;
  return said === 400 || said === 413 || said === 422 ? 400 : status;
}

/** The most mistakes that a message names. */
const maxNamed = 5;
/** The most characters of a message or a `param`. */
const longest = 2_000;

/**
 * Writes a problem as OpenAI's API writes its errors. The message names the mistakes and has the provider's words, because
 * there is no other place for them.
 */
export function toCompatibleError(facts: ProblemFacts): CompatibleError {
  const { errors: [first] = [], usage } = facts;
  const { status, message, code } = inWords(facts);
  return {
    error: {
      message,
      type: classOf(status),
      param: first === undefined ? null : placeOf(first),
      code,
      ...(usage !== undefined && {
        usage: defined({ input_tokens: usage.inputTokens, output_tokens: usage.outputTokens }),
      }),
    },
  };
}

/** The body of an error of Anthropic's API, with the same `code`. */
export interface AnthropicError {
  readonly type: 'error';
  readonly error: { readonly type: AnthropicErrorType; readonly message: string; readonly code: string };
  readonly request_id: string;
}

type AnthropicErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'overloaded_error'
  | 'api_error';

/** Writes a problem as Anthropic's API writes its errors. https://docs.claude.com/en/api/errors */
export function toAnthropicError(facts: ProblemFacts, requestId: string): AnthropicError {
  const { status, message, code } = inWords(facts);
  return { type: 'error', error: { type: kindOf(status), message, code }, request_id: requestId };
}

function kindOf(status: number): AnthropicErrorType {
  const kind = kinds[status];
  return kind ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

const kinds: Readonly<Record<number, AnthropicErrorType>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

/** A message of JSON-RPC with an error. */
export interface McpError {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string; readonly data: object };
}

/** Writes a problem as MCP has errors. What the protocol itself refuses has its own code and data. */
export function toMcpError(facts: ProblemFacts): McpError {
  const { type, status, json_rpc: said } = facts;
  const { id = null, code = codeOf(status, slugOf(type)), data } = said ?? {};
  const problem = { type: `urn:prompt-gateway:problem:${slugOf(type)}` };
  return { jsonrpc: '2.0', id, error: { code, message: inWords(facts).message, data: { ...data, ...problem } } };
}

/** https://www.jsonrpc.org/specification#error_object */
function codeOf(status: number, type: string): number {
  if (type === 'malformed-body') return -32_700;
  if (status === 400) return -32_600;
  return status >= 500 ? -32_603 : -32_000;
}

/** What the APIs have of a problem. */
function inWords({
  type,
  status,
  detail,
  errors = [],
  provider_status: said,
  provider_code: providerCode,
  provider_message: words,
}: ProblemFacts): { readonly status: number; readonly message: string; readonly code: string } {
  const answered = compatibleStatus({ type, status, provider_status: said });
  const isRefused = slugOf(type) === 'provider-failed' && answered !== status;
  const named = errors.slice(0, maxNamed).map(withPlace);
  return {
    status: answered,
    message: [
      detail,
      ...(named.length === 0 ? [] : [`${named.join('; ')}.`]),
      ...(words === undefined || detail.includes(words) ? [] : [`The provider says: ${words}`]),
    ]
      .join(' ')
      .slice(0, longest),
    code: (isRefused ? providerCode : undefined) ?? slugOf(type),
  };
}

function slugOf(type: string): string {
  return type.replace('urn:prompt-gateway:problem:', '');
}

/** Details are sentences (`Images are not supported.`), or what is wrong with the place (`must be a string`). */
function withPlace(error: ProblemDetail): string {
  const place = placeOf(error) ?? 'The body';
  return `${place}${/^[a-z]/.test(error.detail) ? ' ' : ': '}${error.detail.replace(/\.$/, '')}`;
}

function classOf(status: number): CompatibleError['error']['type'] {
  if (status === 429) return 'rate_limit_error';
  if (status === 402) return 'insufficient_quota';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function placeOf(error: ProblemDetail): string | null {
  if ('parameter' in error) return error.parameter;
  if ('header' in error) return error.header;
  return pathOf(error.pointer);
}

/** `messages[0].content` for `#/messages/0/content`; `null` for the whole body. */
function pathOf(pointer: string): string | null {
  const steps = pointer.split('/').slice(1).map(fromStep);
  if (steps.length === 0) return null;
  const path = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('');
  return path.replace(/^\./, '').slice(0, longest);
}
