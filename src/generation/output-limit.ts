import type { Reach } from '../limits/reach.ts';
import type { Parameters } from '../providers/language-model.ts';
import type { Target } from './plan.ts';
import type { TargetLimits } from './supported.ts';

/** The parameters with the limit of output tokens that holds for the caller: the smaller of its own and the request's. */
export function withOutputLimit<P extends Parameters | undefined>(
  parameters: P,
  { maxOutputTokens: most }: Partial<Reach> = {},
): P | Parameters {
  if (most === undefined) return parameters;
  return { ...parameters, max_output_tokens: Math.min(most, parameters?.max_output_tokens ?? most) };
}

/**
 * A target whose provider is told at most as many output tokens as the caller may have; with `unsupported` if it cannot
 * be told so. Some packages send more than they are asked for, because they add what the model may think, or send no
 * limit at all. So what counts is on the wire.
 */
export async function withHeldOutput(target: Target, reach: Reach | undefined): Promise<TargetLimits> {
  const { maxOutputTokens: most } = reach ?? {};
  if (most === undefined) return { target, unsupported: [] };
  const { provider, request } = target;
  const sent = await provider.outputLimit(request);
  if (sent !== undefined && sent <= most) return { target, unsupported: [] };
  const { max_output_tokens: asked } = request.parameters ?? {};
  const left = sent !== undefined && asked !== undefined ? asked - (sent - most) : 0;
  if (left > 0) {
    const held = { ...target, request: { ...request, parameters: { ...request.parameters, max_output_tokens: left } } };
    if (((await provider.outputLimit(held.request)) ?? Infinity) <= most) return { target: held, unsupported: [] };
  }
  const detail =
    sent === undefined
      ? `The provider gets no limit of output tokens, and this key may have ${most}.`
      : `With what the model may think, the provider gets ${sent} tokens, and this key may have ${most}.`;
  return { target, unsupported: [{ member: 'parameters/max_output_tokens', detail }] };
}
