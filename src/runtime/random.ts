import { randomUUID } from 'node:crypto';

/** Where ids and chance come from. Everything that needs them takes a source; keys and secrets are made by `node:crypto`. */
export interface Random {
  /** A UUID of version 4 that nobody can guess. */
  readonly uuid: () => string;
  /** At least 0, below 1; to spread waits. */
  readonly fraction: () => number;
}

export const systemRandom: Random = { uuid: () => randomUUID(), fraction: () => Math.random() };
