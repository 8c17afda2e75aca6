import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { eventTypes } from '../../../generated/events.ts';
import { unknownId } from '../../orders/catalog/catalog-harness.ts';
import { problem, setUp, type Setup } from '../../support/per-operation.ts';
import { startReceiver, type ReceivedRequest, type Receiver } from '../../support/receiver.ts';
import type { Answer, TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

export const path = '/api/v1/integrations';
const missingPath = `${path}/${unknownId}`;
export const secret = 'EXAMPLE-not-a-real-secret-0123456789';
export const nextSecret = 'EXAMPLE-not-a-real-secret-9876543210';
export const mask = '********';

/** Starts a service that can send to the receivers of tests, and a receiver for each test. */
export function setUpIntegrations(environment: Record<string, string> = {}): Setup & { readonly receiver: Receiver } {
  const setup = setUp({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', ...environment });
  const receivers: Receiver[] = [];
  // A test gets no retries of earlier tests. Their receivers stay open for them.
  beforeEach(async () => {
    receivers.push(await startReceiver());
  });
  afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));
  return {
    get service() {
      return setup.service;
    },
    get database() {
      return setup.database;
    },
    get receiver() {
      const receiver = receivers.at(-1);
      if (receiver === undefined) throw new Error('only in a test');
      return receiver;
    },
  };
}

/** A valid request to create an integration. */
/** A body for an integration without a secret, unless the members have one. */
function unsignedBody(members: Record<string, unknown> = {}): Record<string, unknown> {
  const isSigned = 'secret' in members;
  return integrationBody({ ...(!isSigned && { unsigned: true }), ...members });
}

export function integrationBody(members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'Kitchen display',
    url: 'https://kitchen.example.com/hooks/orders',
    event_types: ['ORDER_PLACED', 'FISCAL_DAY_END'],
    ...members,
  };
}

/** A created integration with its entity tag. */
export interface CreatedIntegration {
  readonly id: string;
  readonly path: string;
  /** The list of its deliveries. */
  readonly deliveries: string;
  readonly etag: string;
  readonly body: Answer['body'];
}

export async function createIntegration(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<CreatedIntegration> {
  const { status, body, headers } = await service.call('POST', path, { body: unsignedBody(members) });
  expect(status).toBe(201);
  const { id } = body as { id: string };
  return {
    id,
    path: `${path}/${id}`,
    deliveries: `/api/v1/deliveries?integration_id=${id}`,
    etag: headers['etag'] ?? '',
    body,
  };
}

/** Reads the schemas of all events from the service. @returns the validator of a type */
export async function publishedSchemas(service: TestService): Promise<(type: string) => ValidateFunction> {
  const ajv = formats.default(new Ajv2020(), { mode: 'full' });
  const pathOf = (type: string): string => `/schemas/events/${type}/v1.json`;
  for (const type of eventTypes) ajv.addSchema((await (await fetch(service.url + pathOf(type))).json()) as object);
  return (type) => {
    const validator = ajv.getSchema(pathOf(type));
    if (validator === undefined) throw new Error(`The service publishes no schema of ${type}.`);
    return validator;
  };
}

/** Repeats a request until its answer satisfies a condition. */
export function eventually(
  service: TestService,
  target: string,
  isWanted: (body: Answer['body']) => boolean,
): Promise<Answer> {
  return until(
    () => service.call('GET', target),
    ({ body }) => isWanted(body),
  );
}

/** Sends a test event. @returns the delivery */
export async function sendTest(
  service: TestService,
  { path: integration }: CreatedIntegration,
): Promise<Answer['body']> {
  const { status, body } = await service.call('POST', `${integration}/test`);
  expect(status).toBe(202);
  return body;
}

/** Makes a receiver fail, so that its deliveries pause for ten minutes. @returns the integration after that */
export async function openBreaker(
  service: TestService,
  receiver: Receiver,
  integration: CreatedIntegration,
): Promise<Answer> {
  receiver.next({ kind: 'answer', status: 503, headers: { 'Retry-After': '600' } });
  await sendTest(service, integration);
  return eventually(
    service,
    integration.path,
    (body) => body.retrying_until !== undefined && body.failing_delivery !== undefined,
  );
}

/** The headers of a received request, in the form that a Standard Webhooks library expects. */
export function standardHeaders({ headers }: ReceivedRequest): Record<string, string> {
  return {
    'webhook-id': headers['webhook-id'] ?? '',
    'webhook-timestamp': headers['webhook-timestamp'] ?? '',
    'webhook-signature': headers['webhook-signature'] ?? '',
  };
}

/** A call on an integration. */
export interface IntegrationCall {
  readonly method: string;
  /** The part after the path of the integration, such as `/pause`. */
  readonly suffix?: string;
  readonly body?: unknown;
}

/** Tests that an operation on one integration answers 404 if it does not exist. */
export function describeMissing(setup: Setup, { method, suffix = '', body }: IntegrationCall): void {
  describe('404', () => {
    it('says that the integration does not exist', async () => {
      const options = body === undefined ? {} : { body };
      const answer = await setup.service.call(method, `${missingPath}${suffix}`, options);
      expect(answer.status).toBe(404);
      expect(answer.body.type).toBe(problem('integration-not-found'));
    });
  });
}

/** What the operations that send something have in common: a repetition with the same key sends nothing. */
export function describeRepetition(
  setup: Setup,
  prepare: () => Promise<{ readonly path: string; readonly body?: unknown }>,
): void {
  describe('Idempotency-Key', () => {
    it('sends once, and replays the answer', async () => {
      const { path: target, body } = await prepare();
      const options = { headers: { 'Idempotency-Key': randomUUID() }, ...(body === undefined ? {} : { body }) };
      const first = await setup.service.call('POST', target, options);
      const second = await setup.service.call('POST', target, options);
      expect([first.status, second.status]).toEqual([202, 202]);
      expect(second.text).toBe(first.text);
      expect(second.headers['location']).toBe(first.headers['location']);
      expect(second.headers['idempotency-replayed']).toBe('true');
      const third = await setup.service.call('POST', target, body === undefined ? {} : { body });
      expect(third.body.id).not.toBe(first.body.id);
    });

    it('is in use while the first request is in progress', async () => {
      const { path: target, body } = await prepare();
      const options = { headers: { 'Idempotency-Key': randomUUID() }, ...(body === undefined ? {} : { body }) };
      const answers = await Promise.all(Array.from({ length: 5 }, () => setup.service.call('POST', target, options)));
      const ids = answers.flatMap((answer) => (answer.status === 202 ? [answer.body.id as string] : []));
      expect(new Set(ids).size).toBe(1);
      for (const answer of answers) {
        if (answer.status !== 202) expect(answer.body.type).toBe(problem('idempotency-key-in-use'));
      }
    });
  });
}
