import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';
import supertest from 'supertest';
import document from '../../generated/openapi.json' with { type: 'json' };
import type { Scope } from '../../generated/operations.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createReferee } from '../../src/http/referee.ts';
import { disagreements } from '../../src/http/shadow.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService, type StartOptions } from '../../src/start.ts';
import { checkAnswer } from './contract-check.ts';
import { testDatabaseUri } from './database.ts';
import { recordAnswer } from './recorded-answers.ts';
import { adminKey } from './send.ts';

export interface CallOptions {
  /** Sent as JSON; a string is sent as it is, with the JSON media type. */
  body?: unknown;
  headers?: Record<string, string>;
  /** API key instead of the administrator's; `null` sends none. */
  key?: string | null;
  /** Names of known differences between service and referee that this call shows. */
  differs?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Parsed if the answer is JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form that they expect
  readonly body: any;
  readonly text: string;
}

export interface TestService {
  readonly url: string;
  readonly adminKey: string;
  /** The environment of the service, to start another one with it. */
  readonly environment: Record<string, string>;
  /**
   * Sends a request and checks the answer against the contract. With `SECOND_OPINION` the contract referee judges the
   * exchange, too. The call fails when either finds something.
   */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates an API key with these scopes. */
  createKey(...scopes: Scope[]): Promise<string>;
  close(): Promise<void>;
}

export interface TestServiceOptions {
  environment?: Record<string, string>;
  log?: Logger;
  createWebhooks?: NonNullable<StartOptions['createWebhooks']>;
  connectionLimits?: NonNullable<StartOptions['connectionLimits']>;
  onExchange?: NonNullable<StartOptions['onExchange']>;
  clock?: NonNullable<StartOptions['clock']>;
  streamTimes?: NonNullable<StartOptions['streamTimes']>;
  /** 0 by default, so that no test gets the probe result of an earlier test. */
  probesSharedForMs?: NonNullable<StartOptions['probesSharedForMs']>;
  /** The interval in which the service writes its statistics, in milliseconds. By default, it writes them only when it stops. */
  statisticsEveryMs?: number;
  /** A day by default, so that every check ends, however slow the machine is. */
  answerCheckMs?: number;
  invocationLogTimes?: NonNullable<StartOptions['invocationLogTimes']>;
  evaluationTimes?: NonNullable<StartOptions['evaluationTimes']>;
  print?: StartOptions['print'];
  /** Those of this release by default. */
  migrations?: NonNullable<StartOptions['migrations']>;
  migratorTimes?: NonNullable<StartOptions['migratorTimes']>;
}

/** Compiling what it needs takes seconds in each worker process. */
let madeReferee: ReturnType<typeof createReferee> | undefined;

