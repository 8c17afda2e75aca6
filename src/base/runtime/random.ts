import { randomUUID } from 'node:crypto';

/** Source of ids and random numbers, passed to all code that needs them. Keys and secrets come from `node:crypto`. */
export interface Random {
  /** An unguessable UUID of version 4. */
  readonly uuid: () => string;
  /** At least 0, below 1. For example, to vary pauses. */
  readonly fraction: () => number;
}

export const systemRandom: Random = { uuid: () => randomUUID(), fraction: () => Math.random() };
