import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serverEnvironment, type Environment } from './processes.ts';
import { installPythonPackage, type PythonPackageOptions } from './python-package.ts';
import { runCommand } from './run-command.ts';

/** The release of SecantusDB that is installed. https://pypi.org/project/SecantusDB/ */
export const SECANTUS_VERSION = '0.7.0b3';

const requirements = fileURLToPath(new URL('secantus-requirements.txt', import.meta.url));

/**
 * Installs SecantusDB from PyPI, or finds it in the cache folder. The files of this release are checked by their hashes;
 * a data folder of an earlier release needs another one, whose hashes are not known.
 *
 * @returns the path of the server program
 * @throws Error with the reason, in words for the operator
 */
export async function installSecantus(options: Omit<PythonPackageOptions, 'name' | 'requirements'>): Promise<string> {
  const pinned = options.version === SECANTUS_VERSION ? requirements : undefined;
  const folder = await installPythonPackage({ name: 'SecantusDB', requirements: pinned, ...options });
  return join(folder, 'secantusd-py');
}

export interface ServerSettings {
  port: number;
  /** An existing folder for the engine's files. */
  storagePath: string;
  /** Memory for the storage engine's cache, in MiB. */
  cacheMebibytes: number;
  /** Whether users have to authenticate. */
  auth: boolean;
  /** Whether each write is on the disk before it is acknowledged. For mongod, the driver requests this. */
  syncsWrites: boolean;
}

/**
 * `--sync-on-commit`: without it a kill -9 of the server loses acknowledged writes. `--standalone`: no oplog, which
 * nothing here reads. The server removes old entries after every thousand writes, one by one, under a global lock:
 * deleting 25,000 deliveries blocked other commands for 680 ms instead of 32. `--config`: an existing empty file;
 * otherwise the server searches the home folder and others for settings.
 */
export function secantusArgs({ port, storagePath, cacheMebibytes, auth, syncsWrites }: ServerSettings): string[] {
  return [
    ...['--config', join(storagePath, '..', 'secantusd.toml')],
    ...['--host', '127.0.0.1', '--port', String(port), '--storage-path', storagePath],
    ...['--log-level', 'WARNING', '--standalone', '--cache-size', `${cacheMebibytes}M`],
    ...(syncsWrites ? ['--sync-on-commit'] : []),
    ...(auth ? ['--auth'] : []),
  ];
}

const USER_LIMIT_MS = 30_000;

/** Writes a user into the files of a stopped server, as the server's own createUser does. */
const SCRIPT = `
import os, sys
from secantus.auth import SCRAM_SHA_256, derive_credentials
from secantus.storage import Storage
path, user = sys.argv[1:3]
credentials = derive_credentials(os.environ["NEW_PASSWORD"], mechanism=SCRAM_SHA_256, username=user).to_doc()
storage = Storage(path, sync_on_commit=True)
storage.add_user("admin", user, {
    "_id": "admin." + user, "user": user, "db": "admin", "credentials": credentials,
    "roles": [{"role": "root", "db": "admin"}], "mechanisms": [SCRAM_SHA_256],
}, replace=True)
storage.close()
`;

export interface NewUser {
  /** Path of the server program or of its Python, which are in the same folder. */
  command: string;
  storagePath: string;
  name: string;
  password: string;
  env: Environment;
  signal?: AbortSignal | undefined;
}

/**
 * Adds a user to the files of SecantusDB's Python server before it starts: the server does not allow the first user to
 * be created over the network, and without a password it would be open to others for a moment.
 */
export async function addSecantusUser({ command, storagePath, name, password, env, signal }: NewUser): Promise<void> {
  await runCommand(join(dirname(command), 'python'), ['-c', SCRIPT, storagePath, name], {
    env: { ...serverEnvironment(env), NEW_PASSWORD: password },
    silenceMs: USER_LIMIT_MS,
    signal,
  });
}
