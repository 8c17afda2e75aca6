import { createLookUp } from '../../src/base/outbound/look-up.ts';
import { createProviderHttp, type ProviderHttp } from '../../src/models/transport/http.ts';
import {
  finishOf,
  type CallOptions,
  type GenerateEvent,
  type GenerateRequest,
  type GenerateResult,
} from '../../src/models/language-model.ts';
import type { ProviderInfo, ProviderRegistry } from '../../src/models/provider.ts';
import { createStreamWatch } from '../../src/models/call/stream-watch.ts';
import { createProviderRegistry, type ProviderRegistryOptions } from '../../src/models/registry.ts';
import type { ProviderSettings } from '../../src/models/provider-settings.ts';
import { vendors } from '../../src/models/vendors/index.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { systemClock } from '../../src/base/runtime/clock.ts';
import { systemRandom } from '../../src/base/runtime/random.ts';

/** Used as every credential. It must not appear in any result. */
export const secret = 'sk-do-not-show-0123456789';

/** Used as the prompt. It must not appear in failures. */
export const confidential = 'the merger with Initech is on';

export const remoteIds = vendors.map(({ id }) => id);

export interface Harness {
  readonly mock: MockProvider;
  readonly http: ProviderHttp;
  readonly registry: ProviderRegistry;
  /** A registry on the same mock with other settings. */
  with(
    options: Partial<Omit<ProviderRegistryOptions, 'settings'>> & { settings?: Partial<ProviderSettings> },
  ): ProviderRegistry;
  close(): Promise<void>;
}

/** Every provider, and an OpenAI-compatible one named `local`, all of them on one mock. */
export async function startHarness(redirectTarget?: string): Promise<Harness> {
  const mock = await startMockProvider(redirectTarget === undefined ? {} : { redirectTarget });
  const http = createProviderHttp({ lookUp: createLookUp() });
  const access = { apiKey: secret, baseUrl: mock.url, region: 'eu-central-1' };
  const settings: ProviderSettings = {
    builtIn: Object.fromEntries(remoteIds.map((id) => [id, access])),
    compatible: [{ id: 'local', name: 'Local', baseUrl: mock.url, apiKey: secret, models: ['llama'] }],
    models: {},
    concurrency: 100,
  };
  // No jitter, and the shortest pauses.
  const base = {
    settings,
    fetch: http.fetch,
    streamFetch: http.streamFetch,
    streamWatch: createStreamWatch({ clock: systemClock }),
    random: { ...systemRandom, fraction: () => 0.999_999 },
  };
  return {
    mock,
    http,
    registry: createProviderRegistry(base),
    with: ({ settings: changed, ...options }) =>
      createProviderRegistry({ ...base, ...options, settings: { ...settings, ...changed } }),
    async close() {
      await mock.close();
      await http.close();
    },
  };
}

/** A request, and how it is called. */
export type Call = GenerateRequest & CallOptions;

/** A caller whose key is a family of its own. */
export function callerOf(id: string): CallOptions['principal'] {
  return { id, family: id };
}

/** A request with a confidential prompt and, by default, a deadline in 5 s. */
export function request(model: string, changes: Partial<Call> & { within?: number } = {}): Call {
  const { within = 5_000, ...rest } = changes;
  return {
    model,
    messages: [
      { role: 'system', content: 'Keep secrets.' },
      { role: 'user', content: confidential },
    ],
    principal: callerOf('a key'),
    signal: new AbortController().signal,
    deadline: performance.now() + within,
    ...rest,
  };
}

export interface TestedProvider extends ProviderInfo {
  generate(call: Call): Promise<GenerateResult>;
  stream(request: GenerateRequest, call: CallOptions): AsyncGenerator<GenerateEvent, void, void>;
}

/** Runs a prompt that is expected to fail, and returns the problem. */
export async function failure(registry: ProviderRegistry, id: string, input: Call): Promise<ProblemError> {
  const outcome: unknown = await provider(registry, id)
    .generate(input)
    .catch((error: unknown) => error);
  if (!(outcome instanceof ProblemError)) throw new Error(`Expected a problem, got ${JSON.stringify(outcome)}`);
  return outcome;
}

/** A provider with a single function for a call. */
export function provider(registry: ProviderRegistry, id: string): TestedProvider {
  const found = registry.get(id);
  if (found === undefined) throw new Error(`There is no provider ${id}.`);
  return {
    ...found,
    generate: async (call) => (await finishOf(found.answer(call, call, { isStreamed: false }))).result,
    stream: (asked, call) => found.answer(asked, call, { isStreamed: true }),
  };
}

/** What came of a stream: its events, and how it failed. */
export interface Streamed {
  readonly events: readonly GenerateEvent[];
  /** The deltas, in their order. */
  readonly texts: readonly string[];
  /** Undefined after `finish`. */
  readonly problem?: ProblemError;
}

/** Streams an answer to its end. */
export async function collect(events: AsyncIterable<GenerateEvent>): Promise<Streamed> {
  const seen: GenerateEvent[] = [];
  let problem: ProblemError | undefined;
  try {
    for await (const event of events) seen.push(event);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    problem = error;
  }
  const texts = seen.flatMap((event) => (event.type === 'text' ? [event.delta] : []));
  return { events: seen, texts, ...(problem && { problem }) };
}

/** The stream of a call. */
export function streamOf(registry: ProviderRegistry, id: string, call: Call): AsyncIterable<GenerateEvent> {
  const { model, messages, ...options } = call;
  return provider(registry, id).stream({ model, messages }, options);
}
