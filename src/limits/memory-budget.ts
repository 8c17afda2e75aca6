import { ProblemError } from '../errors/problem-error.ts';

/** Memory for work in progress, shared between API keys. All sizes are estimates, in bytes. */
export interface Budget {
  /**
   * Counts memory before it is taken. What is larger than half of a key's share counts as that half, so that anything
   * may run when its key has little else in progress.
   *
   * @returns gives it back; calling it again does nothing
   * @throws {ProblemError} too-much-in-progress when the key's share is used up, overloaded when that of all keys is
   */
  reserve(keyId: string, bytes: number): () => void;
  /** Counts memory that is already used, even above the limit. */
  hold(keyId: string, bytes: number): () => void;
}

export interface BudgetOptions {
  readonly perKey: number;
  readonly perProcess: number;
}

/** What a call of a provider takes beside its prompt: an answer of usual length in all its forms. */
export const callBytes = 64 * 1024;
/** What a character of a prompt takes, or a byte of a body: it is there as text, as JSON, and as bytes on a socket. */
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
