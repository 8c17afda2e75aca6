import { findTablePrice } from '../../accounting/prices/price-table.ts';
import type { Reach } from '../../base/limits/reach.ts';
import type { Parameters } from '../../models/language-model.ts';
import type { Plan, Target } from './plan.ts';
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

/**
 * A plan whose providers all get a limit of output tokens: without one, the most that a call can cost is unknown. Nor
 * is it known how much of a limit counts that is larger than `assumed`, if it is unknown what the model can write.
 * @param assumed for those that would get none; undefined to leave the plan as it is
 */
export async function withAssumedOutput<Planned extends Plan>(
  plan: Planned,
  assumed: number | undefined,
): Promise<Planned> {
  if (assumed === undefined) return plan;
  const targets = await Promise.all(plan.targets.map((target) => withAssumedLimit(target, assumed)));
  if (targets.every((target, index) => target === plan.targets[index])) return plan;
  return { ...plan, targets, assumedOutputTokens: assumed };
}

/** The same for one target. */
export async function withAssumedLimit(target: Target, assumed: number): Promise<Target> {
  const { provider, request } = target;
  const { max_output_tokens: asked } = request.parameters ?? {};
  if (asked === undefined ? (await provider.outputLimit(request)) !== undefined : asked <= assumed) return target;
  if (asked !== undefined && isKnown(provider.id, request.model)) return target;
  return { ...target, request: { ...request, parameters: { ...request.parameters, max_output_tokens: assumed } } };
}

/** Whether it is known how many tokens the model writes at most. */
function isKnown(provider: string, model: string): boolean {
  return provider === 'echo' || findTablePrice(provider, model)?.mostOutputTokens !== undefined;
}
