export interface paths {
    "/api/v1/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List prompts
         * @description Lists the prompts, the most recently updated first, those updated at the same time by id. With `q`, only those whose name, slug or description contains a text.
         *
         *     A page ends after `limit` prompts or 8 MiB. The next one begins at `offset` plus the number of prompts received; the `Link` header has its address.
         */
        get: operations["listPrompts"];
        put?: never;
        /**
         * Create a prompt
         * @description Stores a prompt as version 1.
         *
         *     Without `slug`, one is generated from the name, with `-2`, `-3` … appended while it is taken. A `slug` that you choose yourself must be free.
         *
         *     The provider selection is checked when the prompt is invoked, not here: a prompt may be stored before its provider is configured.
         */
        post: operations["createPrompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{slugOrId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a prompt
         * @description Returns one prompt as it is now. To see an earlier state of its content, get a version.
         */
        get: operations["getPrompt"];
        /**
         * Change a prompt
         * @description Changes the fields that are sent and leaves the others as they are. Objects and arrays are replaced whole.
         *
         *     A change of the content (`messages`, `variables`, `selected_provider`, `selected_model`) makes a new version; invocations use it at once. A change of metadata makes none. Content that equals the present one makes no version, and a request that changes nothing leaves `updated_at` and `ETag` alone.
         *
         *     Send `If-Match` with the `ETag` that you know, and nobody's change is overwritten unseen.
         */
        put: operations["updatePrompt"];
        post?: never;
        /**
         * Delete a prompt
         * @description Removes the prompt, all its versions, all its test runs and their results, for good. Should the request be interrupted half-way, repeat it: the removal goes on where it stopped.
         */
        delete: operations["deletePrompt"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{slugOrId}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List versions
         * @description Lists the prompt's versions, the newest first. A page ends after `limit` versions or 8 MiB.
         */
        get: operations["listPromptVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{slugOrId}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a version
         * @description Returns the content that the prompt had in one version.
         */
        get: operations["getPromptVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{slugOrId}/versions/{version}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a version
         * @description Gives the prompt the content of an earlier version, as a new version: history is added to, never rewritten. Restoring what the content already is makes no version. The request has no body; `If-Match` is about the prompt.
         */
        post: operations["restorePromptVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{slugOrId}/invoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invoke a prompt
         * @description Fills in the prompt's placeholders, sends the messages to a provider, and returns what it generated.
         *
         *     | | Without `version` | With `version` |
         *     |---|---|---|
         *     | Content | the latest version | exactly this version |
         *     | Provider and model | as selected now | as selected in this version |
         *     | `X-Prompt-Version` | absent | the version |
         *
         *     `provider` and `model` override the selection. With `provider` alone, that provider's default model is used.
         *
         *     Everything that can be checked is checked before any provider is called, in this order: prompt, version, variables, provider, model. Failures of the provider are a 502 and say whether a repetition may help (`retryable`); the service itself has then tried up to three times within the deadline. If you hang up, the provider call is cancelled, unless the request has an `Idempotency-Key`.
         */
        post: operations["invokePrompt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{slugOrId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a test
         * @description Runs the prompt on up to 20 providers and models at the same time and stores the results. A provider that fails leaves the others alone: its result is an `error` instead of a `result`.
         *
         *     Providers, variables and version are checked before any provider is called; one unknown provider refuses the whole test.
         *
         *     The answer waits for the results, unless `Prefer: respond-async` asks for a 202 at once. The test run then goes on, and its results can be had when it is `done`.
         */
        post: operations["runTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{slugOrId}/test-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List test runs
         * @description Lists the prompt's test runs without their results, the newest first.
         */
        get: operations["listTestRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/test-runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a test run
         * @description Returns the state of a test run, without its results. Poll it after a 202.
         */
        get: operations["getTestRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/test-runs/{id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the results of a test run
         * @description Returns the stored results of a test run that is `done`. While it is `running` the answer is a 409 with `Retry-After`; one that `failed` or was `interrupted` has no results.
         */
        get: operations["getTestRunResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List providers
         * @description Lists all providers that the service knows, with their models. Those that are not `configured` cannot be called. `echo` needs no credentials and always can: it answers with the text it is sent.
         */
        get: operations["listProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Lists all API keys, the newest first, without their secrets.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description Creates an API key. `key` in the answer is the secret; it is shown this once and cannot be had again, which is why the operation takes no `Idempotency-Key`.
         *
         *     A key can grant only scopes that it holds itself. An `expires_at` that has passed is an `invalid-request`.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an API key
         * @description Returns one API key without its secret.
         */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description Ends the validity of an API key for good, everywhere within 5 seconds. The key stays listed, with `revoked_at`, so that its past use can be explained. Revoking it again changes nothing.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive?
         * @description Answers as long as the process does, whatever becomes of database and storage. For liveness probes: restart the process when this fails.
         */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can the process do its work?
         * @description Checks database and object storage. For readiness probes and load balancers: send no requests while this is a 503. Without object storage the process is ready, for only test runs suffer.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get metrics
         * @description Returns this process's metrics in the Prometheus text format.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get this contract
         * @description Returns this contract as one OpenAPI 3.1 document.
         */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Prompt id
         * @description Made by the server, never changes.
         * @example 6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90
         */
        PromptId: string;
        /**
         * Slug
         * @description Readable name for use in paths: lower-case letters and digits in groups joined by single hyphens. Unique among prompts and never shaped like a UUID.
         * @example summarise-support-ticket
         */
        Slug: string;
        /**
         * Prompt name
         * @description What people call the prompt. Not only blanks.
         * @example Summarise support ticket
         */
        PromptName: string;
        /**
         * Prompt description
         * @description What the prompt is for. Metadata, not sent to any provider.
         * @example Three-sentence summary of a ticket for the shift handover.
         */
        PromptDescription: string;
        /**
         * Message role
         * @description Who speaks. `system` sets the rules, `user` asks, `assistant` is an answer given as an example.
         * @example user
         * @enum {string}
         */
        MessageRole: "system" | "user" | "assistant";
        /**
         * Message content
         * @description Text with placeholders, filled in when the prompt is invoked.
         *
         *     | Written | Becomes |
         *     |---|---|
         *     | `{{name}}` | the value of `name` |
         *     | `{{name\|text}}` | the value of `name`, or `text`, taken as written, if there is none |
         *     | `\{{` | a literal `{{` |
         *
         *     Blanks around a name are allowed: `{{ name }}`. Names begin with a letter or `_`, go on with letters, digits, `_`, `.`
         *     and `-`, and have at most 64 characters. Everything else between braces is plain text, so JSON needs no escaping.
         *
         *     A placeholder takes the first of these: the supplied value, the definition's `default`, the inline default, the empty
         *     string if the variable is declared. A placeholder with none of them fails with `missing-variables`. Strings go in as
         *     they are, other values as compact JSON. What was filled in is never searched for placeholders again.
         * @example Ticket from {{customer_name|a customer}}:
         *
         *     {{ticket}}
         */
        MessageContent: string;
        /**
         * Message
         * @description One message of a prompt.
         * @example {
         *       "role": "user",
         *       "content": "Ticket from {{customer_name|a customer}}:\n\n{{ticket}}"
         *     }
         */
        Message: {
            role: components["schemas"]["MessageRole"];
            content: components["schemas"]["MessageContent"];
        };
        /**
         * Messages
         * @description The chat messages, in order.
         * @example [
         *       {
         *         "role": "system",
         *         "content": "You summarise support tickets in three sentences, in a {{tone}} tone."
         *       },
         *       {
         *         "role": "user",
         *         "content": "Ticket from {{customer_name|a customer}}:\n\n{{ticket}}"
         *       }
         *     ]
         */
        Messages: components["schemas"]["Message"][];
        /**
         * Variable name
         * @description A letter or `_`, then letters, digits, `_`, `.` and `-`.
         * @example customer_name
         */
        VariableName: string;
        /**
         * Variable definition
         * @description How a variable behaves when it is not supplied.
         * @example {
         *       "default": "friendly",
         *       "description": "Tone of the summary"
         *     }
         */
        VariableDefinition: {
            /**
             * @description Value of the variable when it is not supplied. It goes before an inline default.
             * @example friendly
             */
            default?: string;
            /**
             * @description What the variable is for.
             * @example Tone of the summary
             */
            description?: string;
            /**
             * @description When true, an invocation that does not supply the variable fails with `missing-variables`, whatever defaults there are. False when left out.
             * @example false
             */
            required?: boolean;
        };
        /**
         * Variable definitions
         * @description Variables by name.
         * @example {
         *       "ticket": {
         *         "description": "Full text of the ticket",
         *         "required": true
         *       },
         *       "tone": {
         *         "default": "friendly",
         *         "description": "Tone of the summary"
         *       }
         *     }
         */
        VariableDefinitions: {
            [key: string]: components["schemas"]["VariableDefinition"];
        };
        /**
         * Provider id
         * @description Id of a provider, as `GET /api/v1/providers` lists it.
         * @example openai
         */
        ProviderId: string;
        /**
         * Model id
         * @description Id of a model, in the provider's own spelling. A model that the provider's list lacks is passed on all the same.
         * @example gpt-4.1-mini
         */
        ModelId: string;
        /**
         * Test settings
         * @description Any JSON value of at most 16 KiB, `null` included, kept for the tool that edits the prompt. Metadata; the service does not interpret it.
         * @example {
         *       "temperature": 0.2,
         *       "sample_tickets": [
         *         "export-button",
         *         "double-charge"
         *       ]
         *     }
         */
        TestSettings: unknown;
        /**
         * Timestamp
         * Format: date-time
         * @description Date and time in UTC to the millisecond, as RFC 3339 writes it.
         * @example 2026-11-05T14:30:12.480Z
         */
        Timestamp: string;
        /**
         * Prompt
         * @description A prompt as it is now. Fields that are not set are absent.
         *
         *     `messages`, `variables`, `selected_provider` and `selected_model` are its *content*: each change of them makes a new
         *     version. The rest is metadata.
         * @example {
         *       "id": "6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90",
         *       "slug": "summarise-support-ticket",
         *       "name": "Summarise support ticket",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "Summarise this ticket: {{ticket}}"
         *         }
         *       ],
         *       "variables": {
         *         "ticket": {
         *           "required": true
         *         }
         *       },
         *       "version": 1,
         *       "created_at": "2026-11-02T09:15:00.000Z",
         *       "updated_at": "2026-11-02T09:15:00.000Z"
         *     }
         */
        Prompt: {
            id: components["schemas"]["PromptId"];
            slug: components["schemas"]["Slug"];
            name: components["schemas"]["PromptName"];
            description?: components["schemas"]["PromptDescription"];
            messages: components["schemas"]["Messages"];
            variables?: components["schemas"]["VariableDefinitions"];
            selected_provider?: components["schemas"]["ProviderId"];
            selected_model?: components["schemas"]["ModelId"];
            test_settings?: components["schemas"]["TestSettings"];
            /**
             * @description Number of the latest version, the one that an invocation without `version` runs.
             * @example 2
             */
            version: number;
            created_at: components["schemas"]["Timestamp"];
            updated_at: components["schemas"]["Timestamp"];
        };
        /**
         * Pagination
         * @description Where in the whole list a page is.
         * @example {
         *       "total": 42,
         *       "limit": 20,
         *       "offset": 0
         *     }
         */
        Pagination: {
            /**
             * @description Number of entries in the whole list, counted when the page was made.
             * @example 42
             */
            total: number;
            /**
             * @description The most entries that a page may have, as asked for or by default.
             * @example 20
             */
            limit: number;
            /**
             * @description Number of entries that come before this page.
             * @example 0
             */
            offset: number;
        };
        /**
         * Page of prompts
         * @description Prompts, the most recently updated first.
         * @example {
         *       "data": [],
         *       "pagination": {
         *         "total": 0,
         *         "limit": 1000,
         *         "offset": 0
         *       }
         *     }
         */
        PromptPage: {
            /** @description The prompts of this page. */
            data: components["schemas"]["Prompt"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * Problem type
         * Format: uri
         * @description Names the kind of problem. Decide by this, not by `title` or `detail`.
         * @example urn:prompt-gateway:problem:missing-variables
         */
        ProblemType: string;
        /**
         * Problem title
         * @description The kind of problem in words, the same in every occurrence.
         * @example Missing variables
         */
        ProblemTitle: string;
        /**
         * Problem detail
         * @description What happened this time, for a person to read.
         * @example The variables ticket and customer_name have no value and no default.
         */
        ProblemText: string;
        /**
         * Problem location
         * @description One place that is wrong. Exactly one of `pointer`, `parameter` and `header` says where, if a place can be named.
         * @example {
         *       "detail": "must have at least 1 item",
         *       "pointer": "/messages"
         *     }
         */
        ProblemDetail: {
            /**
             * @description What is wrong there.
             * @example must have at least 1 item
             */
            detail: string;
            /**
             * @description JSON Pointer (RFC 6901) into the body; empty for the body as a whole.
             * @example /messages
             */
            pointer?: string;
            /**
             * @description Name of the path or query parameter.
             * @example limit
             */
            parameter?: string;
            /**
             * @description Name of the header.
             * @example X-Timeout-Ms
             */
            header?: string;
        };
        /**
         * Provider status
         * @description The HTTP status that the provider answered with, if it did.
         * @example 429
         */
        ProviderStatus: number;
        /**
         * Retryable
         * @description Whether the same request may succeed when it is repeated later.
         * @example true
         */
        Retryable: boolean;
        /**
         * Problem
         * @description Why a request was not answered as hoped, as RFC 9457 has it.
         * @example {
         *       "type": "urn:prompt-gateway:problem:missing-variables",
         *       "title": "Missing variables",
         *       "status": 422,
         *       "detail": "The variables ticket and customer_name have no value and no default.",
         *       "instance": "/api/v1/prompts/summarise-support-ticket/invoke",
         *       "request_id": "01J9ZQ4C7N8VX2M5K3T6B1R0DW",
         *       "variables": [
         *         "ticket",
         *         "customer_name"
         *       ]
         *     }
         */
        Problem: {
            type: components["schemas"]["ProblemType"];
            title: components["schemas"]["ProblemTitle"];
            /**
             * @description The HTTP status of the answer.
             * @example 422
             */
            status: number;
            detail: components["schemas"]["ProblemText"];
            /**
             * Format: uri-reference
             * @description Path of the request.
             * @example /api/v1/prompts/summarise-support-ticket/invoke
             */
            instance: string;
            /**
             * @description The request id, as in the header `X-Request-Id`. Name it when you ask for help.
             * @example 01J9ZQ4C7N8VX2M5K3T6B1R0DW
             */
            request_id: string;
            /** @description The places that are wrong, on problems about the request's content. */
            errors?: components["schemas"]["ProblemDetail"][];
            /** @description Names of the variables that have no value, on `missing-variables`. */
            variables?: components["schemas"]["VariableName"][];
            /**
             * @description Id of the provider, on problems that concern one.
             * @example openai
             */
            provider?: string;
            /**
             * @description Id of the model, on problems that concern one.
             * @example gpt-4.1-mini
             */
            model?: string;
            provider_status?: components["schemas"]["ProviderStatus"];
            retryable?: components["schemas"]["Retryable"];
        };
        /**
         * Message (input)
         * @description One message of a prompt, as it is sent.
         * @example {
         *       "role": "user",
         *       "content": "Ticket from {{customer_name|a customer}}:\n\n{{ticket}}"
         *     }
         */
        MessageInput: {
            role: components["schemas"]["MessageRole"];
            content: components["schemas"]["MessageContent"];
        };
        /**
         * Messages (input)
         * @description The chat messages of a prompt, in order. Content; a change makes a new version.
         * @example [
         *       {
         *         "role": "system",
         *         "content": "You summarise support tickets in three sentences, in a {{tone}} tone."
         *       },
         *       {
         *         "role": "user",
         *         "content": "Ticket from {{customer_name|a customer}}:\n\n{{ticket}}"
         *       }
         *     ]
         */
        MessagesInput: components["schemas"]["MessageInput"][];
        /**
         * Variable definition (input)
         * @description How a variable behaves when it is not supplied, as it is sent.
         * @example {
         *       "default": "friendly",
         *       "description": "Tone of the summary"
         *     }
         */
        VariableDefinitionInput: {
            /**
             * @description Value of the variable when it is not supplied. It goes before an inline default.
             * @example friendly
             */
            default?: string;
            /**
             * @description What the variable is for.
             * @example Tone of the summary
             */
            description?: string;
            /**
             * @description When true, an invocation that does not supply the variable fails with `missing-variables`, whatever defaults there are. False when left out.
             * @example false
             */
            required?: boolean;
        };
        /**
         * Variable definitions (input)
         * @description Variables by name. Content; a change makes a new version.
         * @example {
         *       "ticket": {
         *         "description": "Full text of the ticket",
         *         "required": true
         *       },
         *       "tone": {
         *         "default": "friendly",
         *         "description": "Tone of the summary"
         *       }
         *     }
         */
        VariableDefinitionsInput: {
            [key: string]: components["schemas"]["VariableDefinitionInput"];
        };
        /**
         * Prompt to create
         * @description A new prompt. What is left out is not set.
         * @example {
         *       "name": "Summarise support ticket",
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "Summarise this ticket: {{ticket}}"
         *         }
         *       ],
         *       "variables": {
         *         "ticket": {
         *           "required": true
         *         }
         *       }
         *     }
         */
        PromptCreate: {
            name: components["schemas"]["PromptName"];
            slug?: components["schemas"]["Slug"];
            description?: components["schemas"]["PromptDescription"];
            messages: components["schemas"]["MessagesInput"];
            variables?: components["schemas"]["VariableDefinitionsInput"];
            selected_provider?: components["schemas"]["ProviderId"];
            selected_model?: components["schemas"]["ModelId"];
            test_settings?: components["schemas"]["TestSettings"];
        };
        /**
         * Slug or id
         * @description A prompt's slug or its id.
         * @example summarise-support-ticket
         * @example 6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90
         */
        SlugOrId: string;
        /**
         * Version number
         * @description Number of a version. The first is 1, each further one is the number before plus one.
         * @example 2
         */
        VersionNumber: number;
        /**
         * Date and time
         * Format: date-time
         * @description RFC 3339 date and time with `T`, seconds, and an offset (`Z` or `±hh:mm`).
         * @example 2027-06-30T23:59:59+02:00
         */
        DateTimeInput: string;
        /**
         * Changes to a prompt
         * @description Any subset of the fields. What is left out stays as it is; objects and arrays are replaced whole. `null` clears
         *     `description`, `variables`, `selected_provider`, `selected_model` and `test_settings`.
         *
         *     `id`, `version`, `created_at` and `updated_at` belong to the server: they may be present and are ignored, so a prompt
         *     can be sent back as it was got.
         * @example {
         *       "selected_provider": "openai",
         *       "selected_model": "gpt-4.1-mini"
         *     }
         */
        PromptUpdate: {
            name?: components["schemas"]["PromptName"];
            slug?: components["schemas"]["Slug"];
            /**
             * @description What the prompt is for. `null` clears it.
             * @example Three-sentence summary of a ticket for the shift handover.
             */
            description?: string | null;
            messages?: components["schemas"]["MessagesInput"];
            /** @description Variables by name. Content; a change makes a new version. `null` clears them. */
            variables?: {
                [key: string]: components["schemas"]["VariableDefinitionInput"];
            } | null;
            /**
             * @description Id of the provider that invocations use. Content; a change makes a new version. `null` clears it.
             * @example openai
             */
            selected_provider?: string | null;
            /**
             * @description Id of the model that invocations use. Content; a change makes a new version. `null` clears it.
             * @example gpt-4.1-mini
             */
            selected_model?: string | null;
            test_settings?: components["schemas"]["TestSettings"];
            id?: components["schemas"]["PromptId"];
            version?: components["schemas"]["VersionNumber"];
            created_at?: components["schemas"]["DateTimeInput"];
            updated_at?: components["schemas"]["DateTimeInput"];
        };
        /**
         * Confirmation
         * @description What was asked for is done.
         * @example {
         *       "ok": true
         *     }
         */
        Confirmation: {
            /**
             * @description Always true.
             * @example true
             * @constant
             */
            ok: true;
        };
        /**
         * Prompt version
         * @description The content that a prompt had in one version. It never changes. Fields that were not set are absent.
         * @example {
         *       "version": 1,
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "Summarise this ticket: {{ticket}}"
         *         }
         *       ],
         *       "created_at": "2026-11-02T09:15:00.000Z",
         *       "current": false
         *     }
         */
        PromptVersion: {
            version: components["schemas"]["VersionNumber"];
            messages: components["schemas"]["Messages"];
            variables?: components["schemas"]["VariableDefinitions"];
            selected_provider?: components["schemas"]["ProviderId"];
            selected_model?: components["schemas"]["ModelId"];
            created_at: components["schemas"]["Timestamp"];
            /**
             * @description True for the latest version, the prompt's present content.
             * @example false
             */
            current: boolean;
        };
        /**
         * Page of versions
         * @description Versions of a prompt, the newest first.
         * @example {
         *       "data": [],
         *       "pagination": {
         *         "total": 2,
         *         "limit": 50,
         *         "offset": 2
         *       }
         *     }
         */
        PromptVersionPage: {
            /** @description The versions of this page. */
            data: components["schemas"]["PromptVersion"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * Variable values
         * @description Values by variable name, any JSON. `null` counts as not supplied. Values that no placeholder uses are ignored.
         * @example {
         *       "ticket": "The export button has been greyed out since this morning.",
         *       "customer_name": "Ada"
         *     }
         */
        VariableValues: {
            [key: string]: unknown;
        };
        /**
         * Invocation
         * @description What to run the prompt with. All fields are optional.
         * @example {
         *       "variables": {
         *         "ticket": "The export button has been greyed out since this morning."
         *       },
         *       "version": 1
         *     }
         */
        InvokeRequest: {
            variables?: components["schemas"]["VariableValues"];
            /**
             * @description Runs exactly this version, with its own provider selection. A version that does not exist is a 404, never the latest instead. Left out, the latest version runs.
             * @example 1
             */
            version?: number;
            /**
             * @description Runs on this provider instead of the selected one. Without `model` beside it, on the provider's default model.
             * @example echo
             */
            provider?: string;
            /**
             * @description Runs on this model instead of the selected one.
             * @example gpt-4.1-mini
             */
            model?: string;
        };
        /**
         * Latency
         * @description Milliseconds from the first try to the end of the last one.
         * @example 1874
         */
        LatencyMs: number;
        /**
         * Token usage
         * @description Tokens as the provider counted them. A number that it leaves out is 0.
         * @example {
         *       "inputTokens": 64,
         *       "outputTokens": 13
         *     }
         */
        Usage: {
            /**
             * @description Tokens of the rendered messages.
             * @example 64
             */
            inputTokens: number;
            /**
             * @description Tokens of the generated text.
             * @example 13
             */
            outputTokens: number;
        };
        /**
         * Invocation result
         * @description What the provider generated.
         * @example {
         *       "text": "Ada cannot use the export button since this morning.",
         *       "finishReason": "stop",
         *       "usage": {
         *         "inputTokens": 64,
         *         "outputTokens": 13
         *       }
         *     }
         */
        InvocationResult: {
            /**
             * @description The generated text.
             * @example Ada cannot use the export button since this morning.
             */
            text: string;
            /**
             * @description Why generation ended: the model was done (`stop`), reached a length limit (`length`), was stopped by a filter (`content-filter`), wants to call tools (`tool-calls`), broke off (`error`), or another reason (`other`).
             * @example stop
             * @enum {string}
             */
            finishReason: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
            usage: components["schemas"]["Usage"];
        };
        /**
         * Test target (input)
         * @description One provider and model to run the prompt on.
         * @example {
         *       "provider": "openai",
         *       "model": "gpt-4.1-mini"
         *     }
         */
        TestTargetInput: {
            provider: components["schemas"]["ProviderId"];
            /**
             * @description Id of the model. Left out, the provider's default model.
             * @example gpt-4.1-mini
             */
            model?: string;
        };
        /**
         * Test to run
         * @description Where to run the prompt, and with what.
         * @example {
         *       "providers": [
         *         {
         *           "provider": "openai",
         *           "model": "gpt-4.1-mini"
         *         },
         *         {
         *           "provider": "echo"
         *         }
         *       ],
         *       "variables": {
         *         "ticket": "The export button has been greyed out since this morning."
         *       }
         *     }
         */
        TestRunCreate: {
            /** @description The providers and models to compare. All run at the same time; the same pair may occur more than once. */
            providers: components["schemas"]["TestTargetInput"][];
            variables?: components["schemas"]["VariableValues"];
            /**
             * @description The version to run. Left out, the latest.
             * @example 2
             */
            version?: number;
        };
        /**
         * Test run id
         * @description Made by the server, never changes.
         * @example 5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38
         */
        TestRunId: string;
        /**
         * Test run status
         * @description - `running`: at work.
         *     - `done`: ended, its results are stored. Single results may be errors.
         *     - `failed`: ended without results, because they could not be stored.
         *     - `interrupted`: cut off, for example by a restart. Calls already made are not repeated.
         *     - `other`: a status that a later release adds.
         * @example done
         * @enum {string}
         */
        TestRunStatus: "running" | "done" | "failed" | "interrupted" | "other";
        /**
         * Test target
         * @description One provider and model that the prompt runs on.
         * @example {
         *       "provider": "openai",
         *       "model": "gpt-4.1-mini"
         *     }
         */
        TestTarget: {
            provider: components["schemas"]["ProviderId"];
            model: components["schemas"]["ModelId"];
        };
        /**
         * Success
         * @description The provider answered.
         * @example {
         *       "provider": "openai",
         *       "model": "gpt-4.1-mini",
         *       "latency_ms": 1874,
         *       "result": {
         *         "text": "Ada cannot use the export button since this morning.",
         *         "finishReason": "stop",
         *         "usage": {
         *           "inputTokens": 64,
         *           "outputTokens": 13
         *         }
         *       }
         *     }
         */
        TestSuccess: {
            provider: components["schemas"]["ProviderId"];
            model: components["schemas"]["ModelId"];
            latency_ms: components["schemas"]["LatencyMs"];
            result: components["schemas"]["InvocationResult"];
        };
        /**
         * Test error
         * @description Why a call failed, in the terms of the problem that an invocation would have been answered with.
         * @example {
         *       "type": "urn:prompt-gateway:problem:provider-rate-limited",
         *       "title": "Provider is rate limiting",
         *       "detail": "The provider limits the rate of requests.",
         *       "provider_status": 429,
         *       "retryable": true
         *     }
         */
        TestError: {
            type: components["schemas"]["ProblemType"];
            title: components["schemas"]["ProblemTitle"];
            detail: components["schemas"]["ProblemText"];
            provider_status?: components["schemas"]["ProviderStatus"];
            retryable: components["schemas"]["Retryable"];
        };
        /**
         * Failure
         * @description The call failed. The others are not affected.
         * @example {
         *       "provider": "anthropic",
         *       "model": "claude-sonnet-4-5",
         *       "latency_ms": 412,
         *       "error": {
         *         "type": "urn:prompt-gateway:problem:provider-rate-limited",
         *         "title": "Provider is rate limiting",
         *         "detail": "The provider limits the rate of requests.",
         *         "provider_status": 429,
         *         "retryable": true
         *       }
         *     }
         */
        TestFailure: {
            provider: components["schemas"]["ProviderId"];
            model: components["schemas"]["ModelId"];
            latency_ms: components["schemas"]["LatencyMs"];
            error: components["schemas"]["TestError"];
        };
        /**
         * Test result
         * @description What one provider and model made of the prompt, either `result` or `error`.
         * @example {
         *       "provider": "openai",
         *       "model": "gpt-4.1-mini",
         *       "latency_ms": 1874,
         *       "result": {
         *         "text": "Ada cannot use the export button since this morning.",
         *         "finishReason": "stop",
         *         "usage": {
         *           "inputTokens": 64,
         *           "outputTokens": 13
         *         }
         *       }
         *     }
         */
        TestResult: components["schemas"]["TestSuccess"] | components["schemas"]["TestFailure"];
        /**
         * Test results
         * @description One result for each provider and model, in the order of the request.
         * @example [
         *       {
         *         "provider": "openai",
         *         "model": "gpt-4.1-mini",
         *         "latency_ms": 1874,
         *         "result": {
         *           "text": "Ada cannot use the export button since this morning.",
         *           "finishReason": "stop",
         *           "usage": {
         *             "inputTokens": 64,
         *             "outputTokens": 13
         *           }
         *         }
         *       }
         *     ]
         */
        TestResults: components["schemas"]["TestResult"][];
        /**
         * Test run with results
         * @description A test run that has ended, and what each provider answered.
         * @example {
         *       "id": "5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38",
         *       "prompt_id": "6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90",
         *       "prompt_version": 2,
         *       "status": "done",
         *       "providers": [
         *         {
         *           "provider": "openai",
         *           "model": "gpt-4.1-mini"
         *         }
         *       ],
         *       "created_at": "2026-11-05T15:00:00.000Z",
         *       "finished_at": "2026-11-05T15:00:01.912Z",
         *       "results": [
         *         {
         *           "provider": "openai",
         *           "model": "gpt-4.1-mini",
         *           "latency_ms": 1874,
         *           "result": {
         *             "text": "Ada cannot use the export button since this morning.",
         *             "finishReason": "stop",
         *             "usage": {
         *               "inputTokens": 64,
         *               "outputTokens": 13
         *             }
         *           }
         *         }
         *       ]
         *     }
         */
        TestRunWithResults: {
            id: components["schemas"]["TestRunId"];
            prompt_id: components["schemas"]["PromptId"];
            /**
             * @description Number of the version that ran, pinned or not.
             * @example 2
             */
            prompt_version: number;
            status: components["schemas"]["TestRunStatus"];
            /** @description The providers and models, in the order of the request, default models filled in. */
            providers: components["schemas"]["TestTarget"][];
            created_at: components["schemas"]["Timestamp"];
            finished_at: components["schemas"]["Timestamp"];
            results: components["schemas"]["TestResults"];
        };
        /**
         * Test run
         * @description One run of a prompt on several providers and models, without its results.
         * @example {
         *       "id": "5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38",
         *       "prompt_id": "6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90",
         *       "prompt_version": 2,
         *       "status": "running",
         *       "providers": [
         *         {
         *           "provider": "openai",
         *           "model": "gpt-4.1-mini"
         *         }
         *       ],
         *       "created_at": "2026-11-05T15:00:00.000Z"
         *     }
         */
        TestRun: {
            id: components["schemas"]["TestRunId"];
            prompt_id: components["schemas"]["PromptId"];
            /**
             * @description Number of the version that ran, pinned or not.
             * @example 2
             */
            prompt_version: number;
            status: components["schemas"]["TestRunStatus"];
            /** @description The providers and models, in the order of the request, default models filled in. */
            providers: components["schemas"]["TestTarget"][];
            created_at: components["schemas"]["Timestamp"];
            finished_at?: components["schemas"]["Timestamp"];
        };
        /**
         * Page of test runs
         * @description Test runs of a prompt, the newest first.
         * @example {
         *       "data": [],
         *       "pagination": {
         *         "total": 0,
         *         "limit": 20,
         *         "offset": 0
         *       }
         *     }
         */
        TestRunPage: {
            /** @description The test runs of this page. */
            data: components["schemas"]["TestRun"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * Results of a test run
         * @description The stored results of a test run that has ended.
         * @example {
         *       "id": "5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38",
         *       "prompt_id": "6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90",
         *       "prompt_version": 2,
         *       "created_at": "2026-11-05T15:00:00.000Z",
         *       "finished_at": "2026-11-05T15:00:01.912Z",
         *       "results": []
         *     }
         */
        TestRunResults: {
            id: components["schemas"]["TestRunId"];
            prompt_id: components["schemas"]["PromptId"];
            /**
             * @description Number of the version that ran, pinned or not.
             * @example 2
             */
            prompt_version: number;
            created_at: components["schemas"]["Timestamp"];
            finished_at: components["schemas"]["Timestamp"];
            results: components["schemas"]["TestResults"];
        };
        /**
         * Provider
         * @description A language-model provider that the service can call.
         * @example {
         *       "id": "echo",
         *       "name": "Echo",
         *       "models": [
         *         "echo-1"
         *       ],
         *       "defaultModel": "echo-1",
         *       "configured": true
         *     }
         */
        Provider: {
            id: components["schemas"]["ProviderId"];
            /**
             * @description Display name.
             * @example OpenAI
             */
            name: string;
            /** @description Models known to work. Others are passed on as well. */
            models: components["schemas"]["ModelId"][];
            /**
             * @description The model that is used when only the provider is given. One of `models`.
             * @example gpt-4.1-mini
             */
            defaultModel: string;
            /**
             * @description Whether the service has what it needs to call the provider.
             * @example true
             */
            configured: boolean;
        };
        /**
         * List of providers
         * @description All providers, whether configured or not.
         * @example [
         *       {
         *         "id": "echo",
         *         "name": "Echo",
         *         "models": [
         *           "echo-1"
         *         ],
         *         "defaultModel": "echo-1",
         *         "configured": true
         *       }
         *     ]
         */
        ProviderList: components["schemas"]["Provider"][];
        /**
         * API key id
         * @description Made by the server, never changes. It is not the key itself and is no secret.
         * @example 1e4b7c90-2d6f-4f3a-8b5c-7a9d0e1f2c34
         */
        ApiKeyId: string;
        /**
         * API key name
         * @description Who or what uses the key. Not only blanks.
         * @example Helpdesk backend
         */
        ApiKeyName: string;
        /**
         * API key prefix
         * @description How the key begins, to recognise it by. Absent when the operator chose the key.
         * @example pgw_1e4b7c902d6f4f3a8b5c7a9d0e1f2c34
         */
        ApiKeyPrefix: string;
        /**
         * Granted scope
         * @description What the API key may do. Later releases may add scopes.
         * @example prompts:invoke
         */
        GrantedScope: string;
        /**
         * API key
         * @description An API key without its secret, which is not kept. Fields that are not set are absent.
         * @example {
         *       "id": "1e4b7c90-2d6f-4f3a-8b5c-7a9d0e1f2c34",
         *       "name": "Helpdesk backend",
         *       "scopes": [
         *         "prompts:read",
         *         "prompts:invoke"
         *       ],
         *       "created_at": "2026-11-03T10:00:00.000Z"
         *     }
         */
        ApiKey: {
            id: components["schemas"]["ApiKeyId"];
            name: components["schemas"]["ApiKeyName"];
            prefix?: components["schemas"]["ApiKeyPrefix"];
            /** @description What the key may do. */
            scopes: components["schemas"]["GrantedScope"][];
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description When the key stops working by itself. Absent when it does not expire.
             * @example 2036-06-30T23:59:59.000Z
             */
            expires_at?: string;
            /**
             * Format: date-time
             * @description When the key was last used, to within a few minutes. Absent when it never was.
             * @example 2026-11-05T14:59:30.000Z
             */
            last_used_at?: string;
            /**
             * Format: date-time
             * @description When the key was revoked. Absent when it was not.
             * @example 2026-11-06T08:00:00.000Z
             */
            revoked_at?: string;
        };
        /**
         * Page of API keys
         * @description API keys, the newest first, revoked and expired ones included.
         * @example {
         *       "data": [],
         *       "pagination": {
         *         "total": 1,
         *         "limit": 100,
         *         "offset": 1
         *       }
         *     }
         */
        ApiKeyPage: {
            /** @description The API keys of this page. */
            data: components["schemas"]["ApiKey"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * Scope
         * @description What an API key may do. Each operation names the one that it requires.
         * @example prompts:invoke
         * @enum {string}
         */
        Scope: "prompts:read" | "prompts:write" | "prompts:invoke" | "orders:read" | "orders:write" | "catalog:read" | "catalog:write" | "integrations:manage" | "keys:manage" | "metrics:read";
        /**
         * API key to create
         * @description A new API key.
         * @example {
         *       "name": "Helpdesk backend",
         *       "scopes": [
         *         "prompts:read",
         *         "prompts:invoke"
         *       ]
         *     }
         */
        ApiKeyCreate: {
            name: components["schemas"]["ApiKeyName"];
            /** @description What the key may do. Only scopes that the creating key holds itself. */
            scopes: components["schemas"]["Scope"][];
            /**
             * Format: date-time
             * @description When the key stops working, as RFC 3339 date and time with `T`, seconds, and an offset (`Z` or `±hh:mm`). It must be in the future. Left out, the key does not expire.
             * @example 2036-06-30T23:59:59Z
             */
            expires_at?: string;
        };
        /**
         * Created API key
         * @description A new API key with its secret.
         * @example {
         *       "id": "1e4b7c90-2d6f-4f3a-8b5c-7a9d0e1f2c34",
         *       "name": "Helpdesk backend",
         *       "scopes": [
         *         "prompts:read",
         *         "prompts:invoke"
         *       ],
         *       "created_at": "2026-11-03T10:00:00.000Z",
         *       "key": "pgw_1e4b7c902d6f4f3a8b5c7a9d0e1f2c34_EXAMPLE-not-a-real-secret-EXAMPLE-0123456789"
         *     }
         */
        ApiKeyCreated: {
            id: components["schemas"]["ApiKeyId"];
            name: components["schemas"]["ApiKeyName"];
            prefix?: components["schemas"]["ApiKeyPrefix"];
            /** @description What the key may do. */
            scopes: components["schemas"]["GrantedScope"][];
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description When the key stops working by itself. Absent when it does not expire.
             * @example 2036-06-30T23:59:59.000Z
             */
            expires_at?: string;
            /**
             * @description The key itself. It is shown this once and not kept; store it where secrets belong.
             * @example pgw_1e4b7c902d6f4f3a8b5c7a9d0e1f2c34_EXAMPLE-not-a-real-secret-EXAMPLE-0123456789
             */
            key: string;
        };
        /**
         * Liveness
         * @description The process answers.
         * @example {
         *       "status": "ok"
         *     }
         */
        Liveness: {
            /**
             * @description Always `ok`.
             * @example ok
             * @constant
             */
            status: "ok";
        };
        /**
         * Readiness
         * @description The process can do its work.
         * @example {
         *       "status": "ok",
         *       "checks": {
         *         "database": "ok",
         *         "storage": "ok"
         *       }
         *     }
         */
        Readiness: {
            /**
             * @description Always `ok`.
             * @example ok
             * @constant
             */
            status: "ok";
            /** @description What was checked. */
            checks: {
                /**
                 * @description Always `ok`; without its database the process is not ready.
                 * @example ok
                 * @constant
                 */
                database: "ok";
                /**
                 * @description Whether the object storage answers. Without it only test runs suffer.
                 * @example ok
                 * @enum {string}
                 */
                storage: "ok" | "unavailable" | "other";
            };
        };
        /**
         * Metrics
         * @description Metrics in the Prometheus text format.
         * @example # TYPE http_requests_total counter
         *     http_requests_total{operation="getPrompt",status="200"} 42
         */
        Metrics: string;
        /**
         * OpenAPI document
         * @description This contract as one OpenAPI 3.1 document.
         * @example {
         *       "openapi": "3.1.0",
         *       "info": {
         *         "title": "Prompt gateway",
         *         "version": "1.0.0"
         *       },
         *       "paths": {}
         *     }
         */
        OpenApiDocument: {
            /**
             * @description Version of the OpenAPI Specification.
             * @example 3.1.0
             */
            openapi: string;
            /** @description Title, version and introduction. */
            info: {
                [key: string]: unknown;
            };
            /** @description The operations by path. */
            paths: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
    };
    responses: {
        /** @description A page of prompts. */
        PromptsListed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PromptPage"];
            };
        };
        /** @description A path parameter, query parameter or header breaks the contract. */
        InvalidParameters: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The API key is missing, unknown, expired or revoked. */
        Unauthenticated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The API key lacks the scope that the operation requires. */
        InsufficientScope: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The `Accept` header excludes what the operation answers with. */
        NotAcceptable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The API key has used up its requests for now. */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Something went wrong inside the service. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service cannot answer at the moment. */
        ServiceUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The prompt, as version 1. */
        PromptCreated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Location: components["headers"]["Location"];
                ETag: components["headers"]["ETag"];
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Prompt"];
            };
        };
        /** @description The body is not JSON, or a parameter, a header or the body breaks the contract. */
        InvalidRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request did not arrive completely in time. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The slug is taken, or the idempotency key is in use. */
        CreatePromptConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfterIfTemporary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is larger than 1 MiB. */
        ContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not declared as `application/json` in UTF-8. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The idempotency key was used before with a different request. */
        IdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The prompt. */
        PromptFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Prompt"];
            };
        };
        /** @description The resource is still the one that `If-None-Match` names. No body. */
        NotModified: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description No prompt has this id or slug. */
        PromptNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The whole prompt after the change. */
        PromptUpdated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Prompt"];
            };
        };
        /** @description The slug is taken, or others kept changing the prompt. */
        UpdatePromptConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The resource is no longer the one that `If-Match` names. Nothing was changed. */
        PreconditionFailed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The prompt, its versions and its test runs are gone. */
        PromptDeleted: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Confirmation"];
            };
        };
        /** @description Others kept changing the resource. Nothing was changed. */
        EditConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service or its object storage cannot answer at the moment. */
        ServiceOrStorageUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A page of versions. */
        PromptVersionsListed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PromptVersionPage"];
            };
        };
        /** @description The version. */
        PromptVersionFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PromptVersion"];
            };
        };
        /** @description No prompt has this id or slug, or it has no such version. */
        PromptOrVersionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The whole prompt after the restoration. */
        PromptRestored: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Prompt"];
            };
        };
        /** @description The idempotency key is in use, or others kept changing the prompt. */
        RestoreConflict: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfterIfTemporary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description What the provider generated. */
        PromptInvoked: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "X-Prompt-Id": components["headers"]["XPromptId"];
                "X-Provider": components["headers"]["XProvider"];
                "X-Model": components["headers"]["XModel"];
                "X-Latency-Ms": components["headers"]["XLatencyMs"];
                "X-Cached": components["headers"]["XCached"];
                "X-Prompt-Version": components["headers"]["XPromptVersion"];
                Age: components["headers"]["Age"];
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["InvocationResult"];
            };
        };
        /** @description A request with the same idempotency key is still being worked on. */
        IdempotencyKeyInUse: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfterIfTemporary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is well-formed, but the prompt cannot be run. No provider was called. */
        InvokeUnprocessable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The provider failed, timed out, refused or answered nonsense. */
        ProviderFailure: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfterIfTemporary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Only a cached answer was asked for, and there is none. */
        NotCached: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The test run and its results. Single results may be errors. */
        TestRunFinished: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Location: components["headers"]["Location"];
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TestRunWithResults"];
            };
        };
        /** @description The test run has started and goes on. `Location` says where to look for it. */
        TestRunStarted: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Location: components["headers"]["Location"];
                "Preference-Applied": components["headers"]["PreferenceApplied"];
                "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TestRun"];
            };
        };
        /** @description The request is well-formed, but the test cannot be run. No provider was called. */
        TestUnprocessable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A page of test runs. */
        TestRunsListed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TestRunPage"];
            };
        };
        /** @description The test run. */
        TestRunFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TestRun"];
            };
        };
        /** @description No test run has this id. */
        TestRunNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The results. */
        TestRunResultsFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["TestRunResults"];
            };
        };
        /** @description The test run is still running, or it ended without results. */
        ResultsNotAvailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfterIfTemporary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description All providers. */
        ProvidersListed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ProviderList"];
            };
        };
        /** @description A page of API keys. */
        ApiKeysListed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiKeyPage"];
            };
        };
        /** @description The API key with its secret, shown this once. */
        ApiKeyCreated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                Location: components["headers"]["Location"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiKeyCreated"];
            };
        };
        /** @description The API key lacks the scope `keys:manage`, or a scope that it tries to grant. */
        ScopeNotHeld: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The API key, without its secret. */
        ApiKeyFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiKey"];
            };
        };
        /** @description No API key has this id. */
        ApiKeyNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The API key is revoked. */
        ApiKeyRevoked: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Confirmation"];
            };
        };
        /** @description The process answers. */
        Live: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Liveness"];
            };
        };
        /** @description The request has a query parameter that the operation does not know. */
        InvalidPublicRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The `Accept` header excludes what the operation answers with. */
        PublicNotAcceptable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Something went wrong inside the service. */
        PublicInternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The process can do its work. */
        Ready: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Readiness"];
            };
        };
        /** @description The process cannot do its work: send it no requests. */
        NotReady: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The metrics. */
        MetricsFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["Metrics"];
            };
        };
        /** @description This contract. */
        OpenApiFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OpenApiDocument"];
            };
        };
    };
    parameters: {
        /**
         * @description The most prompts to answer with. A page also ends at 8 MiB.
         * @example 20
         */
        PromptLimit: number;
        /**
         * @description How many entries to skip.
         * @example 0
         */
        Offset: number;
        /**
         * @description Only prompts whose name, slug or description contains this text, whatever its case.
         * @example ticket
         */
        Search: string;
        /**
         * @description Makes it safe to repeat the request: a repetition gets the first answer again instead of doing the work twice. Up to 255 visible ASCII characters, in double quotes or without.
         * @example "8e03978e-40d5-43dd-bc93-6894a57f9324"
         */
        IdempotencyKey: string;
        /**
         * @description The prompt's slug or its id.
         * @example summarise-support-ticket
         */
        SlugOrId: components["schemas"]["SlugOrId"];
        /**
         * @description Answers 304 without a body if the resource still has one of these entity tags.
         * @example "Zk3v9QwLx0uT1c"
         */
        IfNoneMatch: string;
        /**
         * @description Does the work only if the resource still has one of these entity tags (or, with `*`, exists); 412 otherwise.
         * @example "Zk3v9QwLx0uT1c"
         */
        IfMatch: string;
        /**
         * @description The most versions to answer with. A page also ends at 8 MiB.
         * @example 10
         */
        VersionLimit: number;
        /**
         * @description Number of the version.
         * @example 1
         */
        Version: components["schemas"]["VersionNumber"];
        /**
         * @description The most milliseconds that the provider may take, retries included. It can lower the service's own deadline (60 seconds unless configured otherwise), not raise it.
         * @example 15000
         */
        TimeoutMs: number;
        /**
         * @description How to use the answer cache. Nothing is cached unless asked for. Unknown directives are ignored.
         *
         *     - `max-age=N`: an answer to the same messages from the same model, at most N seconds old, will do.
         *     - `no-cache`: call the provider, and keep the answer.
         *     - `no-store`: neither use nor keep a cached answer.
         *     - `only-if-cached`: never call the provider; 504 if there is no cached answer.
         * @example max-age=3600
         */
        CacheControl: string;
        /**
         * @description `respond-async` answers 202 at once and lets the test run go on. Other preferences are ignored.
         * @example respond-async
         */
        Prefer: string;
        /**
         * @description The most test runs to answer with.
         * @example 20
         */
        TestRunLimit: number;
        /**
         * @description Id of the test run.
         * @example 5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38
         */
        TestRunId: components["schemas"]["TestRunId"];
        /**
         * @description The most API keys to answer with.
         * @example 50
         */
        ApiKeyLimit: number;
        /**
         * @description Id of the API key (not the key itself).
         * @example 1e4b7c90-2d6f-4f3a-8b5c-7a9d0e1f2c34
         */
        ApiKeyId: components["schemas"]["ApiKeyId"];
    };
    requestBodies: never;
    headers: {
        /**
         * @description Id of the request, yours if you sent a usable one. The service's log has it on every line.
         * @example 01J9ZQ4C7N8VX2M5K3T6B1R0DW
         */
        RequestId: string;
        /**
         * @description `no-store` unless the operation says otherwise.
         * @example no-store
         */
        CacheControl: string;
        /**
         * @description Requests left (`r`) and seconds until the quota is full again (`t`). Absent when rate limits are off.
         * @example "default";r=594;t=12
         */
        RateLimit: string;
        /**
         * @description The quota (`q`) and the seconds it is for (`w`). Absent when rate limits are off.
         * @example "default";q=600;w=60
         */
        RateLimitPolicy: string;
        /**
         * @description The next page (`rel="next"`), if there is one.
         * @example </api/v1/prompts?limit=20&offset=20>; rel="next"
         */
        Link: string;
        /**
         * @description How to authenticate.
         * @example Bearer
         */
        WwwAuthenticate: string;
        /**
         * @description Seconds to wait before the next try.
         * @example 12
         */
        RetryAfter: number;
        /**
         * @description Path of the new resource.
         * @example /api/v1/prompts/6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90
         */
        Location: string;
        /**
         * @description Names this state of the resource, for `If-Match` and `If-None-Match`.
         * @example "Zk3v9QwLx0uT1c"
         */
        ETag: string;
        /**
         * @description `true` when this answer was given before to a request with the same idempotency key.
         * @example true
         */
        IdempotencyReplayed: "true";
        /**
         * @description Seconds to wait before the next try, when waiting helps.
         * @example 2
         */
        RetryAfterIfTemporary: number;
        /**
         * @description Id of the prompt that ran.
         * @example 6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90
         */
        XPromptId: components["schemas"]["PromptId"];
        /**
         * @description Id of the provider that answered.
         * @example openai
         */
        XProvider: components["schemas"]["ProviderId"];
        /**
         * @description Id of the model that was asked for.
         * @example gpt-4.1-mini
         */
        XModel: components["schemas"]["ModelId"];
        /**
         * @description Milliseconds that the provider took, retries included. For a cached answer, what reading it took.
         * @example 1874
         */
        XLatencyMs: components["schemas"]["LatencyMs"];
        /**
         * @description `true` when the answer comes from the cache and no provider was called.
         * @example false
         */
        XCached: "true" | "false";
        /**
         * @description Number of the version that ran. Present only when the request pinned it.
         * @example 1
         */
        XPromptVersion: components["schemas"]["VersionNumber"];
        /**
         * @description Seconds since the cached answer was generated. Present only when `X-Cached` is `true`.
         * @example 35
         */
        Age: number;
        /**
         * @description The preference that was followed.
         * @example respond-async
         */
        PreferenceApplied: "respond-async";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPrompts: {
        parameters: {
            query?: {
                /**
                 * @description The most prompts to answer with. A page also ends at 8 MiB.
                 * @example 20
                 */
                limit?: components["parameters"]["PromptLimit"];
                /**
                 * @description How many entries to skip.
                 * @example 0
                 */
                offset?: components["parameters"]["Offset"];
                /**
                 * @description Only prompts whose name, slug or description contains this text, whatever its case.
                 * @example ticket
                 */
                q?: components["parameters"]["Search"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PromptsListed"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createPrompt: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes it safe to repeat the request: a repetition gets the first answer again instead of doing the work twice. Up to 255 visible ASCII characters, in double quotes or without.
                 * @example "8e03978e-40d5-43dd-bc93-6894a57f9324"
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The prompt. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptCreate"];
            };
        };
        responses: {
            201: components["responses"]["PromptCreated"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["CreatePromptConflict"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPrompt: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Answers 304 without a body if the resource still has one of these entity tags.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PromptFound"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptNotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    updatePrompt: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Does the work only if the resource still has one of these entity tags (or, with `*`, exists); 412 otherwise.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptUpdate"];
            };
        };
        responses: {
            200: components["responses"]["PromptUpdated"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptNotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["UpdatePromptConflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deletePrompt: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Does the work only if the resource still has one of these entity tags (or, with `*`, exists); 412 otherwise.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PromptDeleted"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["EditConflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceOrStorageUnavailable"];
        };
    };
    listPromptVersions: {
        parameters: {
            query?: {
                /**
                 * @description The most versions to answer with. A page also ends at 8 MiB.
                 * @example 10
                 */
                limit?: components["parameters"]["VersionLimit"];
                /**
                 * @description How many entries to skip.
                 * @example 0
                 */
                offset?: components["parameters"]["Offset"];
            };
            header?: never;
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PromptVersionsListed"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptNotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPromptVersion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Answers 304 without a body if the resource still has one of these entity tags.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
                /**
                 * @description Number of the version.
                 * @example 1
                 */
                version: components["parameters"]["Version"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PromptVersionFound"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptOrVersionNotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    restorePromptVersion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes it safe to repeat the request: a repetition gets the first answer again instead of doing the work twice. Up to 255 visible ASCII characters, in double quotes or without.
                 * @example "8e03978e-40d5-43dd-bc93-6894a57f9324"
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description Does the work only if the resource still has one of these entity tags (or, with `*`, exists); 412 otherwise.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
                /**
                 * @description Number of the version.
                 * @example 1
                 */
                version: components["parameters"]["Version"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["PromptRestored"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptOrVersionNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["RestoreConflict"];
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    invokePrompt: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes it safe to repeat the request: a repetition gets the first answer again instead of doing the work twice. Up to 255 visible ASCII characters, in double quotes or without.
                 * @example "8e03978e-40d5-43dd-bc93-6894a57f9324"
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The most milliseconds that the provider may take, retries included. It can lower the service's own deadline (60 seconds unless configured otherwise), not raise it.
                 * @example 15000
                 */
                "X-Timeout-Ms"?: components["parameters"]["TimeoutMs"];
                /**
                 * @description How to use the answer cache. Nothing is cached unless asked for. Unknown directives are ignored.
                 *
                 *     - `max-age=N`: an answer to the same messages from the same model, at most N seconds old, will do.
                 *     - `no-cache`: call the provider, and keep the answer.
                 *     - `no-store`: neither use nor keep a cached answer.
                 *     - `only-if-cached`: never call the provider; 504 if there is no cached answer.
                 * @example max-age=3600
                 */
                "Cache-Control"?: components["parameters"]["CacheControl"];
            };
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
            };
            cookie?: never;
        };
        /** @description What to run the prompt with. May be left out. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["InvokeRequest"];
            };
        };
        responses: {
            200: components["responses"]["PromptInvoked"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptOrVersionNotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["IdempotencyKeyInUse"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["InvokeUnprocessable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ProviderFailure"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["NotCached"];
        };
    };
    runTest: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes it safe to repeat the request: a repetition gets the first answer again instead of doing the work twice. Up to 255 visible ASCII characters, in double quotes or without.
                 * @example "8e03978e-40d5-43dd-bc93-6894a57f9324"
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description `respond-async` answers 202 at once and lets the test run go on. Other preferences are ignored.
                 * @example respond-async
                 */
                Prefer?: components["parameters"]["Prefer"];
            };
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
            };
            cookie?: never;
        };
        /** @description Where to run the prompt, and with what. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestRunCreate"];
            };
        };
        responses: {
            201: components["responses"]["TestRunFinished"];
            202: components["responses"]["TestRunStarted"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptOrVersionNotFound"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["IdempotencyKeyInUse"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["TestUnprocessable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceOrStorageUnavailable"];
        };
    };
    listTestRuns: {
        parameters: {
            query?: {
                /**
                 * @description The most test runs to answer with.
                 * @example 20
                 */
                limit?: components["parameters"]["TestRunLimit"];
                /**
                 * @description How many entries to skip.
                 * @example 0
                 */
                offset?: components["parameters"]["Offset"];
            };
            header?: never;
            path: {
                /**
                 * @description The prompt's slug or its id.
                 * @example summarise-support-ticket
                 */
                slugOrId: components["parameters"]["SlugOrId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["TestRunsListed"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["PromptNotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getTestRun: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Answers 304 without a body if the resource still has one of these entity tags.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id of the test run.
                 * @example 5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38
                 */
                id: components["parameters"]["TestRunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["TestRunFound"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["TestRunNotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getTestRunResults: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the test run.
                 * @example 5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38
                 */
                id: components["parameters"]["TestRunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["TestRunResultsFound"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["TestRunNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["ResultsNotAvailable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceOrStorageUnavailable"];
        };
    };
    listProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ProvidersListed"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /**
                 * @description The most API keys to answer with.
                 * @example 50
                 */
                limit?: components["parameters"]["ApiKeyLimit"];
                /**
                 * @description How many entries to skip.
                 * @example 0
                 */
                offset?: components["parameters"]["Offset"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ApiKeysListed"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The API key. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyCreate"];
            };
        };
        responses: {
            201: components["responses"]["ApiKeyCreated"];
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["ScopeNotHeld"];
            406: components["responses"]["NotAcceptable"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Answers 304 without a body if the resource still has one of these entity tags.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id of the API key (not the key itself).
                 * @example 1e4b7c90-2d6f-4f3a-8b5c-7a9d0e1f2c34
                 */
                id: components["parameters"]["ApiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ApiKeyFound"];
            304: components["responses"]["NotModified"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["ApiKeyNotFound"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Does the work only if the resource still has one of these entity tags (or, with `*`, exists); 412 otherwise.
                 * @example "Zk3v9QwLx0uT1c"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the API key (not the key itself).
                 * @example 1e4b7c90-2d6f-4f3a-8b5c-7a9d0e1f2c34
                 */
                id: components["parameters"]["ApiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["ApiKeyRevoked"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            404: components["responses"]["ApiKeyNotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["EditConflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Live"];
            400: components["responses"]["InvalidPublicRequest"];
            406: components["responses"]["PublicNotAcceptable"];
            500: components["responses"]["PublicInternalError"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Ready"];
            400: components["responses"]["InvalidPublicRequest"];
            406: components["responses"]["PublicNotAcceptable"];
            500: components["responses"]["PublicInternalError"];
            503: components["responses"]["NotReady"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["MetricsFound"];
            400: components["responses"]["InvalidParameters"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["InsufficientScope"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["OpenApiFound"];
            400: components["responses"]["InvalidPublicRequest"];
            406: components["responses"]["PublicNotAcceptable"];
            500: components["responses"]["PublicInternalError"];
        };
    };
}