/** Starts the real service on a free port, with a database of its own on the test run's server. */
export async function startTestService({
  environment = {},
  log = createLogger('silent'),
  createWebhooks,
  connectionLimits,
  onExchange,
  clock,
  streamTimes,
  probesSharedForMs = 0,
  statisticsEveryMs = 3_600_000,
  answerCheckMs = 86_400_000,
  invocationLogTimes,
  evaluationTimes,
  print = () => undefined,
  migrations,
  migratorTimes,
}: TestServiceOptions = {}): Promise<TestService> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'service-'));
  const full: Record<string, string> = {
    PORT: '0',
    DATA_DIR: dataDir,
    MONGODB_URI: testDatabaseUri(),
    MONGODB_DATABASE: `test_${randomUUID().slice(0, 8)}`,
    ADMIN_API_KEY: adminKey,
    RATE_LIMIT: 'off',
    REFUSED_KEYS_LIMIT: 'off',
    // It would be a third of what a start costs the database. It has tests of its own, and system tests start with it.
    DATABASE_CHECK: 'off',
    SHUTDOWN_GRACE_MS: '0',
    ...environment,
  };
  const exchanges = new Map<string, Exchange>();
  const ended = new EventEmitter().setMaxListeners(0);
  const service = await startService({
    config: loadConfig(full),
    environment: { ...process.env, ...full },
    log,
    print,
    probesSharedForMs,
    statisticsEveryMs,
    answerCheckMs,
    onExchange: (exchange) => {
      onExchange?.(exchange);
      exchanges.set(exchange.requestId, exchange);
      if (exchanges.size > 1_000) exchanges.delete(exchanges.keys().next().value ?? '');
      ended.emit(exchange.requestId);
    },
    ...(createWebhooks === undefined ? {} : { createWebhooks }),
    ...(connectionLimits === undefined ? {} : { connectionLimits }),
    ...(clock === undefined ? {} : { clock }),
    ...(streamTimes === undefined ? {} : { streamTimes }),
    ...(invocationLogTimes === undefined ? {} : { invocationLogTimes }),
    ...(evaluationTimes === undefined ? {} : { evaluationTimes }),
    ...(migrations === undefined ? {} : { migrations }),
    ...(migratorTimes === undefined ? {} : { migratorTimes }),
  });
  const send = supertest(service.url);

  const call = async (method: string, target: string, options: CallOptions = {}): Promise<Answer> => {
    const { body, headers = {}, key = adminKey } = options;
    const request = send[method.toLowerCase() as 'get'](target)
      .redirects(0)
      .ok(() => true);
    if (key !== null) request.set('authorization', `Bearer ${key}`);
    if (body !== undefined) request.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(headers)) request.set(name, value);
    if (body !== undefined) request.send(typeof body === 'string' ? body : JSON.stringify(body));
    const response = await request;
    const answer: Answer = {
      status: response.status,
      headers: Object.fromEntries(
        // Node has a list of the values of Set-Cookie.
        Object.entries(response.headers as Record<string, string | string[]>).map(([name, value]) => [
          name,
          String(value),
        ]),
      ),
      body: response.body as unknown,
      text: (response.text as string | undefined) ?? '',
    };
    const requestId = answer.headers['x-request-id'];
    // The caller can have all of a streamed answer before the service records its end. Pages have no request id.
    if (answer.status === 200 && requestId !== undefined && !exchanges.has(requestId)) await once(ended, requestId);
    const wrong = await judge(exchanges.get(requestId ?? ''), answer, options);
    if (wrong.length > 0) {
      throw new Error(
        `${method} ${target} answered ${answer.status}:\n  ${wrong.join('\n  ')}\n${answer.text.slice(0, 1_000)}`,
      );
    }
    return answer;
  };

  return {
    url: service.url,
    adminKey,
    environment: full,
    call,
    async createKey(...scopes) {
      const { body } = await call('POST', '/api/v1/api-keys', { body: { name: 'test', scopes } });
      return (body as { key: string }).key;
    },
    async close() {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The mistakes in an exchange that the contract check and, where it is asked, the referee find. */
async function judge(exchange: Exchange | undefined, answer: Answer, options: CallOptions): Promise<string[]> {
  if (exchange?.operationId === undefined) return [];
  const isHead = exchange.method === 'HEAD';
  if (!isHead) recordAnswer(exchange.operationId, answer);
  const wrong = isHead ? [] : checkAnswer(exchange.operationId, answer);
  // The tests of the contract ask it, and all others in `npm run test:nightly`.
  if (process.env['SECOND_OPINION'] !== 'on' || options.differs !== undefined) return wrong;
  madeReferee ??= createReferee(document);
  const opinion = await madeReferee.judge({
    method: exchange.method,
    url: exchange.url,
    headers: exchange.requestHeaders,
    body: exchange.requestBody,
    // The service does not keep streamed bytes, so the referee gets the received body.
    answer: exchange.stream === undefined ? exchange.answer : { ...exchange.answer, body: answer.text },
  });
  wrong.push(...disagreements(exchange, opinion));
  return wrong;
}
