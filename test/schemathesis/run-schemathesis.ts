import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../src/config/config.ts';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { installPythonPackage } from '../../src/storage/db/embedded/python-package.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService } from '../../src/start.ts';
import { consoleLog } from '../support/log.ts';

/** The installed release of Schemathesis. https://pypi.org/project/schemathesis/ */
const version = '4.32.5';
const adminKey = 'administrator-key-of-schemathesis-0123456789';

/**
 * Starts the service with its defaults on its own data folder. Schemathesis reads its `/openapi.json` and tests every
 * operation with all checks, examples, boundary values, random data and chains of operations along the links of the
 * contract. It needs Python 3.12 or later: 3.11 cannot describe schemas as deep as these (`SystemError: AST constructor
 * recursion depth mismatch`). Arguments are passed on: `npm run program -- test:schemathesis --seed 7 -n 200`.
 *
 * @returns the exit code of Schemathesis
 */
async function main(args: readonly string[]): Promise<number> {
  const cacheDir = defaultCacheDir(process.env, homedir());
  const programs = await installPythonPackage({
    name: 'schemathesis',
    version,
    cacheDir,
    env: process.env,
    log: consoleLog,
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'schemathesis-'));
  const environment = {
    DATA_DIR: path.join(folder, 'data'),
    CACHE_DIR: cacheDir,
    PORT: '0',
    ADMIN_API_KEY: adminKey,
    RATE_LIMIT: 'off',
    REFUSED_KEYS_LIMIT: 'off',
  };
  const service = await startService({
    config: loadConfig(environment),
    environment: { ...process.env, ...environment },
    log: createLogger('silent'),
    print: console.log,
  });
  try {
    const settings = path.join(import.meta.dirname, 'schemathesis.toml');
    const bounds = ['--max-examples', '50', '--workers', '2', '--request-timeout', '30'];
    const child = spawn(
      path.join(programs, 'schemathesis'),
      [
        ...['--config-file', settings, 'run', `${service.url}/openapi.json`],
        ...['--header', `Authorization: Bearer ${adminKey}`, '--generation-database', 'none'],
        ...bounds,
        ...args,
      ],
      {
        // Schemathesis writes its files into a folder that is removed.
        cwd: folder,
        env: { ...process.env, SCHEMATHESIS_HOOKS: path.join(import.meta.dirname, 'hooks.py') },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? 1;
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
