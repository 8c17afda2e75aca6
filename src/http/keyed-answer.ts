/** Answers that are kept for an `Idempotency-Key`. */
import type { OperationRow } from '../../generated/operations.ts';
import { ProblemError } from '../base/errors/problem-error.ts';
import type { BegunAnswer, Idempotency, KeptAnswer } from './idempotency/idempotency.ts';
import { SecretUnreadableError, type Sealed, type SecretBox } from '../base/secrets/secret-box.ts';
import { serialise, streamed, type HandlerResult } from './answer.ts';
import type { EventStream, StreamedAnswer } from './answer-stream.ts';
import type { RawAnswer } from './problem-response.ts';

export interface KeyedRequest {
  /** Of the API key. */
  readonly family: string;
  readonly key: string;
  /** The API key, operation and path that the key belongs to. */
  readonly scope: string;
  readonly body: unknown;
  readonly termMs: number;
  /** Encrypts the stored answer. */
  readonly box: Pick<SecretBox, 'seal' | 'open'> | undefined;
}

/**
 * The answer of the first request with a key, or of this one if it is the first.
 *
 * @param handle gets the id for a new resource
 * @throws {ProblemError} those of `Idempotency.run` and of the handler; secret-unreadable
 */
export async function keyedAnswer(
  { key, body, box, ...keyed }: KeyedRequest,
  row: OperationRow,
  idempotency: Pick<Idempotency, 'run'>,
  handle: (resourceId: string) => Promise<HandlerResult>,
): Promise<RawAnswer | StreamedAnswer> {
  const { scope } = keyed;
  const seal = (answer: KeptAnswer): KeptAnswer =>
    box === undefined ? answer : { ...answer, body: box.seal(answer.body, scope) };
  const work = async (resourceId: string): Promise<KeptAnswer | BegunAnswer<StreamedAnswer>> => {
    const result = await handle(resourceId);
    if (result.stream === undefined) return seal(serialise(row, result));
    // The types allow only streams of events here.
    const stream = result.stream as EventStream;
    const begun = streamed(result, stream);
    const { status, headers } = begun;
    const { whole } = stream;
    if (whole === undefined) throw new Error('the answer cannot be kept');
    return {
      begun,
      whole: whole.then((text) => seal({ status, headers, body: text })),
      onStored() {
        stream.stored();
      },
    };
  };
  // A hash of the body is stored. It includes the key, which is not stored, so a weak password cannot be guessed from it.
  const hashed = box === undefined ? body : { key, body };
  const { answer, replayed } = await idempotency.run({ ...keyed, key, body: hashed }, work);
  if ('stream' in answer) return answer;
  const opened = box === undefined ? answer : { ...answer, body: openBody(answer.body, scope, box) };
  return replayed ? { ...opened, headers: { ...opened.headers, 'idempotency-replayed': 'true' } } : opened;
}

function openBody(text: string, scope: string, box: Pick<SecretBox, 'open'>): string {
  try {
    return box.open(text as Sealed, scope);
  } catch (cause) {
    if (!(cause instanceof SecretUnreadableError)) throw cause;
    const detail =
      'The service cannot decrypt the stored answer for this Idempotency-Key. Its key is not in SECRETS_KEY.';
    throw new ProblemError('secret-unreadable', { detail, cause });
  }
}
