import { expect, it } from '@jest/globals';
import type { PromptStore } from '../../src/prompts/prompt-store.ts';
import type { Prompt, PromptVersion } from '../../src/prompts/prompt.ts';
import { createExport } from '../../src/prompts/transfer/export-prompts.ts';

const count = 100;

/** A store of prompts with two earlier versions each. @param characters of each version */
function storeOf(characters: number): {
  readonly store: Pick<PromptStore, 'listAll' | 'fetch' | 'fetchArchived'>;
  /** How many prompts and versions were read, and how many commands asked for them. */
  readonly read: { documents: number; commands: number };
} {
  const read = { documents: 0, commands: 0 };
  const content = {
    messages: [{ role: 'user', content: 'x'.repeat(characters) }],
  } as unknown as PromptVersion['content'];
  const all = async function* <Name, Item>(names: readonly Name[], toItem: (name: Name) => Item): AsyncGenerator<Item> {
    read.commands += 1;
    for (const name of names) {
      read.documents += 1;
      yield await Promise.resolve(toItem(name));
    }
  };
  const promptOf = (id: string): Prompt =>
    ({ id, slug: id, name: id, aliases: [], version: 3, deleting: false, ...content }) as unknown as Prompt;
  return {
    read,
    store: {
      listAll: () =>
        Promise.resolve(Array.from({ length: count }, (_, index) => ({ id: `p${index}`, slug: `p${index}`, at: 0 }))),
      fetch: (ids) => all(ids, promptOf),
      fetchArchived: (names) => all(names, (name) => ({ ...name, content }) as PromptVersion),
    },
  };
}

const whole = { reach: undefined, after: undefined, isOnlyCurrent: false };

it('reads large prompts one at a time, while the caller takes what was read', async () => {
  const { store, read } = storeOf(900_000);
  const lines = createExport(store)(whole, () => undefined)[Symbol.asyncIterator]();
  const sizes: number[] = [];
  for (let pieces = 1; pieces <= 12; pieces += 1) {
    const { value } = (await lines.next()) as IteratorYieldResult<Uint8Array>;
    sizes.push(value.length);
    expect(read.documents).toBeLessThanOrEqual(pieces + 1);
  }
  expect(Math.max(...sizes)).toBeLessThan(1_000_000);
});

it('reads small prompts together', async () => {
  const { store, read } = storeOf(100);
  const texts: Uint8Array[] = [];
  for await (const text of createExport(store)(whole, () => undefined)) texts.push(text);
  expect(Buffer.concat(texts).toString().split('\n')).toHaveLength(count + 1);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
  expect(read.documents).toBe(3 * count);
  expect(read.commands).toBeLessThan(30);
});
