import type { Express } from 'express';
import { operationTable } from '../../generated/operations.ts';
import { allScopes } from '../../src/app.ts';
import type { OperationHandlers } from '../../src/http/operation.ts';
import type { Exchange } from '../../src/http/pipeline.ts';
import { createRouter } from '../../src/http/router.ts';
import { createBudget } from '../../src/limits/memory-budget.ts';
import { createLogger } from '../../src/observability/logger.ts';

/**
 * The service's own request pipeline (router, body reader, parameters, generated validators) without anything behind it.
 * @param handle stands for the handler of every operation
 */
export function createBareRouter(handle: () => Promise<never>, onExchange: (exchange: Exchange) => void): Express {
  const handlers = Object.fromEntries(Object.keys(operationTable).map((id) => [id, handle]));
  return createRouter(handlers as unknown as OperationHandlers, {
    authenticate: () => Promise.resolve({ keyId: 'test', name: 'test', scopes: new Set(allScopes) }),
    rateLimiter: { count: () => ({}) },
    lists: { run: (_call, list) => list() },
    idempotency: { run: async (_request, work) => ({ answer: await work('test'), replayed: false }) },
    log: createLogger('silent'),
    memory: createBudget({ perKey: Infinity, perProcess: Infinity }),
    onExchange,
  });
}
