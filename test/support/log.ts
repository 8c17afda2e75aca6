import type { DatabaseLog } from '../../src/storage/db/log.ts';

/** Writes each message to standard error, where Jest shows its progress. */
export const consoleLog: DatabaseLog = {
  info: (_fields, message) => {
    process.stderr.write(`${message}\n`);
  },
  warn: (_fields, message) => {
    process.stderr.write(`${message}\n`);
  },
};

/** Records messages for a test. */
export function recordingLog(): DatabaseLog & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (fields: Record<string, unknown>, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { lines, info: keep, warn: keep };
}

/** Discards all messages. */
export const silentLog: DatabaseLog = { info: () => undefined, warn: () => undefined };
