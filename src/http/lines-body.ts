/** Bodies of JSON Lines: read line by line as they arrive, so that nothing holds them whole. */
import { ProblemError, type ProblemDetail } from '../base/errors/problem-error.ts';
import type { RequestMemory } from '../base/limits/memory-budget.ts';
import type { Turns } from '../base/runtime/turns.ts';
import { BodyScanner } from './body-scanner.ts';
import { explainBody, isSmall } from './explain.ts';
import type { BodyLine, OperationRoute } from './operation.ts';
import { parseJson } from './parse-json.ts';

/** What the lines of a body take of the memory for requests at most: one line with its value, and what is made of it. */
const linesMemory = 4 * 1024 * 1024;
/** What is refused at once if there is none; more is waited for. */
const atOnceMemory = 512 * 1024;

/** Counts the memory for the lines of a body. @throws {ProblemError} too-much-in-progress, overloaded */
export async function coverLines(memory: RequestMemory, signal: AbortSignal): Promise<void> {
  await memory.cover(atOnceMemory, signal);
  await memory.cover(linesMemory, signal);
}

const newline = 0x0a;

/** JSON allows these around a value: tab, carriage return, space. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** The lines of a body, which comes in pieces. Throws what reading them throws. */
export async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  route: OperationRoute,
  turns: Turns,
): AsyncGenerator<BodyLine> {
  const { row } = route;
  const { lineLimit = row.bodyLimit } = row;
  let pieces: Buffer[] = [];
  let length = 0;
  let number = 1;
  const end = async (): Promise<BodyLine> => {
    const bytes = Buffer.concat(pieces);
    const isTooLong = length > lineLimit;
    pieces = [];
    length = 0;
    if (isTooLong) return { number, errors: [whole(`has more than ${lineLimit} bytes`)] };
    return { number, ...(await readLine(route, bytes)) };
  };
  for await (const chunk of chunks) {
    await turns();
    for (let from = 0; from <= chunk.length;) {
      // A body can be nothing but empty lines.
      for (let byte = chunk[from]; length === 0 && byte !== undefined; byte = chunk[from]) {
        if (byte === newline) number += 1;
        else if (!isBlank(byte)) break;
        from += 1;
      }
      const at = chunk.indexOf(newline, from);
      const piece = chunk.subarray(from, at === -1 ? chunk.length : at);
      length += piece.length;
      if (length <= lineLimit) pieces.push(piece);
      if (at === -1) break;
      await turns();
      yield await end();
      number += 1;
      from = at + 1;
    }
  }
  if (length > 0) yield await end();
}

type Read = { readonly value: unknown } | { readonly errors: readonly ProblemDetail[] };

async function readLine({ operationId, body: validate, thorough }: OperationRoute, bytes: Buffer): Promise<Read> {
  const scanner = new BodyScanner();
  const excess = scanner.scan(bytes);
  if (excess !== undefined) return { errors: [aboutLine(excess)] };
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { errors: error.errors ?? [aboutLine(error.message)] };
  }
  if (validate?.(value) !== false) return { value };
  const first = validate.errors ?? [];
  const all = isSmall(value, { parts: scanner.values, bytes: bytes.length })
    ? (await thorough())[`${operationId}Body`]
    : undefined;
  all?.(value);
  return { errors: explainBody(operationId, all?.errors ?? first) };
}

/** A sentence about a body, said of a line. */
function aboutLine(sentence: string): ProblemDetail {
  return whole(sentence.replace(/^The body /, '').replace(/\.$/, ''));
}

function whole(detail: string): ProblemDetail {
  return { detail, pointer: '#' };
}
