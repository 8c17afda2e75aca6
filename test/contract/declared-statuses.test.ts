import { globSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { readNotes } from '../support/run-notes.ts';

const files = globSync('test/**/*.test.ts', { cwd: path.join(import.meta.dirname, '../..') });
/** Then all other files were given to a worker before this one (test/support/jest/sequencer.mjs). */
const isWholeRun = Number(process.env['TEST_FILES']) === files.length;

(isWholeRun ? it : it.skip)(
  'every status that an operation declares was answered in some test',
  async () => {
    while (readNotes().ended.size < files.length - 1) await sleep(200);
    const declared = Object.entries<OperationRow>(operationTable).flatMap(([operation, { responses }]) =>
      Object.keys(responses)
        .filter((status) => status !== 'default')
        .map((status) => `${operation} ${status}`),
    );
    const { answers } = readNotes();
    expect(declared.filter((answer) => !answers.has(answer))).toEqual([]);
  },
  600_000,
);
