import { ProblemError } from '../errors/problem-error.ts';

/** Memory for work in progress, shared between API keys. All sizes are estimates, in bytes. */
export interface Budget {
  /**
   * Counts memory before it is used. A size above half of a key's share counts as that half, so that any request can
   * run if its key has little else in progress.
   *
   * @returns a function that gives the memory back; calling it again does nothing
   * @throws {ProblemError} too-much-in-progress if the key's share is used up, overloaded if that of all keys is
   */
  reserve(keyId: string, bytes: number): () => void;
  /** Counts memory that is already used, even above the limit. */
  hold(keyId: string, bytes: number): () => void;
}

export interface BudgetOptions {
  readonly perKey: number;
  readonly perProcess: number;
}

/** Bytes for a call of a provider, without its prompt: an answer of usual length in all its forms. */
export const callBytes = 64 * 1024;
/** Bytes for a character of a prompt: it is in memory as text, as JSON, and as bytes on a socket. */
export const copies = 8;

export function createBudget({ perKey, perProcess }: BudgetOptions): Budget {
  const byKey = new Map<string, number>();
  let total = 0;

  const hold = (keyId: string, bytes: number): (() => void) => {
    total += bytes;
    byKey.set(keyId, (byKey.get(keyId) ?? 0) + bytes);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      total -= bytes;
      const left = (byKey.get(keyId) ?? 0) - bytes;
      if (left > 0) byKey.set(keyId, left);
      else byKey.delete(keyId);
    };
  };
  return {
    hold,
    reserve(keyId, bytes) {
      const counted = Math.min(bytes, Math.floor(perKey / 2));
      if ((byKey.get(keyId) ?? 0) + counted > perKey) {
        throw new ProblemError('too-much-in-progress', {
          detail: 'The requests and test runs in progress for this API key use all the memory that it may have.',
          headers: { 'Retry-After': '2' },
        });
      }
      if (total + counted > perProcess) {
        throw new ProblemError('overloaded', {
          detail: 'The requests and test runs in progress use all the memory that is reserved for them.',
          headers: { 'Retry-After': '5' },
        });
      }
      return hold(keyId, counted);
    },
  };
}
