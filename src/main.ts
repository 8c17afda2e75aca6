import packageJson from '../package.json' with { type: 'json' };
import { ConfigError, dropBlankVariables, helpText, loadConfig, readArguments, type Config } from './config/config.ts';
import { DataDirError } from './base/runtime/data-dir.ts';
import { DatabaseStartError } from './storage/db/client.ts';
import { EmbeddedDatabaseError } from './storage/db/embedded/folder.ts';
import { ListenError } from './http/listening.ts';
import { SecretKeyError } from './base/secrets/open-secret-box.ts';
import { createLogger } from './observability/logger.ts';
import { startService, type RunningService } from './start.ts';
import { hasCode } from './base/runtime/system-error.ts';

/** Prints a line for people, to standard error. Standard output is the log, with one JSON object in each line. */
function print(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Within this time another signal means the same: a terminal or systemd sends it to every process of `npm start`, and
 * npm passes on what it received itself. SIGTERM and SIGHUP can come together.
 */
const sameSignalMs = 1_000;

/**
 * The command line: `--help`, `--version`, or the service until a signal stops it. Exits with 2 on mistakes in arguments
 * and configuration, and with 0 after a stop, also during the start.
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
  const canceling = new AbortController();
  let service: RunningService | undefined;
  let firstAt: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (firstAt !== undefined) {
      if (performance.now() - firstAt < sameSignalMs) return;
      process.exit(1);
    }
    firstAt = performance.now();
    const work = service === undefined ? 'canceling the start' : 'finishing the requests in progress';
    print(`${signal}: ${work} (send the signal again to stop immediately)`);
    canceling.abort();
    // Who presses Ctrl-C or closes the terminal is no load balancer.
    service?.stop({ skipsDelay: signal !== 'SIGTERM' }).then(() => process.exit(0), fail);
  };
  // A closed terminal sends SIGHUP. Node removes the protection of nohup from the processes that it runs.
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
  // Nobody reads what is written to a closed terminal.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  process.on('unhandledRejection', (error) => {
    log.error({ error }, 'unhandled rejection');
  });
  try {
    service = await startService({ config, environment: process.env, log, print, signal: canceling.signal });
  } catch (error) {
    if (canceling.signal.aborted) process.exit(0);
    fail(error);
  }
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
