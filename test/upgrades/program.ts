/** The next release as a process of its own, which stops in the middle of its migration: says so, and waits to be killed. */
import { loadConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService } from '../../src/start.ts';
import { addedFields, nextMigrations, quickTimes } from './next-release.ts';

const print = (line: string): void => void process.stderr.write(`${line}\n`);
const config = loadConfig(process.env);
await startService({
  config,
  environment: process.env,
  log: createLogger(config.log.level),
  print,
  migrations: nextMigrations(async (field) => {
    if (field === addedFields[0]) return;
    print(`before ${field}`);
    await new Promise(() => undefined);
  }),
  migratorTimes: quickTimes,
});
