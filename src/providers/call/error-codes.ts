/**
 * Machine-readable codes that callers may see. A fixed list, because any other part of a provider's error can quote the
 * key or the prompt.
 */
const knownCodes: ReadonlySet<string> = new Set([
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

/** Longer bodies are not error messages. */
const longestBody = 65_536;

/**
 * Finds the most specific known code in a provider's error body: `code`, `type` or `status`, or a `reason` among the
 * `details`, in the body or in its `error`.
 *
 * @returns A member of the fixed list, or undefined.
 */
export function findErrorCode(body: string | undefined): string | undefined {
  if (body === undefined || body.length > longestBody) return undefined;
  const outer = parseObject(body);
  const inner = asObject(outer?.['error']) ?? outer;
  if (inner === undefined) return undefined;
  const details = Array.isArray(inner['details']) ? inner['details'] : [];
  const reasons = details.map((detail) => asObject(detail)?.['reason']);
  const candidates = [...reasons, inner['code'], inner['type'], inner['status']];
  return candidates.find(isKnownCode);
}

function isKnownCode(value: unknown): value is string {
  return typeof value === 'string' && knownCodes.has(value);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
