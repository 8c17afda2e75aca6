import { asList, isObject, membersOf } from '../../base/runtime/objects.ts';

/** What a provider says in the body of an error, or in an event of a stream. Its text can be anything. */
export interface SaidError {
  readonly message?: string;
  /** The most specific code; of the form of a code, but not checked otherwise. */
  readonly code?: string;
  /** The most specific code of a fixed list: any other part of an error can quote the key or the prompt. */
  readonly knownCode?: string;
  /** Set if a filter of contents refused the request: its members say so, or only its text does. */
  readonly moderation?: 'by its form' | 'in words';
}

const knownCodes: ReadonlySet<unknown> = new Set([
  // OpenAI and compatible providers
  'billing_hard_limit_reached',
  'billing_not_active',
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'DeploymentNotFound',
  'insufficient_quota',
  'invalid_api_key',
  'invalid_prompt',
  'model_decommissioned',
  'model_not_found',
  'organization_restricted',
  'rate_limit_exceeded',
  'server_error',
  'unsupported_parameter',
  'unsupported_value',
  // Anthropic
  'api_error',
  'authentication_error',
  'billing_error',
  'invalid_request_error',
  'not_found_error',
  'overloaded_error',
  'permission_error',
  'rate_limit_error',
  'request_too_large',
  'timeout_error',
  // Google
  'API_KEY_INVALID',
  'DEADLINE_EXCEEDED',
  'FAILED_PRECONDITION',
  'INTERNAL',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'UNAUTHENTICATED',
  'UNAVAILABLE',
]);

/** Longer bodies are read only as far as the provider's package has read them. */
const longestBody = 65_536;

/** A code, and no sentence. */
const codeForm = /^[A-Za-z][\w.-]{0,99}$/;

/**
 * Reads the body of an answer with an error status: JSON in any of the formats of `readError`, a text, or a page of a
 * proxy, of which only the title is read.
 *
 * @param known what the provider's package made of the body
 */
export function readErrorBody(body: string | undefined, known?: unknown): SaidError {
  if (body === undefined || body.length > longestBody) return readError(known);
  const text = body.trim();
  if (text.startsWith('<')) return said(/<title[^>]{0,200}>([^<]{1,500})/i.exec(text)?.[1]);
  try {
    return readError(JSON.parse(text));
  } catch {
    return said(text);
  }
}

/**
 * Reads a parsed error. The formats differ: the error or a text in `error` (OpenAI, Anthropic, Google, Ollama, xAI),
 * `message` (Mistral, Cohere, Amazon Bedrock), `detail` (FastAPI, problem details), `errors` (proxies), an array with
 * one of them (Google), or the name of an exception (streams of Amazon Bedrock).
 */
export function readError(value: unknown): SaidError {
  if (typeof value === 'string') return said(value);
  const outer: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(outer)) return {};
  const [exception] = Object.entries(outer).filter(([name]) => name.endsWith('Exception'));
  const inner = [outer['error'], exception?.[1]].find(isObject) ?? outer;
  const texts = [inner['message'], inner['Message'], outer['error'], outer['message'], inner['detail'], inner['title']];
  const details = asList(inner['details']).map((detail) => membersOf(detail)['reason']);
  const type = typeof inner['__type'] === 'string' ? inner['__type'].split('#').at(-1) : undefined;
  const codes = [...details, inner['code'], inner['type'], inner['status'], outer['code'], outer['type'], type];
  const text = texts.find(isText);
  const { reasons, flagged_input: flagged } = membersOf(inner['metadata']);
  const isForm = Array.isArray(reasons) || isText(flagged) || codes.some((code) => moderationCodes.has(code));
  const isInWords = text !== undefined && moderationWords.test(text) && !accountWords.some((words) => words.test(text));
  const moderation = isForm ? 'by its form' : isInWords ? 'in words' : undefined;
  const words = said(
    text ?? listed(membersOf(inner['message'])['detail'] ?? inner['detail'] ?? inner['errors']),
    codes.find(isCode) ?? exception?.[0],
    codes.find((code): code is string => knownCodes.has(code)),
  );
  return moderation === undefined ? words : { ...words, moderation };
}

const moderationCodes: ReadonlySet<unknown> = new Set([
  'content_filter',
  'content_moderation',
  'content_policy_violation',
  'data_inspection_failed',
  'moderation',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
]);

/** As OpenRouter and xAI write it. */
const moderationWords =
  /requires moderation|moderation (?:check|failed|blocked)|(?:input|prompt|request) (?:was|is|has been) flagged|content violates|SAFETY_CHECK_TYPE|content (?:policy|moderation)/i;

const owner = String.raw`(?:account|organi[sz]ation|project|workspace|team|(?:api[ _-]?)?key|your (?:\w+ )?access)s?\b(?!['’])`;
const closed = '(?:disabled|suspended|banned|deactivated|terminated|revoked|closed)';
/** Said of a request, too. */
const blocked = '(?:blocked|restricted)';
const been = String.raw`(?:is|are|was|were|(?:has|have|had) been)(?: (?:now|\w+ly))?`;

/**
 * What a provider has closed for what its owner did: an account, and not a request. That an organization's policy has
 * blocked a request is no such thing.
 */
const accountWords = [
  String.raw`\b${owner}(?: \(?(?:for|of|to|with|that|which|associated|linked|[\w-]*\d)\b[^.]{0,60})? ${been} ${closed}\b`,
  String.raw`\b${owner} ${closed}(?=$|[.,:;!]| (?:for|due|because|after|by)\b)`,
  String.raw`(?:^|[.,:;!] )(?:your|this|the) ${owner} ${been} ${blocked}\b`,
  String.raw`\b(?:${closed}|${blocked}) (?:your|this|the) (?:\w+ )?${owner}`,
].map((words) => new RegExp(words, 'i'));

/** The mistakes of a list: `body.messages: Field required; …`. */
function listed(list: unknown): string | undefined {
  const mistakes = asList(list).flatMap((entry) => {
    if (isText(entry)) return [entry];
    const { msg, message = msg, loc } = membersOf(entry);
    return isText(message) ? [Array.isArray(loc) ? `${loc.join('.')}: ${message}` : message] : [];
  });
  return mistakes.length > 0 ? mistakes.join('; ') : undefined;
}

function said(message: string | undefined, code?: string, knownCode?: string): SaidError {
  return {
    ...(isText(message) && { message }),
    ...(isCode(code) && { code }),
    ...(knownCode !== undefined && { knownCode }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isCode(value: unknown): value is string {
  // OpenAI-compatible servers send `error` and `object` as the type of every error.
  return typeof value === 'string' && codeForm.test(value) && value !== 'error';
}
