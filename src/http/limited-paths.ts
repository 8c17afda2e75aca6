import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';
import { beyondLimits } from '../base/errors/beyond-limits.ts';
import type { Reach } from '../base/limits/reach.ts';
import type { OperationHandlers, RequestContext } from './operation.ts';

/** What limits a key to some of a kind of resource. */
type Limit = 'prompts' | 'locations';

/** What some operations do for a key with a limit. They are matched as `GET /v1/orders/{id}`. */
export type LimitRule = { readonly on: RegExp } & (
  | {
      /** The request names a resource here, in its path or as `location_id` of its body. It must be within reach. */
      readonly names: 'slugOrId' | 'id' | 'location_id';
      /** @throws {ProblemError} the same for a resource beyond the reach as for one that does not exist */
      readonly find: (name: string, reach: Reach) => Promise<{ readonly id: string }>;
    }
  /** They are refused, as the end of a sentence: what the key cannot do. */
  | { readonly cannot: string; /** Keys for which they are not refused. */ readonly unless?: (reach: Reach) => boolean }
  /** Their handlers keep to the limit, or it does not concern them. */
  | { readonly isKept: true }
);

/** The rules for each limit. The first that matches an operation applies. */
export type LimitRules = Readonly<Record<Limit, readonly LimitRule[]>>;

interface Input {
  readonly path: Readonly<Record<string, string>>;
  readonly body?: { readonly location_id?: string };
  readonly context: RequestContext;
}
type Handler = (input: Input) => Promise<unknown>;

/**
 * Handlers that keep keys within their limits. A resource that a path names is passed on by its id, so that a slug cannot
 * move to another one in between.
 *
 * @throws Error if no rule matches an operation, so that none is forgotten
 */
export function limitPaths(handlers: OperationHandlers, rules: LimitRules): OperationHandlers {
  const rows: Readonly<Record<OperationId, OperationRow>> = operationTable;
  const limited = Object.entries(handlers).map(([operationId, handler]) => {
    const { method, path, needsKey } = rows[operationId as OperationId];
    if (!needsKey) return [operationId, handler];
    const keep = (Object.keys(rules) as Limit[]).reduce<Handler>(
      (next, limit) => {
        const rule = rules[limit].find(({ on }) => on.test(`${method} ${path}`));
        if (rule === undefined)
          throw new Error(`${operationId} has no rule for keys that are limited to some ${limit}`);
        return 'isKept' in rule ? next : keeping(limit, rule, next);
      },
      handler as unknown as Handler,
    );
    return [operationId, keep];
  });
  return Object.fromEntries(limited) as OperationHandlers;
}

function keeping(limit: Limit, rule: Exclude<LimitRule, { readonly isKept: true }>, next: Handler): Handler {
  return async (input) => {
    const { reach } = input.context.principal;
    if (reach?.[limit] === undefined) return await next(input);
    if ('cannot' in rule && rule.unless?.(reach) === true) return await next(input);
    if ('cannot' in rule) throw beyondLimits(`This key is limited to some ${limit}, so it cannot ${rule.cannot}.`);
    const { names, find } = rule;
    const { id } = await find((names === 'location_id' ? input.body?.[names] : input.path[names]) ?? '', reach);
    return await next(names === 'location_id' ? input : { ...input, path: { ...input.path, [names]: id } });
  };
}
