import { expect } from '@jest/globals';
import type { components } from '../../generated/types.ts';
import type { Answer, TestService } from '../support/service.ts';
import { promptsPath } from './prompts-harness.ts';

type Schemas = components['schemas'];
export type Exported = Schemas['PromptExport'];

/** A prompt with a value in every member. The compiler reports one that is missing. */
export const everyMember: Required<Schemas['PromptCreate']> = {
  ...{ slug: 'every-member', aliases: ['every_1', 'every_2'], name: 'Every member', description: 'A "line"\nof text' },
  messages: [{ role: 'user', content: 'See {{what}}' }],
  variables: { what: { description: 'A thing', default: 'it' } },
  strict: true,
  ...{ selected_provider: 'echo', selected_model: 'echo-1' },
  parameters: { temperature: 0.25, stop: ['END'] },
  response_format: { type: 'json', schema: { type: 'object', properties: { z: {}, a: {} } } },
  tools: [{ name: 'find', parameters: { type: 'object' } }],
  tool_choice: 'auto',
  provider_options: { anthropic: { effort: 'low' } },
  fallbacks: [{ provider: 'echo' }],
  retries: 1,
  test_settings: { $where: ['a.b', null, 0.1] },
  ...{ invocation_content: 'off', note: 'The first' },
};

/** Everything that belongs to a prompt and not to an installation: the prompt, its versions and their notes. */
export async function wholeOf(service: TestService, slug: string): Promise<unknown> {
  const [prompt, versions] = await Promise.all(
    ['', '/versions'].map(async (rest) => (await service.call('GET', `${promptsPath}/${slug}${rest}`)).body),
  );
  const { id: _, created_at: __, updated_at: ___, ...members } = prompt ?? {};
  const listed = versions?.['data'] as Record<string, unknown>[];
  return { ...members, versions: listed.map(({ created_at: _at, author: _by, ...version }) => version) };
}

/** The text of an export. */
export async function exportText(service: TestService, query = ''): Promise<string> {
  const answer = await service.call('GET', `${promptsPath}/export${query}`);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/jsonl');
  return answer.text;
}

/** The prompts of an export. */
export function parseLines(text: string): Exported[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exported);
}

export function importPrompts(
  service: TestService,
  prompts: readonly unknown[],
  options: { conflicts?: string; dry_run?: boolean } = {},
): Promise<Answer> {
  return service.call('POST', `${promptsPath}/import`, { body: { prompts, ...options } });
}
