import type { Express, RequestHandler } from 'express';
import { operationTable } from '../../generated/operations.ts';
import { allScopes } from '../../src/access/api-keys/feature.ts';
import { createEventStreams } from '../../src/http/event-streams.ts';
import type { OperationHandlers } from '../../src/http/operation.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { PipelineDependencies } from '../../src/http/pipeline.ts';
import { createRouter } from '../../src/http/router.ts';
import { createMemoryBudget, type MemoryBudget } from '../../src/base/limits/memory-budget.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createTurns } from '../../src/base/runtime/turns.ts';

/** The API key of every request to a bare router. */
export const bareKeyId = 'test';

/**
 * The service's own request pipeline (router, body reader, parameters, generated validators) without anything behind it.
 * @param handle stands for the handler of every operation
 * @param memory for requests in progress; without it, there is always enough
 * @param pages pages outside the contract, by path
 */
export function createBareRouter(
  handle: () => Promise<never>,
  onExchange: (exchange: Exchange) => void,
  memory: MemoryBudget = createMemoryBudget({ perKey: Infinity, perProcess: Infinity }),
  pages: Readonly<Record<string, RequestHandler>> = {},
): Express {
  const handlers = Object.fromEntries(Object.keys(operationTable).map((id) => [id, handle]));
  const dependencies: PipelineDependencies = {
    authenticate: () =>
      Promise.resolve({ kind: 'key', id: bareKeyId, family: bareKeyId, name: 'test', scopes: new Set(allScopes) }),
    rateLimiter: { count: () => ({}) },
    lists: { run: (_call, list) => list() },
    streams: createEventStreams({ memory }),
    underWay: new Set(),
    idempotency: {
      async run(_request, work) {
        const done = await work('test');
        return { answer: 'begun' in done ? done.begun : done, replayed: false };
      },
    },
    log: createLogger('silent'),
    memory,
    turns: createTurns(),
    onExchange,
  };
  return createRouter(handlers as unknown as OperationHandlers, dependencies, [], pages);
}
