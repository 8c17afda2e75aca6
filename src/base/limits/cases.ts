import { beyondLimits } from '../errors/beyond-limits.ts';
import { insufficientScope } from '../errors/insufficient-scope.ts';
import type { Principal } from './principal.ts';

/** A caller with its scopes. */
export interface Reader extends Pick<Principal, 'kind' | 'reach'> {
  readonly scopes: ReadonlySet<string>;
}

/** Whether a caller may see cases of data sets, wherever they stand. They belong to no prompt. */
export function seesCases({ scopes, reach }: Reader): boolean {
  return scopes.has('datasets:read') && reach?.prompts === undefined;
}

/** @throws {ProblemError} insufficient-scope, beyond-limits */
export function requireCases(reader: Reader): void {
  if (!reader.scopes.has('datasets:read')) throw insufficientScope('datasets:read', reader.kind);
  if (!seesCases(reader))
    throw beyondLimits('This key is limited to some prompts, so it cannot read cases of data sets.');
}
