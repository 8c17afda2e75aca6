import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { createBudget } from '../../src/limits/memory-budget.ts';
import document from '../../generated/openapi.json' with { type: 'json' };
import { operationTable } from '../../generated/operations.ts';
import { allScopes } from '../../src/app.ts';
import { ProblemError } from '../../src/errors/problem-error.ts';
import type { OperationHandlers } from '../../src/http/operation.ts';
import type { Exchange } from '../../src/http/pipeline.ts';
import { createReferee } from '../../src/http/referee.ts';
import { createRouter } from '../../src/http/router.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { findOperation } from './find-operation.ts';
import type { GeneratedRequest } from './request-arbitraries.ts';

/** Whether a request keeps the contract, and if not, why. */
export interface Opinion {
  readonly accepted: boolean;
  readonly reason: string;
}

/** What service and referee say about the same request. */
export interface Opinions {
  readonly service: Opinion;
  readonly referee: Opinion;
}

/** What the handlers of {@link createSecondOpinion} answer: the request got as far as that. */
const reached = 'not-cached';

/**
 * Shows requests to the service's own request pipeline (router, body reader, parameters, generated validators), with
 * handlers that do nothing, and to the contract referee. No socket is involved.
 */
export function createSecondOpinion(): (request: GeneratedRequest) => Promise<Opinions> {
  const referee = createReferee(document);
  const waiting = new Map<string, (exchange: Exchange) => void>();
  const handlers = Object.fromEntries(
    Object.keys(operationTable).map((id) => [
      id,
      () => Promise.reject(new ProblemError(reached, { detail: 'reached' })),
    ]),
  ) as unknown as OperationHandlers;
  const application = createRouter(handlers, {
    authenticate: () => Promise.resolve({ keyId: 'test', name: 'test', scopes: new Set(allScopes) }),
    rateLimiter: { count: () => ({}) },
    lists: { run: (_call, list) => list() },
    idempotency: { run: async (_request, work) => ({ answer: await work('test'), replayed: false }) },
    log: createLogger('silent'),
    memory: createBudget({ perKey: Infinity, perProcess: Infinity }),
    idempotencyTermMs: () => 1_000,
    onExchange: (exchange) => waiting.get(exchange.requestId)?.(exchange),
  });
  let count = 0;

  const askService = async (generated: GeneratedRequest): Promise<Opinion> => {
    count += 1;
    const requestId = `request-${count}`;
    const bytes = generated.body === undefined ? undefined : Buffer.from(generated.body);
    const request = new IncomingMessage(new Socket());
    Object.assign(request, {
      method: generated.method,
      url: generated.url,
      headers: {
        ...generated.headers,
        ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
        'x-request-id': requestId,
      },
    });
    if (bytes !== undefined) request.push(bytes);
    request.push(null);
    const exchange = await new Promise<Exchange>((resolve) => {
      waiting.set(requestId, resolve);
      application(request as Request, new ServerResponse(request) as Response);
    });
    waiting.delete(requestId);
    const { status, body } = exchange.answer;
    return { accepted: status < 400 || body.includes(`:${reached}"`), reason: body };
  };

  const askReferee = async ({ method, url, headers, body }: GeneratedRequest): Promise<Opinion> => {
    let parsed: unknown;
    try {
      const operationId = findOperation(method, url);
      const takesBody = operationId !== undefined && operationTable[operationId].body !== 'none';
      parsed = takesBody && body !== undefined && body !== '' ? JSON.parse(body) : undefined;
    } catch {
      return { accepted: false, reason: 'is not JSON, and the referee reads nothing else' };
    }
    const { request } = await referee.judge({
      ...{ method, url, headers, body: parsed },
      // Only the request is to be judged, and the referee does not look at the answers of failed servers.
      answer: { status: 500, headers: {}, body: '' },
    });
    return request.accepted ? { accepted: true, reason: '' } : request;
  };

  return async (request) => ({ service: await askService(request), referee: await askReferee(request) });
}
