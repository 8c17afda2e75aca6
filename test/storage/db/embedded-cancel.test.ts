import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startEmbeddedDatabase } from '../../../src/storage/db/embedded/embedded-database.ts';
import type { EngineId } from '../../../src/storage/db/embedded/engines.ts';
import { withFileLock } from '../../../src/storage/db/embedded/file-lock.ts';
import { isRunning } from '../../../src/storage/db/embedded/processes.ts';
import { fakeProgram } from '../../support/fake-programs.ts';
import { recordingLog } from '../../support/log.ts';
import { until } from '../../support/until.ts';

let folder: string;
/** A download host that never answers. */
let mirror: Server;
let requests = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prompt-gateway-cancel-'));
  mirror = createServer(() => (requests += 1));
  await new Promise<void>((resolve) => {
    mirror.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(async () => {
  mirror.closeAllConnections();
  mirror.close();
  await rm(folder, { recursive: true, force: true });
});

/** The paths of one start. */
interface Paths {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly bin: string;
  /** A program writes its process number here when it hangs. */
  readonly pidFile: string;
}

interface Case {
  readonly title: string;
  readonly engine: EngineId;
  /** @returns a function that ends what another process does, if there is one */
  prepare(paths: Paths): Promise<unknown>;
  /** Whether the start waits for what is to be canceled. */
  isWaiting(paths: Paths, log: readonly string[]): unknown;
  /** What remains in the folder of the database. */
  readonly remains: readonly string[];
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
const hang = (pidFile: string): string => `echo $$ > "${pidFile}"; exec sleep 600`;
const hasPid = async ({ pidFile }: Paths): Promise<boolean> =>
  (await readFile(pidFile, 'utf8').catch(() => '')).endsWith('\n');
const putRecord = async ({ dataDir }: Paths): Promise<void> => {
  await mkdir(join(dataDir, 'database', 'mongod'), { recursive: true });
  const record = { id: '6b3d8f0a-0f7c-4e55-9a07-5c8b3f7d0c11', engine: 'mongod' };
  await writeFile(join(dataDir, 'database', 'engine.json'), JSON.stringify(record));
};

const cases: Case[] = [
  {
    title: 'the download of a mongod',
    engine: 'mongod-download',
    prepare: () => Promise.resolve(),
    isWaiting: () => requests > 0,
    remains: [],
  },
  {
    title: 'the installation of SecantusDB',
    engine: 'secantusd-py',
    prepare: ({ bin, pidFile }) => fakeProgram(bin, 'python3', hang(pidFile)),
    isWaiting: hasPid,
    remains: [],
  },
  {
    title: 'the first start of a server',
    engine: 'mongod',
    prepare: ({ bin, pidFile }) => fakeProgram(bin, 'mongod', hang(pidFile)),
    isWaiting: hasPid,
    remains: ['server.json', 'server.log'],
  },
  {
    title: 'the start of a server with data',
    engine: 'mongod',
    async prepare(paths) {
      await putRecord(paths);
      await fakeProgram(paths.bin, 'mongod', hang(paths.pidFile));
    },
    isWaiting: hasPid,
    remains: ['engine.json', 'mongod', 'password', 'server.json', 'server.log'],
  },
  {
    title: 'the attempts to start a server that ends at once',
    engine: 'mongod',
    async prepare(paths) {
      await putRecord(paths);
      await fakeProgram(paths.bin, 'mongod', `echo $$ > "${paths.pidFile}"; exit 1`);
    },
    isWaiting: hasPid,
    remains: ['engine.json', 'mongod', 'password', 'server.json', 'server.log'],
  },
  {
    title: 'the wait for another process on the folder',
    engine: 'mongod',
    async prepare({ dataDir }) {
      await mkdir(join(dataDir, 'database'), { recursive: true });
      const held = Promise.withResolvers<unknown>();
      void withFileLock(join(dataDir, 'database', 'starting.lock'), () => held.promise);
      return held.resolve;
    },
    isWaiting: (_paths, log) => log.some((line) => line.startsWith('waiting for another process')),
    remains: [],
  },
];

async function installLocks(cacheDir: string): Promise<string[]> {
  const names = await readdir(cacheDir).catch(() => []);
  return names.filter((name) => name.endsWith('-lock')).map((name) => join(cacheDir, name));
}

describe('a start of the embedded database that is canceled', () => {
  it.each(cases)('ends $title, and leaves nothing running or locked', async (example) => {
    const own = await mkdtemp(join(folder, 'start-'));
    const paths = { dataDir: join(own, 'data'), cacheDir: join(own, 'cache'), bin: join(own, 'bin') };
    const all: Paths = { ...paths, pidFile: join(own, 'pid') };
    const release = await example.prepare(all);
    const log = recordingLog();
    const canceling = new AbortController();
    const starting = startEmbeddedDatabase({
      dataDir: all.dataDir,
      cacheDir: all.cacheDir,
      log,
      engines: [example.engine],
      env: {
        PATH: `${all.bin}:/usr/bin:/bin`,
        MONGOMS_DOWNLOAD_MIRROR: `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`,
        MONGOMS_USE_HTTP: 'true',
      },
      signal: canceling.signal,
    });
    const ended = starting.catch((error: unknown) => error);
    await until(() => example.isWaiting(all, log.lines));
    const reason = new Error('canceled by the test');
    canceling.abort(reason);
    const error = await ended;
    // A pause has an error of its own.
    expect(error instanceof Error && error.name === 'AbortError' ? error.cause : error).toBe(reason);

    const database = join(all.dataDir, 'database');
    if (typeof release === 'function') release();
    const always = ['secantusd.toml', 'starting.lock'];
    expect((await readdir(database)).filter((name) => !/^server.log.previous$|-journal$/.test(name))).toEqual(
      [...always, ...example.remains].sort(),
    );
    for (const lock of [join(database, 'starting.lock'), ...(await installLocks(all.cacheDir))]) {
      expect(await withFileLock(lock, () => Promise.resolve('free'), { limitMs: 0 })).toBe('free');
    }
    if (await exists(all.pidFile)) expect(isRunning(Number(await readFile(all.pidFile, 'utf8')))).toBe(false);
    // The next start is allowed to try it again immediately.
    expect((await readdir(all.cacheDir).catch(() => [])).filter((name) => name.endsWith('-failed'))).toEqual([]);
  });
});
