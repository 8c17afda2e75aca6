/** Members of the contract are in snake case, and one thing has one name. */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

type Schema = Readonly<Record<string, unknown>>;

const root = path.join(import.meta.dirname, '../..');
const schemasOf = async (name: string): Promise<Readonly<Record<string, Schema>>> => {
  const text = await readFile(path.join(root, 'generated', name), 'utf8');
  return (JSON.parse(text) as { components: { schemas: Record<string, Schema> } }).components.schemas;
};

/** The names of all members of a schema, also of those in it. */
function membersOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(membersOf);
  const { properties = {}, items, additionalProperties, allOf, anyOf, oneOf, not } = schema as Schema;
  const parts = [...Object.values(properties as Schema), items, additionalProperties, allOf, anyOf, oneOf, not];
  return [...Object.keys(properties as Schema), ...parts.flatMap(membersOf)];
}

/** Names that partners know, and members that say more of the same thing. */
const known = {
  FeedEvent: ['targetUuid', 'targetId', 'createdAt'],
  InvocationResult: ['finishReason'],
  InvocationFinish: ['finishReason'],
  Usage: [
    ...['inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteInputTokens', 'cacheWrite1hInputTokens'],
    'reasoningTokens',
  ],
  Provider: ['defaultModel'],
};

it('has members in snake case, apart from those of events and names that partners know', async () => {
  const events = new Set(Object.keys(await schemasOf('asyncapi.json')));
  const schemas = Object.entries(await schemasOf('openapi.json')).filter(([name]) => !events.has(name));
  const others = schemas.flatMap(([name, schema]) => {
    const found = membersOf(schema).filter((member) => /[A-Z]/.test(member));
    return found.length === 0 ? [] : [[name, found] as const];
  });
  expect(Object.fromEntries(others)).toEqual(known);
});

it('has one name for one thing', async () => {
  const members = membersOf(Object.values(await schemasOf('openapi.json')));
  // It is `started_at`, `author`, `…_reason`, `status`, and `type` with `id` and `name`.
  expect(members).not.toContainEqual(expect.stringMatching(/^began|_began|^(created|made)_by$|_because$|^state$/));
});
