import { z } from 'zod';
import type { InstallContext } from './cache-dir.ts';
import { findOnPath } from './find-on-path.ts';
import { downloadMongod, MONGOD_VERSION } from './mongod-download.ts';
import {
  addSecantusUser,
  installSecantus,
  SECANTUS_VERSION,
  secantusArgs,
  type NewUser,
  type ServerSettings,
} from './secantus.ts';

/**
 * The engines, in the order in which they are tried for a new data folder. They cannot read each other's files, and a
 * mongod cannot reliably read those of another release.
 */
export const engineIdSchema = z.enum(['mongod', 'mongod-download', 'secantusd-py']);
export type EngineId = z.infer<typeof engineIdSchema>;

/** The signal ends starts, too. */
export interface EngineContext extends InstallContext {
  /** False for data that is not needed after a crash, as in tests: then writes are not forced to the disk. */
  syncsWrites?: boolean;
}

export interface Engine {
  /** In words, for messages. */
  title: string;
  /** The release that is downloaded for a new data folder; undefined for a server of the machine. */
  version?: string;
  /**
   * The path of the server program.
   *
   * @throws Error with the reason when there is none and it cannot be downloaded
   */
  locate(context: EngineContext, version: string | undefined): Promise<string>;
  args(settings: ServerSettings): string[];
  /**
   * Writes a user into the files before the server runs, for engines whose first user cannot be created over the
   * loopback.
   */
  addUser?(user: NewUser): Promise<void>;
}

export const engines: Readonly<Record<EngineId, Engine>> = {
  mongod: {
    title: 'mongod on the PATH',
    async locate({ env }) {
      const found = await findOnPath('mongod', env['PATH']);
      if (found === undefined) throw new Error('none was found');
      return found;
    },
    args: mongodArgs,
  },
  'mongod-download': {
    title: 'a downloaded mongod',
    version: MONGOD_VERSION,
    locate: downloadMongod,
    args: mongodArgs,
  },
  'secantusd-py': {
    title: 'SecantusDB from PyPI',
    version: SECANTUS_VERSION,
    locate: (context, version = SECANTUS_VERSION) => installSecantus({ ...context, version }),
    args: secantusArgs,
    addUser: addSecantusUser,
  },
};

/**
 * An eighth of the memory that this process may use, between 256 MiB, the least that mongod accepts, and 1 GiB. A
 * mongod would take half of the machine's memory by default.
 */
export function cacheMebibytesFor(memoryBytes: number): number {
  return Math.round(Math.min(1_024, Math.max(256, memoryBytes / 8 / 1_048_576)));
}

function mongodArgs({ port, storagePath, cacheMebibytes, auth }: ServerSettings): string[] {
  return [
    ...['--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', storagePath, '--quiet'],
    ...['--wiredTigerCacheSizeGB', String(cacheMebibytes / 1_024), ...(auth ? ['--auth'] : [])],
  ];
}
