/**
 * Names of OpenTelemetry's semantic conventions: those of HTTP, which are stable, and those for generative AI, which are
 * in development, as of version 1.41 of the conventions.
 * https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs
 */
export const names = {
  error: 'error.type',
  request: {
    method: 'http.request.method',
    route: 'http.route',
    status: 'http.response.status_code',
    path: 'url.path',
    duration: 'http.server.request.duration',
  },
  server: { address: 'server.address', port: 'server.port' },
  generation: {
    operation: 'gen_ai.operation.name',
    provider: 'gen_ai.provider.name',
    model: 'gen_ai.request.model',
    answerModel: 'gen_ai.response.model',
    answerId: 'gen_ai.response.id',
    inputTokens: 'gen_ai.usage.input_tokens',
    outputTokens: 'gen_ai.usage.output_tokens',
    cacheRead: 'gen_ai.usage.cache_read.input_tokens',
    tokenType: 'gen_ai.token.type',
    duration: 'gen_ai.client.operation.duration',
    usage: 'gen_ai.client.token.usage',
  },
} as const;

/** The conventions' names of providers. Others are reported under the id that they have here. */
export const providerNames: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

/** Limits of the buckets of durations of HTTP requests, in seconds. */
export const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Limits of the buckets of durations of calls to providers, in seconds. */
export const callBuckets = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Limits of the buckets of tokens. */
export const tokenBuckets = Array.from({ length: 14 }, (_, power) => 4 ** power);
