import { join } from 'node:path';
import { z } from 'zod';
import type { DatabaseLog } from '../log.ts';
import { findOnPath } from './find-on-path.ts';
import { downloadMongod, MONGOD_VERSION } from './mongod-download.ts';
import type { Environment } from './processes.ts';
import { installSecantus, SECANTUS_VERSION } from './secantus-install.ts';
import { addSecantusUser, type NewUser } from './secantus-user.ts';

/** Engines cannot read each other's files, and a mongod cannot reliably read those of another release. */
export const engineIdSchema = z.enum(['mongod', 'mongod-download', 'secantusd-rs', 'secantusd-mdb', 'secantusd-py']);
export type EngineId = z.infer<typeof engineIdSchema>;

/**
 * The engines that are tried for a new data folder, in this order. The servers `secantusd-rs` and `secantusd-mdb` are
 * used only if they are requested by name: release 0.5.3 keeps replaced values in unique indexes.
 */
export const ENGINE_ORDER: readonly EngineId[] = ['mongod', 'mongod-download', 'secantusd-py'];

export interface EngineContext {
  /** Downloads and installations, shared by all data folders of a user. */
  cacheDir: string;
  env: Environment;
  log: DatabaseLog;
  now: () => Date;
  /** False for data that is not needed after a crash, as in tests: then writes are not forced to the disk. */
  syncsWrites?: boolean;
  /** Ends downloads, installations and starts. */
  signal?: AbortSignal | undefined;
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

export interface Engine {
  /** In words, for messages. */
  title: string;
  /** The release that is downloaded for a new data folder; undefined for a server of the machine. */
  version?: string;
  /**
   * The path of the server program; undefined when the machine has none.
   *
   * @throws Error with the reason when it cannot be downloaded
   */
  locate(context: EngineContext, version: string | undefined): Promise<string | undefined>;
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
    locate: ({ env }) => findOnPath('mongod', env['PATH']),
    args: mongodArgs,
  },
  'mongod-download': {
    title: 'a downloaded mongod',
    version: MONGOD_VERSION,
    locate: (context, version = MONGOD_VERSION) => downloadMongod({ ...context, version }),
    args: mongodArgs,
  },
  'secantusd-rs': {
    title: 'secantusd-rs on the PATH',
    locate: ({ env }) => findOnPath('secantusd-rs', env['PATH']),
    args: secantusArgs,
  },
  'secantusd-mdb': {
    title: 'secantusd-mdb on the PATH',
    locate: ({ env }) => findOnPath('secantusd-mdb', env['PATH']),
    args: secantusArgs,
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

/**
 * `--sync-on-commit`: without it a kill -9 of the server loses acknowledged writes. `--standalone`: no oplog, which
 * nothing here reads. The server removes old entries after every thousand writes, one by one, under a global lock:
 * deleting 25,000 deliveries blocked other commands for 680 ms instead of 32. `--config`: an existing empty file;
 * otherwise the server searches the home folder and others for settings.
 */
function secantusArgs({ port, storagePath, cacheMebibytes, auth, syncsWrites }: ServerSettings): string[] {
  return [
    ...['--config', join(storagePath, '..', 'secantusd.toml')],
    ...['--host', '127.0.0.1', '--port', String(port), '--storage-path', storagePath],
    ...['--log-level', 'WARNING', '--standalone', '--cache-size', `${cacheMebibytes}M`],
    ...(syncsWrites ? ['--sync-on-commit'] : []),
    ...(auth ? ['--auth'] : []),
  ];
}
