import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Request, Response } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { leaveOutNulls } from '../../src/http/left-out-nulls.ts';
import { createReferee } from '../../src/http/referee.ts';
import { createBareRouter } from './bare-router.ts';
import { findOperation } from './find-operation.ts';
import type { GeneratedRequest } from './request-arbitraries.ts';

/** Whether a request matches the contract, and if not, why. */
export interface Opinion {
  readonly accepted: boolean;
  readonly reason: string;
}

/** The opinions of service and referee about the same request. */
export interface Opinions {
  readonly service: Opinion;
  readonly referee: Opinion;
}

/** The answer of the handlers in {@link createSecondOpinion}: the request passed all checks. */
const reached = 'not-cached';

/**
 * Passes requests to the request pipeline of the service (router, body reader, parameters, generated validators) with
 * handlers that do nothing, and to the contract referee. It uses no sockets.
 */
export function createSecondOpinion(): (request: GeneratedRequest) => Promise<Opinions> {
  const referee = createReferee(document);
  const waiting = new Map<string, (exchange: Exchange) => void>();
  const application = createBareRouter(
    () => Promise.reject(new ProblemError(reached, { detail: 'reached' })),
    (exchange) => waiting.get(exchange.requestId)?.(exchange),
  );
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
    return { accepted: status < 400 || new RegExp(`[:"]${reached}"`).test(body), reason: body };
  };

  const askReferee = async ({ method, url, headers, body }: GeneratedRequest): Promise<Opinion> => {
    let parsed: unknown;
    try {
      const operationId = findOperation(method, url);
      const row: OperationRow | undefined = operationId && operationTable[operationId];
      const takesBody = row !== undefined && row.body !== 'none';
      parsed = takesBody && body !== undefined && body !== '' ? JSON.parse(body) : undefined;
      if (row?.nullsKeptIn !== undefined) leaveOutNulls(parsed, row.nullsKeptIn);
    } catch {
      return { accepted: false, reason: 'is not JSON, and the referee reads nothing else' };
    }
    const { request } = await referee.judge({
      method,
      url,
      headers,
      body: parsed,
      // Only the request is judged. The referee does not check the answers of failed servers.
      answer: { status: 500, headers: {}, body: '' },
    });
    return request.accepted ? { accepted: true, reason: '' } : request;
  };

  return async (request) => ({ service: await askService(request), referee: await askReferee(request) });
}
