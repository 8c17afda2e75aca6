import { expect } from '@jest/globals';
import type { Answer, CallOptions, TestService } from '../../../support/service.ts';
import { create } from '../../prompts-harness.ts';
import { labelPath, setLabel } from '../../labels/labels-harness.ts';
import { createDataset, ended } from '../runs/evaluations-harness.ts';

export const gatePath = (prompt: string, label = 'production'): string => `${labelPath(prompt, label)}/gate`;

/** The content of a version that answers `good` to the first cases, as many as `good` says, and `bad` to the others. */
export const answering = (good: number, note = ''): object => ({
  messages: [{ role: 'user', content: `{{upto${good}}}${note}` }],
  selected_provider: 'echo',
});

const levels = [60, 97, 100];

/** Sets a data set of 100 cases, of which a version passes as many as it says. */
export async function createLevels(service: TestService, name: string, count = 100): Promise<string> {
  const lines = Array.from({ length: count }, (_, index) => levelCase(`case-${index}`, index));
  return await createDataset(service, name, lines);
}

export function levelCase(id: string, index: number): string {
  const variables = Object.fromEntries(levels.map((level) => [`upto${level}`, index < level ? 'good' : 'bad']));
  return JSON.stringify({ id, variables, checks: [{ type: 'contains', value: 'good' }] });
}

/** Creates a prompt whose versions answer so. @returns its id */
export async function createVersionsOf(service: TestService, first: object, ...others: object[]): Promise<string> {
  const { id } = await create(service, first as Record<string, unknown>);
  for (const body of others) {
    const { status } = await service.call('PUT', `/api/v1/prompts/${id}`, { body });
    expect(status).toBe(200);
  }
  return id;
}

export async function setGate(
  service: TestService,
  prompt: string,
  body: object,
  options: CallOptions & { readonly label?: string } = {},
): Promise<Answer> {
  const { label = 'production', ...rest } = options;
  return await service.call('PUT', gatePath(prompt, label), { body, headers: { 'If-Match': '*' }, ...rest });
}

/** Sets a gate that did not exist. */
export async function addGate(
  service: TestService,
  prompt: string,
  body: object,
  label = 'production',
): Promise<Answer> {
  const answer = await setGate(service, prompt, body, { label, headers: {} });
  expect(answer.text).toContain('"label"');
  expect(answer.status).toBe(201);
  return answer;
}

export function move(
  service: TestService,
  prompt: string,
  version: number,
  options: CallOptions & { readonly label?: string; readonly override?: string } = {},
): Promise<Answer> {
  const { label = 'production', override, ...rest } = options;
  const body = { version, ...(override !== undefined && { override }) };
  return service.call('PUT', labelPath(prompt, label), { body, headers: { 'If-Match': '*' }, ...rest });
}

/** Lets a label name a version, before it has a gate. */
export async function name(service: TestService, prompt: string, version: number, label = 'production'): Promise<void> {
  expect((await setLabel(service, prompt, label, version)).status).toBe(201);
}

export function evaluate(
  service: TestService,
  prompt: string,
  body: object,
  options: CallOptions & { readonly label?: string } = {},
): Promise<Answer> {
  const { label, ...rest } = options;
  return service.call('POST', `${gatePath(prompt, label)}/evaluations`, { body, ...rest });
}

/** Evaluates a version for the gate, and waits. @returns the evaluation */
export async function evaluated(service: TestService, prompt: string, body: object): Promise<Answer['body']> {
  const { status, text, body: started } = await evaluate(service, prompt, body);
  if (status !== 202) throw new Error(text);
  return await ended(service, (started as { id: string }).id);
}

export async function ask(service: TestService, prompt: string, version: number): Promise<Answer['body']> {
  const { status, body, text } = await service.call('GET', `${gatePath(prompt)}/versions/${version}`);
  if (status !== 200) throw new Error(text);
  return body;
}
