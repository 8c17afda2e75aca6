/**
 * The three servers of the request-path benchmark: `bare`, `validator` and `service`, each in its own process. All take
 * the body of createPrompt and answer 201 with a prompt. None has a database.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openSync } from 'node:fs';
import { pino } from 'pino';
import express from 'express';
import OpenApiValidator from 'express-openapi-validator';
import document from '../../generated/openapi.json' with { type: 'json' };
import { operationTable, type Scope } from '../../generated/operations.ts';
import { mintKey } from '../../src/access/api-keys/api-keys.ts';
import { createMemoryBudget } from '../../src/base/limits/memory-budget.ts';
import { createAuthentication } from '../../src/access/api-keys/authentication.ts';
import type { ApiKeyStore } from '../../src/access/api-keys/api-key-store.ts';
import type { OperationHandlers } from '../../src/http/operation.ts';
import { createHttpServer } from '../../src/http/listener.ts';
import { createListQueue } from '../../src/http/list-queue.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { createRouter } from '../../src/http/router.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { recordExchange } from '../../src/observability/record-exchange.ts';
import { system } from '../../src/base/runtime/system.ts';
import { createStatistics } from '../../src/accounting/statistics/statistics.ts';
import { createTurns } from '../../src/base/runtime/turns.ts';

const allScopes: Scope[] = ['prompts:read', 'prompts:write', 'prompts:invoke'];
const now = '2026-11-03T10:15:00.000Z';
const id = '5b1f0c9e-8a4d-4c6b-9f2e-3d7a1b5c8e60';

interface Body {
  name: string;
  messages: { role: 'user'; content: string }[];
}

function promptOf({ name, messages }: Body): object {
  return { id, slug: 'bench', name, messages, version: 1, created_at: now, updated_at: now };
}

function bare(): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = JSON.stringify(promptOf(JSON.parse(Buffer.concat(chunks).toString()) as Body));
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
      response.end(answer);
    });
  });
}

function validator(): Server {
  const app = express();
  app.use(express.json({ limit: '1mb' }));
  app.use(OpenApiValidator.middleware({ apiSpec: document as never, validateApiSpec: false, validateSecurity: false }));
  app.post('/api/v1/prompts', (request, response) => {
    response.status(201).json(promptOf(request.body as Body));
  });
  return createServer(app as RequestListener);
}

function service(): { server: Server; key: string } {
  const { key, secretHash } = mintKey(id);
  const stored = {
    id,
    revision: 1,
    name: 'bench',
    scopes: allScopes,
    secretHash,
    ancestors: [],
    createdAt: new Date(0),
  };
  const unset = {
    expiresAt: undefined,
    lastUsedAt: undefined,
    revokedAt: undefined,
    limits: undefined,
    author: undefined,
    person: undefined,
  };
  const store: Pick<ApiKeyStore, 'find' | 'touch'> = {
    find: () => Promise.resolve({ ...stored, ...unset }),
    touch: () => Promise.resolve(),
  };
  const authentication = createAuthentication({
    clock: system.clock,
    store: store as ApiKeyStore,
    allScopes: new Set(allScopes),
    adminKey: undefined,
    onError: () => undefined,
  });
  const unused = (): never => {
    throw new Error('not part of this benchmark');
  };
  const handlers = {
    ...Object.fromEntries(Object.keys(operationTable).map((name) => [name, unused])),
    createPrompt: ({ body }: { body: Body }) =>
      Promise.resolve({
        status: 201,
        headers: { Location: `/api/v1/prompts/${id}`, ETag: `"${id}.1"` },
        body: promptOf(body),
      }),
  };
  const metrics = createMetrics();
  const statistics = createStatistics({
    store: { write: unused, find: unused },
    healthStore: { write: unused, find: unused },
    ...system,
  });
  const log = createLogger('info', pino.destination({ fd: openSync('/dev/null', 'w'), sync: true, minLength: 4096 }));
  const application = createRouter(handlers as unknown as OperationHandlers, {
    authenticate: (caller) => authentication.authenticate(caller),
    rateLimiter: createRateLimiter({ requests: 1e9, windowSeconds: 60 }),
    lists: createListQueue(),
    streams: { start: unused, end: unused },
    underWay: new Set(),
    idempotency: { run: unused },
    log,
    memory: createMemoryBudget({ perKey: Infinity, perProcess: Infinity }),
    turns: createTurns(),
    onExchange: (exchange) => {
      recordExchange(exchange, log, metrics, statistics);
    },
  });
  return { server: createHttpServer(application).server, key };
}

process.on('SIGINT', () => process.exit(0));
const kind = process.argv[2];
const { server, key } =
  kind === 'service' ? service() : { server: kind === 'bare' ? bare() : validator(), key: 'none' };
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port, key });
});
