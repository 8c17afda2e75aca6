/** Twins: a provider's package whose `fetch` sends nothing. */
import type { SharedV4Warning } from '@ai-sdk/provider';
import { prepareSdkCall } from '../call/request.ts';
import type { GenerateRequest } from '../language-model.ts';
import type { Fetch } from '../transport/http.ts';
import type { SdkProvider } from '../vendors/vendor.ts';

/**
 * A `fetch` for twin models. It sends nothing and answers with an event stream that ends at once. For a signal in
 * `recordings` it only notes the body, which costs a tenth.
 */
export const twinFetch: Fetch = async (_url, { body, signal } = {}) => {
  const recording = signal ? recordings.get(signal) : undefined;
  if (recording === undefined) return new Response('', { headers: { 'content-type': 'text/event-stream' } });
  recording.body = String(body);
  throw new Error('Nothing is sent.');
};

const recordings = new WeakMap<AbortSignal, { body?: string }>();

/** What would be sent; undefined if the package refuses the request. */
export async function bodyOf(twin: SdkProvider, request: GenerateRequest): Promise<string | undefined> {
  const recording: { body?: string } = {};
  const { signal } = new AbortController();
  recordings.set(signal, recording);
  try {
    const { model, options } = await prepareSdkCall(twin, request);
    await model.doGenerate({ ...options, abortSignal: signal });
  } catch {
    // Either the end of the recording, or the package's refusal.
  }
  return recording.body;
}

/** What the package says that it does not support. */
export async function warningsOf(twin: SdkProvider, request: GenerateRequest): Promise<readonly SharedV4Warning[]> {
  try {
    const { model, options } = await prepareSdkCall(twin, request);
    const reader = (await model.doStream(options)).stream.getReader();
    const { value: first } = await reader.read();
    void reader.cancel().catch(() => {});
    return first?.type === 'stream-start' ? first.warnings : [];
  } catch {
    return [];
  }
}

/** Whether the package sends the schema of the format as a function that the model has to call. Nothing is sent. */
export async function isFormatFunction(twin: SdkProvider, request: GenerateRequest): Promise<boolean> {
  const { responseFormat } = request;
  if (responseFormat?.type !== 'json' || responseFormat.schema === undefined) return false;
  const [whole, rest] = await Promise.all([bodyOf(twin, request), bodyOf(twin, without(request, 'responseFormat'))]);
  return whole !== undefined && rest !== undefined && functionsIn(whole) !== functionsIn(rest);
}

/** The functions in a request, as all of the APIs name them. */
function functionsIn(body: string): string {
  const { tools, toolConfig } = JSON.parse(body) as { tools?: unknown; toolConfig?: { tools?: unknown } };
  return JSON.stringify([tools ?? [], toolConfig?.tools ?? []]);
}

/** A copy without one member. */
export function without<T extends object, Name extends keyof T>(value: T, name: Name): Omit<T, Name> {
  const { [name]: _left, ...rest } = value;
  return rest;
}
