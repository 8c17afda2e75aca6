export const problems = {
  "bad-request": {
    "status": 400,
    "title": "Bad request"
  },
  "malformed-body": {
    "status": 400,
    "title": "Malformed body"
  },
  "invalid-request": {
    "status": 400,
    "title": "Invalid request"
  },
  "unauthenticated": {
    "status": 401,
    "title": "Not authenticated"
  },
  "insufficient-scope": {
    "status": 403,
    "title": "Insufficient scope"
  },
  "route-not-found": {
    "status": 404,
    "title": "No such path"
  },
  "prompt-not-found": {
    "status": 404,
    "title": "Prompt not found"
  },
  "version-not-found": {
    "status": 404,
    "title": "Version not found"
  },
  "test-run-not-found": {
    "status": 404,
    "title": "Test run not found"
  },
  "api-key-not-found": {
    "status": 404,
    "title": "API key not found"
  },
  "method-not-allowed": {
    "status": 405,
    "title": "Method not allowed"
  },
  "not-acceptable": {
    "status": 406,
    "title": "Not acceptable"
  },
  "request-timeout": {
    "status": 408,
    "title": "Request timed out"
  },
  "slug-taken": {
    "status": 409,
    "title": "Slug taken"
  },
  "idempotency-key-in-use": {
    "status": 409,
    "title": "Idempotency key in use"
  },
  "test-run-running": {
    "status": 409,
    "title": "Test run still running"
  },
  "test-run-not-stored": {
    "status": 409,
    "title": "Test run has no results"
  },
  "edit-conflict": {
    "status": 409,
    "title": "Edit conflict"
  },
  "precondition-failed": {
    "status": 412,
    "title": "Precondition failed"
  },
  "content-too-large": {
    "status": 413,
    "title": "Content too large"
  },
  "unsupported-media-type": {
    "status": 415,
    "title": "Unsupported media type"
  },
  "expectation-failed": {
    "status": 417,
    "title": "Expectation failed"
  },
  "missing-variables": {
    "status": 422,
    "title": "Missing variables"
  },
  "unknown-provider": {
    "status": 422,
    "title": "Unknown provider"
  },
  "provider-not-configured": {
    "status": 422,
    "title": "Provider not configured"
  },
  "no-provider-selected": {
    "status": 422,
    "title": "No provider selected"
  },
  "rendered-prompt-too-large": {
    "status": 422,
    "title": "Rendered prompt too large"
  },
  "idempotency-key-reused": {
    "status": 422,
    "title": "Idempotency key reused"
  },
  "rate-limited": {
    "status": 429,
    "title": "Too many requests"
  },
  "header-fields-too-large": {
    "status": 431,
    "title": "Header fields too large"
  },
  "internal-error": {
    "status": 500,
    "title": "Internal error"
  },
  "provider-failed": {
    "status": 502,
    "title": "Provider failed"
  },
  "provider-timeout": {
    "status": 502,
    "title": "Provider timed out"
  },
  "provider-refused-credentials": {
    "status": 502,
    "title": "Provider refused the credentials"
  },
  "provider-rate-limited": {
    "status": 502,
    "title": "Provider is rate limiting"
  },
  "provider-bad-answer": {
    "status": 502,
    "title": "Provider answered nonsense"
  },
  "database-unavailable": {
    "status": 503,
    "title": "Database unavailable"
  },
  "storage-unavailable": {
    "status": 503,
    "title": "Object storage unavailable"
  },
  "shutting-down": {
    "status": 503,
    "title": "Shutting down"
  },
  "overloaded": {
    "status": 503,
    "title": "Overloaded"
  },
  "not-cached": {
    "status": 504,
    "title": "Not cached"
  }
} as const satisfies Record<string, { status: number; title: string }>;

/** The slug of a problem type, as in `openapi/problems.yaml`. */
export type ProblemType = keyof typeof problems;
