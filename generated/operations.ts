/** One row of the operation table. */
export interface OperationRow {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';
  /** OpenAPI path template. */
  readonly path: string;
  /** The scope that a key needs; `null` for public operations. */
  readonly scope: string | null;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly type: 'string' | 'integer' | 'number' | 'boolean';
    readonly required: boolean;
  }[];
  readonly body: 'none' | 'optional' | 'required';
  /** Declared statuses and the media type of each; `null` without a body. */
  readonly responses: Readonly<Record<string, string | null>>;
  /** Problem types that the operation declares. */
  readonly problems: readonly string[];
}

export const operationTable = {
  "listPrompts": {
    "method": "GET",
    "path": "/api/v1/prompts",
    "scope": "prompts:read",
    "parameters": [
      {
        "name": "limit",
        "in": "query",
        "type": "integer",
        "required": false
      },
      {
        "name": "offset",
        "in": "query",
        "type": "integer",
        "required": false
      },
      {
        "name": "q",
        "in": "query",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "createPrompt": {
    "method": "POST",
    "path": "/api/v1/prompts",
    "scope": "prompts:write",
    "parameters": [
      {
        "name": "Idempotency-Key",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "required",
    "responses": {
      "201": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "406": "application/problem+json",
      "408": "application/problem+json",
      "409": "application/problem+json",
      "413": "application/problem+json",
      "415": "application/problem+json",
      "422": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "malformed-body",
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "not-acceptable",
      "request-timeout",
      "slug-taken",
      "idempotency-key-in-use",
      "content-too-large",
      "unsupported-media-type",
      "idempotency-key-reused",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "getPrompt": {
    "method": "GET",
    "path": "/api/v1/prompts/{slugOrId}",
    "scope": "prompts:read",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "If-None-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "304": null,
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "updatePrompt": {
    "method": "PUT",
    "path": "/api/v1/prompts/{slugOrId}",
    "scope": "prompts:write",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "If-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "required",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "408": "application/problem+json",
      "409": "application/problem+json",
      "412": "application/problem+json",
      "413": "application/problem+json",
      "415": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "malformed-body",
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "not-acceptable",
      "request-timeout",
      "slug-taken",
      "edit-conflict",
      "precondition-failed",
      "content-too-large",
      "unsupported-media-type",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "deletePrompt": {
    "method": "DELETE",
    "path": "/api/v1/prompts/{slugOrId}",
    "scope": "prompts:write",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "If-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "409": "application/problem+json",
      "412": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "not-acceptable",
      "edit-conflict",
      "precondition-failed",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "storage-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "listPromptVersions": {
    "method": "GET",
    "path": "/api/v1/prompts/{slugOrId}/versions",
    "scope": "prompts:read",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "limit",
        "in": "query",
        "type": "integer",
        "required": false
      },
      {
        "name": "offset",
        "in": "query",
        "type": "integer",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "getPromptVersion": {
    "method": "GET",
    "path": "/api/v1/prompts/{slugOrId}/versions/{version}",
    "scope": "prompts:read",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "version",
        "in": "path",
        "type": "integer",
        "required": true
      },
      {
        "name": "If-None-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "304": null,
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "version-not-found",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "restorePromptVersion": {
    "method": "POST",
    "path": "/api/v1/prompts/{slugOrId}/versions/{version}/restore",
    "scope": "prompts:write",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "version",
        "in": "path",
        "type": "integer",
        "required": true
      },
      {
        "name": "Idempotency-Key",
        "in": "header",
        "type": "string",
        "required": false
      },
      {
        "name": "If-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "409": "application/problem+json",
      "412": "application/problem+json",
      "422": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "version-not-found",
      "not-acceptable",
      "idempotency-key-in-use",
      "edit-conflict",
      "precondition-failed",
      "idempotency-key-reused",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "invokePrompt": {
    "method": "POST",
    "path": "/api/v1/prompts/{slugOrId}/invoke",
    "scope": "prompts:invoke",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "Idempotency-Key",
        "in": "header",
        "type": "string",
        "required": false
      },
      {
        "name": "X-Timeout-Ms",
        "in": "header",
        "type": "integer",
        "required": false
      },
      {
        "name": "Cache-Control",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "optional",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "408": "application/problem+json",
      "409": "application/problem+json",
      "413": "application/problem+json",
      "415": "application/problem+json",
      "422": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "502": "application/problem+json",
      "503": "application/problem+json",
      "504": "application/problem+json"
    },
    "problems": [
      "malformed-body",
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "version-not-found",
      "not-acceptable",
      "request-timeout",
      "idempotency-key-in-use",
      "content-too-large",
      "unsupported-media-type",
      "missing-variables",
      "unknown-provider",
      "provider-not-configured",
      "no-provider-selected",
      "rendered-prompt-too-large",
      "idempotency-key-reused",
      "rate-limited",
      "internal-error",
      "provider-failed",
      "provider-timeout",
      "provider-refused-credentials",
      "provider-rate-limited",
      "provider-bad-answer",
      "database-unavailable",
      "shutting-down",
      "overloaded",
      "not-cached"
    ]
  },
  "runTest": {
    "method": "POST",
    "path": "/api/v1/prompts/{slugOrId}/test",
    "scope": "prompts:invoke",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "Idempotency-Key",
        "in": "header",
        "type": "string",
        "required": false
      },
      {
        "name": "Prefer",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "required",
    "responses": {
      "201": "application/json",
      "202": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "408": "application/problem+json",
      "409": "application/problem+json",
      "413": "application/problem+json",
      "415": "application/problem+json",
      "422": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "malformed-body",
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "version-not-found",
      "not-acceptable",
      "request-timeout",
      "idempotency-key-in-use",
      "content-too-large",
      "unsupported-media-type",
      "missing-variables",
      "unknown-provider",
      "provider-not-configured",
      "rendered-prompt-too-large",
      "idempotency-key-reused",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "storage-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "listTestRuns": {
    "method": "GET",
    "path": "/api/v1/prompts/{slugOrId}/test-runs",
    "scope": "prompts:read",
    "parameters": [
      {
        "name": "slugOrId",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "limit",
        "in": "query",
        "type": "integer",
        "required": false
      },
      {
        "name": "offset",
        "in": "query",
        "type": "integer",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "prompt-not-found",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "getTestRun": {
    "method": "GET",
    "path": "/api/v1/test-runs/{id}",
    "scope": "prompts:read",
    "parameters": [
      {
        "name": "id",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "If-None-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "304": null,
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "test-run-not-found",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "getTestRunResults": {
    "method": "GET",
    "path": "/api/v1/test-runs/{id}/results",
    "scope": "prompts:read",
    "parameters": [
      {
        "name": "id",
        "in": "path",
        "type": "string",
        "required": true
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "409": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "test-run-not-found",
      "not-acceptable",
      "test-run-running",
      "test-run-not-stored",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "storage-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "listProviders": {
    "method": "GET",
    "path": "/api/v1/providers",
    "scope": "prompts:read",
    "parameters": [],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "listApiKeys": {
    "method": "GET",
    "path": "/api/v1/api-keys",
    "scope": "keys:manage",
    "parameters": [
      {
        "name": "limit",
        "in": "query",
        "type": "integer",
        "required": false
      },
      {
        "name": "offset",
        "in": "query",
        "type": "integer",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "createApiKey": {
    "method": "POST",
    "path": "/api/v1/api-keys",
    "scope": "keys:manage",
    "parameters": [],
    "body": "required",
    "responses": {
      "201": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "406": "application/problem+json",
      "408": "application/problem+json",
      "413": "application/problem+json",
      "415": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "malformed-body",
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "not-acceptable",
      "request-timeout",
      "content-too-large",
      "unsupported-media-type",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "getApiKey": {
    "method": "GET",
    "path": "/api/v1/api-keys/{id}",
    "scope": "keys:manage",
    "parameters": [
      {
        "name": "id",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "If-None-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "304": null,
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "api-key-not-found",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "revokeApiKey": {
    "method": "DELETE",
    "path": "/api/v1/api-keys/{id}",
    "scope": "keys:manage",
    "parameters": [
      {
        "name": "id",
        "in": "path",
        "type": "string",
        "required": true
      },
      {
        "name": "If-Match",
        "in": "header",
        "type": "string",
        "required": false
      }
    ],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "404": "application/problem+json",
      "406": "application/problem+json",
      "409": "application/problem+json",
      "412": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "api-key-not-found",
      "not-acceptable",
      "edit-conflict",
      "precondition-failed",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "getLiveness": {
    "method": "GET",
    "path": "/health/live",
    "scope": null,
    "parameters": [],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "406": "application/problem+json",
      "500": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "not-acceptable",
      "internal-error"
    ]
  },
  "getReadiness": {
    "method": "GET",
    "path": "/health/ready",
    "scope": null,
    "parameters": [],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "406": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "not-acceptable",
      "internal-error",
      "database-unavailable",
      "shutting-down"
    ]
  },
  "getMetrics": {
    "method": "GET",
    "path": "/metrics",
    "scope": "metrics:read",
    "parameters": [],
    "body": "none",
    "responses": {
      "200": "text/plain",
      "400": "application/problem+json",
      "401": "application/problem+json",
      "403": "application/problem+json",
      "406": "application/problem+json",
      "429": "application/problem+json",
      "500": "application/problem+json",
      "503": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "unauthenticated",
      "insufficient-scope",
      "not-acceptable",
      "rate-limited",
      "internal-error",
      "database-unavailable",
      "shutting-down",
      "overloaded"
    ]
  },
  "getOpenApi": {
    "method": "GET",
    "path": "/openapi.json",
    "scope": null,
    "parameters": [],
    "body": "none",
    "responses": {
      "200": "application/json",
      "400": "application/problem+json",
      "406": "application/problem+json",
      "500": "application/problem+json"
    },
    "problems": [
      "invalid-request",
      "not-acceptable",
      "internal-error"
    ]
  }
} as const satisfies Record<string, OperationRow>;

export type OperationId = keyof typeof operationTable;

/** What an API key may be allowed to do. */
export type Scope = 'prompts:read' | 'prompts:write' | 'prompts:invoke' | 'orders:read' | 'orders:write' | 'catalog:read' | 'catalog:write' | 'integrations:manage' | 'keys:manage' | 'metrics:read';
