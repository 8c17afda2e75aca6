import { dirname, join } from 'node:path';
import { serverEnvironment, type Environment } from './processes.ts';
import { runCommand } from './run-command.ts';

const LIMIT_MS = 30_000;

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
  /** Path of the server program, beside which its Python is. */
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
 *
 * @throws Error when this release stores users differently
 */
export async function addSecantusUser({ command, storagePath, name, password, env, signal }: NewUser): Promise<void> {
  await runCommand(join(dirname(command), 'python'), ['-c', SCRIPT, storagePath, name], {
    env: { ...serverEnvironment(env), NEW_PASSWORD: password },
    limitMs: LIMIT_MS,
    signal,
  });
}
