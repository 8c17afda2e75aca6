import {
  operationTable,
  type Finder,
  type Limit,
  type LimitRule,
  type OperationId,
  type OperationRow,
} from '../../generated/operations.ts';
import { beyondLimits } from '../base/errors/beyond-limits.ts';
import type { Reach } from '../base/limits/reach.ts';
import type { OperationHandlers, RequestContext } from './operation.ts';

/**
 * What finds a resource by the name that a request has for it, by the collection in its path.
 * Each throws a ProblemError, the same for a resource beyond the reach as for one that does not exist.
 */
export type Finders = Readonly<Record<Finder, (name: string, reach: Reach) => Promise<{ readonly id: string }>>>;

interface Input {
  readonly path: Readonly<Record<string, string>>;
  readonly body?: { readonly location_id?: string };
  readonly context: RequestContext;
}
type Handler = (input: Input) => Promise<unknown>;

/** The last one is checked first. */
const limits: readonly Limit[] = ['models', 'prompts', 'locations'];

/**
 * Handlers that keep keys within their limits, as `x-limited` of the contract says. A resource that a path names is passed
 * on by its id, so that a slug cannot move to another one in between.
 */
export function limitPaths(handlers: OperationHandlers, finders: Finders): OperationHandlers {
  const rows: Readonly<Record<OperationId, OperationRow>> = operationTable;
  const limited = Object.entries(handlers).map(([operationId, handler]) => {
    const { limited: rules } = rows[operationId as OperationId];
    const keep = limits.reduce<Handler>(
      (next, limit) => keeping(limit, rules[limit], finders, next),
      handler as unknown as Handler,
    );
    return [operationId, keep];
  });
  return Object.fromEntries(limited) as OperationHandlers;
}

function keeping(limit: Limit, rule: LimitRule | undefined, finders: Finders, next: Handler): Handler {
  if (typeof rule !== 'object') return next;
  return async (input) => {
    const { reach } = input.context.principal;
    if (reach?.[limit] === undefined) return await next(input);
    if ('cannot' in rule) {
      // A key of some prompts that led to it counts, whatever its own limits are.
      if (rule.unless === 'locations' && reach.integrations) return await next(input);
      throw beyondLimits(`This key is limited to some ${limit}, so it cannot ${rule.cannot}.`);
    }
    const { finder, name } = rule;
    const { id } = await finders[finder]((name === 'location_id' ? input.body?.[name] : input.path[name]) ?? '', reach);
    return await next(name === 'location_id' ? input : { ...input, path: { ...input.path, [name]: id } });
  };
}
