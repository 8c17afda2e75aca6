import { insufficientScope } from '../../base/errors/insufficient-scope.ts';
import type { Prompt } from '../prompt.ts';

/** Who asks. */
interface Scoped {
  readonly scopes: { has(scope: 'prompts:override'): boolean };
}

/** @throws {ProblemError} insufficient-scope for a key that may not take responsibility for what no gate lets in */
export function requireOverride({ scopes }: Scoped): void {
  if (!scopes.has('prompts:override')) throw insufficientScope('prompts:override');
}

/**
 * Callers reach a gated label by the names of its prompt. Whoever could give such a name to another prompt, or delete the
 * prompt and create another one, would go around the gate.
 * @throws {ProblemError} insufficient-scope if the prompt has gates
 */
export function requireNoGates({ gates }: Pick<Prompt, 'gates'>, principal: Scoped): true {
  if (gates !== undefined) requireOverride(principal);
  return true;
}
