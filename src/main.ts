import packageJson from '../package.json' with { type: 'json' };
import { ConfigError, dropBlankVariables, helpText, loadConfig, readArguments, type Config } from './config/config.ts';
import { DataDirError } from './runtime/data-dir.ts';
import { DatabaseStartError } from './db/client.ts';
import { EmbeddedDatabaseError } from './db/embedded/obtain-server.ts';
import { ListenError } from './http/listening.ts';
import { SecretKeyError } from './secrets/open-secret-box.ts';
import { createLogger } from './observability/logger.ts';
import { startService } from './start.ts';
import { hasCode } from './runtime/system-error.ts';

/** Prints a line for people, to standard error. Standard output is the log, with one JSON object in each line. */
function print(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * The command line: `--help`, `--version`, or the service until a signal stops it. Exits with 2 on mistakes in arguments
 * and configuration.
 */
export async function main(): Promise<void> {
  const { command, mistakes } = readArguments(process.argv.slice(2), process.env);
  if (mistakes.length > 0) fail(new ConfigError(mistakes));
  if (command !== 'start') {
    process.stdout.write(`${command === 'help' ? helpText() : `prompt-gateway ${packageJson.version}`}\n`);
    return;
  }
  const config = readConfig();
  // Some provider packages read their variables themselves and fail on blank ones.
  dropBlankVariables(process.env);
  const log = createLogger(config.log.level);
  const starting = startService({ config, environment: process.env, log, print });
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    print(`${signal}: finishing the requests in progress (send the signal again to stop immediately)`);
    starting
      .then((service) => service.stop())
      .then(() => process.exit(0))
      .catch(fail);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  process.on('unhandledRejection', (error) => {
    log.error({ error }, 'unhandled rejection');
  });
  await starting.catch(fail);
}

function readConfig(): Config {
  try {
    readEnvFile();
    return loadConfig(process.env);
  } catch (error) {
    return fail(error);
  }
}

/** Adds the variables of a `.env` in the working directory, if there is one, to those that are not set. */
function readEnvFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw new ConfigError([`.env: cannot be read (${(error as Error).message}).`]);
  }
}

/** For mistakes that the operator can correct, prints only the message; any other error is printed with its stack. */
function fail(error: unknown): never {
  const expected =
    error instanceof ConfigError ||
    error instanceof DataDirError ||
    error instanceof DatabaseStartError ||
    error instanceof EmbeddedDatabaseError ||
    error instanceof ListenError ||
    error instanceof SecretKeyError;
  print(
    expected && error instanceof Error ? error.message : `Could not start: ${(error as Error).stack ?? String(error)}`,
  );
  process.exit(error instanceof ConfigError ? 2 : 1);
}
