import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { GenerateRequest } from '../language-model.ts';
import type { SdkProvider } from '../vendors/vendor.ts';
import { toShape } from './shape.ts';
import { bodyOf } from './twin.ts';

/**
 * Creates the function that finds the limit of output tokens in what a provider would get.
 *
 * @param twin The provider with `twinFetch`
 * @returns a function as `Provider.outputLimit`
 */
export function createOutputLimitFinder(twin: SdkProvider): (request: GenerateRequest) => Promise<number | undefined> {
  const found = new LRUCache<string, { readonly limit: number | undefined }>({ max: 500 });
  return async (request) => {
    const { request: shape } = toShape(request);
    const key = hash('sha256', JSON.stringify(shape), 'base64');
    const known = found.get(key) ?? { limit: await find(twin, shape) };
    found.set(key, known);
    return known.limit;
  };
}

async function find(twin: SdkProvider, request: GenerateRequest): Promise<number | undefined> {
  const body = await bodyOf(twin, request);
  return body === undefined ? 0 : limitIn(JSON.parse(body) as WireBody);
}

/** Where the APIs have the limit. */
interface WireBody {
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly max_output_tokens?: number;
  readonly generationConfig?: { readonly maxOutputTokens?: number };
  readonly inferenceConfig?: { readonly maxTokens?: number };
}

function limitIn({ generationConfig, inferenceConfig, ...body }: WireBody): number | undefined {
  return (
    body.max_completion_tokens ??
    body.max_tokens ??
    body.max_output_tokens ??
    generationConfig?.maxOutputTokens ??
    inferenceConfig?.maxTokens
  );
}
