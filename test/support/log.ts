import type { DatabaseLog } from '../../src/db/log.ts';

/** Writes a line per message to standard error, where Jest's own progress goes. */
export const consoleLog: DatabaseLog = {
  info: (_fields, message) => {
    process.stderr.write(`${message}\n`);
  },
  warn: (_fields, message) => {
    process.stderr.write(`${message}\n`);
  },
};

/** Keeps messages for a test to look at. */
export function recordingLog(): DatabaseLog & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (fields: Record<string, unknown>, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { lines, info: keep, warn: keep };
}

/** Keeps nothing. */
export const silentLog: DatabaseLog = { info: () => undefined, warn: () => undefined };
