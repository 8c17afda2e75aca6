import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { setUp, unknownId, type Setup } from '../catalog/harness.ts';
import type { ReceivedRequest } from '../support/receiver.ts';
import type { Answer, TestService } from '../support/service.ts';

export const path = '/api/v1/integrations';
export const missingPath = `${path}/${unknownId}`;
export const secret = 'EXAMPLE-not-a-real-secret-0123456789';
export const nextSecret = 'EXAMPLE-not-a-real-secret-9876543210';
export const mask = '********';

/** A service that may send to receivers of the tests. */
export function setUpIntegrations(): Setup {
  return setUp({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
}

/** What a valid request to create an integration has. */
export function integrationBody(members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'Kitchen display',
    url: 'https://kitchen.example.com/hooks/orders',
    event_types: ['ORDER_PLACED', 'FISCAL_DAY_END'],
    ...members,
  };
}

/** An integration that was created, with its entity tag. */
export interface CreatedIntegration {
  readonly id: string;
  readonly path: string;
  readonly etag: string;
  readonly body: Answer['body'];
}

export async function createIntegration(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<CreatedIntegration> {
  const { status, body, headers } = await service.call('POST', path, { body: integrationBody(members) });
  expect(status).toBe(201);
  const { id } = body as { id: string };
  return { id, path: `${path}/${id}`, etag: headers['etag'] ?? '', body };
}

/** Looks again and again until an answer is as wanted. */
export async function eventually(
  service: TestService,
  target: string,
  isWanted: (body: Answer['body']) => boolean,
): Promise<Answer> {
  for (let end = Date.now() + 10_000; ;) {
    const answer = await service.call('GET', target);
    if (isWanted(answer.body)) return answer;
    if (Date.now() > end) throw new Error(`${target} is still ${answer.text}`);
    await sleep(20);
  }
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

/** Headers of a received request as a library for Standard Webhooks takes them. */
export function standardHeaders({ headers }: ReceivedRequest): Record<string, string> {
  return {
    'webhook-id': headers['webhook-id'] ?? '',
    'webhook-timestamp': headers['webhook-timestamp'] ?? '',
    'webhook-signature': headers['webhook-signature'] ?? '',
  };
}
