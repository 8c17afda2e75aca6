import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Answer, TestService } from '../support/service.ts';

export const promptsPath = '/api/v1/prompts';

/** Documents that a test reads or damages. */
export interface RawDocument {
  _id: string;
  [field: string]: unknown;
}

export interface PromptBody {
  name: string;
  messages: { role: string; content: string }[];
  [member: string]: unknown;
}

/** A valid body, with its own name by default. */
export function promptBody(members: Record<string, unknown> = {}): PromptBody {
  return { name: `Prompt ${randomUUID().slice(0, 8)}`, messages: [{ role: 'user', content: 'Hello' }], ...members };
}

/** Creates a prompt. Returns it with its entity tag. */
export async function create(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<{ id: string; slug: string; etag: string; body: Answer['body'] }> {
  const answer = await service.call('POST', promptsPath, { body: promptBody(members) });
  expect(answer.status).toBe(201);
  const body = answer.body as { id: string; slug: string };
  return { id: body.id, slug: body.slug, etag: answer.headers['etag'] ?? '', body };
}

/** One message with this text. */
export function saying(content: string): { messages: { role: string; content: string }[] } {
  return { messages: [{ role: 'user', content }] };
}

/** A prompt with versions 1 to `count` and the texts `v1`, `v2` … */
export async function createVersions(service: TestService, count: number): Promise<{ id: string; slug: string }> {
  const prompt = await create(service, saying('v1'));
  for (let version = 2; version <= count; version += 1) {
    const { body } = await service.call('PUT', `${promptsPath}/${prompt.id}`, { body: saying(`v${version}`) });
    expect(body.version).toBe(version);
  }
  return prompt;
}
