import { appendFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What one run of the tests has done so far. */
export interface RunNotes {
  /** Test files that have ended. */
  readonly ended: ReadonlySet<string>;
  /** Operation and status, such as `createPrompt 201`. */
  readonly answers: ReadonlySet<string>;
}

const noted = new Set<string>();

/** Opens a file for the notes of all worker processes of this run. */
export async function beginNotes(): Promise<void> {
  process.env['TEST_NOTES'] = path.join(await mkdtemp(path.join(tmpdir(), 'test-notes-')), 'notes.txt');
}

/** Notes that an operation answered with a status. */
export function noteAnswer(operationId: string, status: number): void {
  const line = `answer ${operationId} ${status}`;
  if (noted.has(line)) return;
  noted.add(line);
  note(line);
}

/** Notes that a test file has ended. */
export function noteEnd(file: string): void {
  note(`end ${file}`);
}

/** Reads the notes of all processes. */
export function readNotes(): RunNotes {
  const { TEST_NOTES } = process.env;
  const lines = TEST_NOTES === undefined ? [] : readFileSync(TEST_NOTES, 'utf8').split('\n');
  const of = (kind: string): Set<string> =>
    new Set(lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1)));
  return { ended: of('end'), answers: of('answer') };
}

function note(line: string): void {
  const { TEST_NOTES } = process.env;
  if (TEST_NOTES !== undefined) appendFileSync(TEST_NOTES, `${line}\n`);
}

/** Removes the file again. */
export async function removeNotes(): Promise<void> {
  const { TEST_NOTES } = process.env;
  if (TEST_NOTES !== undefined) await rm(path.dirname(TEST_NOTES), { recursive: true, force: true });
}
