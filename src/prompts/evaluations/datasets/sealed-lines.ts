import type { CaseKeys } from './case-key-store.ts';
import type { CheckedLine } from './cases.ts';
import type { Case } from './dataset.ts';
import { mayBeSealed, openCase, sealCase, sealedFor } from './sealed-case.ts';

/** Lines as they are stored, of cases that were made of invocations with sealed content. */
export interface SealedLines {
  /** @returns the lines to store, in their order; undefined for one whose invocation was erased */
  seal(lines: readonly CheckedLine[]): Promise<(string | undefined)[]>;
  open(lines: readonly string[]): Promise<Case[]>;
  /** The cases of lines with their indexes. @param most of them */
  cases(lines: AsyncIterable<readonly [number, string]>, most: number): AsyncGenerator<readonly [number, Case]>;
  /** A part of a version as it is shown. */
  part(stored: Buffer): Promise<Buffer>;
}

/** Lines whose keys are read together. */
const linesAtOnce = 100;

export function createSealedLines(keys: Pick<CaseKeys, 'make' | 'find'>): SealedLines {
  const open: SealedLines['open'] = async (lines) => {
    const owners = lines.map(sealedFor);
    const found = await keys.find([...new Set(owners.filter((owner) => owner !== undefined))]);
    return lines.map((line, index) => openCase(line, found.get(owners[index] ?? '')));
  };
  return {
    open,
    async seal(lines) {
      const found = await keys.make([...new Set(lines.flatMap(({ sealedFor: owner }) => owner ?? []))]);
      return lines.map(({ line, sealedFor: owner }) => {
        if (owner === undefined) return line;
        const key = found.get(owner);
        return key && sealCase(line, key);
      });
    },
    async *cases(lines, most) {
      let left = most;
      for await (const some of together(lines, Math.min(linesAtOnce, most))) {
        const opened = await open(some.map(([, line]) => line));
        for (const [at, [index]] of some.entries()) {
          const one = opened[at];
          if (one !== undefined) yield [index, one];
          left -= 1;
          if (left <= 0) return;
        }
      }
    },
    async part(stored) {
      if (!mayBeSealed(stored)) return stored;
      const lines = stored.toString('utf8').split('\n').slice(0, -1);
      let text = '';
      for (let start = 0; start < lines.length; start += linesAtOnce) {
        const some = lines.slice(start, start + linesAtOnce);
        for (const one of await open(some)) text += `${JSON.stringify(one)}\n`;
      }
      return Buffer.from(text);
    },
  };
}

async function* together<Item>(items: AsyncIterable<Item>, count: number): AsyncGenerator<Item[]> {
  let some: Item[] = [];
  for await (const item of items) {
    some.push(item);
    if (some.length < count) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
