import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ProblemError } from '../../../src/base/errors/problem-error.ts';
import { MongoClient } from 'mongodb';
import { connectDatabase, type Database } from '../../../src/storage/db/client.ts';
import { defaultCacheDir } from '../../../src/storage/db/embedded/cache-dir.ts';
import { cacheMebibytesFor, engineIdSchema, engines, type EngineId } from '../../../src/storage/db/embedded/engines.ts';
import { findOnPath } from '../../../src/storage/db/embedded/find-on-path.ts';
import { installSecantus, SECANTUS_VERSION } from '../../../src/storage/db/embedded/secantus.ts';
import { startEmbeddedDatabase, type EmbeddedDatabase } from '../../../src/storage/db/embedded/embedded-database.ts';
import type { WatchTimes } from '../../../src/storage/db/embedded/watch.ts';
import { insertOnce, type StampedDocument } from '../../../src/storage/db/writes.ts';
import { withRetry } from '../../../src/storage/db/retry.ts';
import { fakeProgram, mongodStandIn } from '../../support/fake-programs.ts';
import { recordingLog, silentLog } from '../../support/log.ts';
import { reservePort } from '../../support/ports.ts';
import { until } from '../../support/until.ts';

/** The download host. On this machine it cannot be reached. */
const unreachableDownload = { MONGOMS_DOWNLOAD_MIRROR: 'https://127.0.0.1:9' };
/** The cache folder of the user, so that SecantusDB is installed once and not in every run. */
const cacheDir = defaultCacheDir(process.env, homedir());

let folder: string;
let secantusd: string;
const started: EmbeddedDatabase[] = [];
const connected: Database[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prompt-gateway-embedded-'));
  const version = SECANTUS_VERSION;
  secantusd = await installSecantus({ cacheDir, env: process.env, log: silentLog, version });
});
afterEach(async () => {
  await Promise.all(connected.splice(0).map((database) => database.close()));
  await Promise.all(started.splice(0).map((database) => database.stop()));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface StartOptions {
  engines?: EngineId[];
  path?: string;
  cache?: string;
  log?: ReturnType<typeof recordingLog>;
  env?: Record<string, string>;
  watchTimes?: WatchTimes;
}

async function start(name: string, options: StartOptions = {}): Promise<EmbeddedDatabase> {
  const { engines = ['secantusd-py'], path = process.env['PATH'], cache = cacheDir, log = silentLog, env } = options;
  const { watchTimes } = options;
  const database = await startEmbeddedDatabase({
    dataDir: join(folder, name),
    cacheDir: cache,
    env: { ...process.env, ...env, PATH: path },
    log,
    engines,
    ...(watchTimes === undefined ? {} : { watchTimes }),
  });
  started.push(database);
  return database;
}

async function connect(embedded: EmbeddedDatabase): Promise<Database> {
  const database = await connectDatabase({ uri: embedded.uri, databaseName: 'service', log: silentLog });
  connected.push(database);
  return database;
}

async function serverPid(name: string): Promise<number> {
  const record: unknown = JSON.parse(await readFile(join(folder, name, 'database', 'server.json'), 'utf8'));
  return (record as { pid: number }).pid;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const mongod = await findOnPath('mongod', process.env['PATH']);
const present: EngineId[] = ['secantusd-py', ...(mongod === undefined ? [] : (['mongod'] as const))];

describe.each(present)('%s', (engine) => {
  it('keeps every acknowledged write through kill -9, and restarts by itself under the same URI', async () => {
    const name = `kill-${engine}`;
    const embedded = await start(name, { engines: [engine] });
    const { db } = await connect(embedded);
    const collection = db.collection<StampedDocument>('burst');
    const acknowledged: string[] = [];
    /** A restart can take longer than a write waits. */
    const uncertain = new Set<string>();
    let running = true;
    const writer = async (worker: number): Promise<void> => {
      for (let count = 0; running; count += 1) {
        const id = `${worker}-${count}`;
        try {
          expect(await insertOnce(collection, { _id: id })).toEqual({ outcome: 'done' });
          acknowledged.push(id);
        } catch (error) {
          if (!(error instanceof ProblemError)) throw error;
          uncertain.add(id);
        }
      }
    };
    const writers = Promise.all([0, 1, 2, 3].map(writer));
    for (let kill = 0; kill < 3; kill += 1) {
      const before = acknowledged.length;
      while (acknowledged.length < before + 100) await sleep(20);
      process.kill(await serverPid(name), 'SIGKILL');
    }
    running = false;
    await writers;
    // The server may still be restarting after the last kill.
    const stored = new Set((await withRetry(() => collection.find().toArray())).map(({ _id }) => _id));
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    const written = new Set([...acknowledged, ...uncertain]);
    expect([...stored].filter((id) => !written.has(id))).toEqual([]);
  });

  it('keeps its data after a restart', async () => {
    const name = `restart-${engine}`;
    const first = await start(name, { engines: [engine] });
    await insertOnce((await connect(first)).db.collection<StampedDocument>('things'), { _id: 'kept' });
    await connected.pop()?.close();
    await first.stop();
    const second = await start(name);
    const things = (await connect(second)).db.collection<StampedDocument>('things');
    expect(await things.findOne({ _id: 'kept' })).toMatchObject({ _id: 'kept' });
    expect(second.engine).toBe(first.engine);
  });
});

describe.each(present)('the password of %s', (engine) => {
  it('is required from everyone, and only the owner of the folder can read it', async () => {
    const name = `password-${engine}`;
    const embedded = await start(name, { engines: [engine] });
    expect(embedded.isProtected).toBe(true);
    const path = join(folder, name, 'database', 'password');
    const password = (await readFile(path, 'utf8')).trim();
    expect(password).toMatch(/^[\w-]{43}$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, name, 'database'))).mode & 0o077).toBe(0);
    await (await connect(embedded)).ping();

    const open = embedded.uri.replace(/\/\/.*@/, '//').replace('&authSource=admin', '');
    expect(open).not.toContain(password);
    const stranger = new MongoClient(open);
    const { db } = { db: stranger.db('service') };
    for (const attempt of [
      () => db.collection('api_keys').find().toArray(),
      () => db.collection<{ _id: string }>('api_keys').insertOne({ _id: 'mine' }),
      () => stranger.db('admin').command({ createUser: 'stranger', pwd: 'x', roles: ['root'] }),
      () => stranger.db('admin').command({ listDatabases: 1 }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 13 });
    }
    await stranger.close();
    const wrong = connectDatabase({
      uri: embedded.uri.replace(password, 'x'),
      databaseName: 'service',
      log: silentLog,
    });
    await expect(wrong).rejects.toThrow(/refused the credentials/);
  });

  it('is created for a folder without one, and the data stays', async () => {
    const name = `migrated-${engine}`;
    const database = join(folder, name, 'database');
    const storagePath = join(database, engine);
    await mkdir(storagePath, { recursive: true });
    await writeFile(join(database, 'secantusd.toml'), '');
    const context = { cacheDir, env: process.env, log: silentLog };
    const command = await engines[engine].locate(context, undefined);
    const port = await reservePort();
    const args = engines[engine].args({ port, storagePath, cacheMebibytes: 256, auth: false, syncsWrites: true });
    const server = spawn(command ?? '', args, { stdio: 'ignore' });
    const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
    const id = randomUUID();
    await client
      .db('embedded_server')
      .collection<StampedDocument>('folder')
      .insertOne({ _id: 'folder', folderId: id } as never);
    await client
      .db('service')
      .collection<StampedDocument>('things')
      .insertOne({ _id: 'kept' } as never);
    await client.close();
    server.kill();
    await once(server, 'exit');
    await writeFile(join(database, 'engine.json'), JSON.stringify({ id, engine }));

    const embedded = await start(name, { engines: [engine] });
    expect(embedded.isProtected).toBe(true);
    const things = (await connect(embedded)).db.collection<StampedDocument>('things');
    expect(await things.findOne({ _id: 'kept' })).toMatchObject({ _id: 'kept' });
  });
});

describe('a server that no longer answers', () => {
  const watchTimes = {
    intervalMs: 100,
    silentForMs: 1_000,
    workingForMs: 60_000,
    pauseMs: 100,
  };

  it('is stopped and replaced once, even if two processes share its folder', async () => {
    const name = 'stopped';
    const both = [await start(name, { watchTimes }), await start(name, { watchTimes })];
    const connections = await Promise.all(both.map(connect));
    const pid = await serverPid(name);
    process.kill(pid, 'SIGSTOP');
    while (isRunning(pid)) await sleep(50);
    const answers = ({ ping }: Database): Promise<boolean> =>
      ping().then(
        () => true,
        () => false,
      );
    await Promise.all(connections.map((database) => until(() => answers(database))));
    const replacement = await serverPid(name);
    expect(replacement).not.toBe(pid);
    await sleep(2_000);
    expect(await serverPid(name)).toBe(replacement);
    expect(isRunning(replacement)).toBe(true);
  });
});

describe('one data folder, several processes', () => {
  it('is served by one server, which the last process stops', async () => {
    const [first, second] = await Promise.all([start('shared'), start('shared')]);
    expect(first.uri).toBe(second.uri);
    const pid = await serverPid('shared');
    await first.stop();
    expect(isRunning(pid)).toBe(true);
    await (await connect(second)).ping();
    await second.stop();
    expect(isRunning(pid)).toBe(false);
    started.length = 0;
  });

  it('is served until the last of them is killed, and then again after the next start', async () => {
    const name = 'killed';
    const users = [await startProcess(name), await startProcess(name)];
    const embedded = await start(name);
    const pid = await serverPid(name);
    const database = await connect(embedded);
    await database.db.collection<{ _id: string }>('things').insertOne({ _id: 'kept' });
    for (const { uri, kill } of users) {
      expect(uri).toBe(embedded.uri);
      await kill();
    }
    await sleep(1_000);
    await database.ping();
    expect(await serverPid(name)).toBe(pid);

    const last = await startProcess(name);
    await database.close();
    await embedded.stop();
    started.length = 0;
    expect(isRunning(pid)).toBe(true);
    await last.kill();
    await until(() => !isRunning(pid));
    const found = (await connect(await start(name))).db.collection<{ _id: string }>('things');
    expect(await found.countDocuments({ _id: 'kept' })).toBe(1);
  });

  it('gets another server if the former one has not ended when the next process starts', async () => {
    const name = 'ending';
    const { kill } = await startProcess(name);
    const pid = await serverPid(name);
    process.kill(pid, 'SIGSTOP');
    await kill();
    await sleep(500);
    setTimeout(() => process.kill(pid, 'SIGCONT'), 4_000);
    await (await connect(await start(name))).ping();
    expect(await serverPid(name)).not.toBe(pid);
    expect(isRunning(pid)).toBe(false);
  });

  it('does not use the server of another folder, even if its record was copied', async () => {
    const original = await start('original');
    const database = (name: string): string => join(folder, name, 'database');
    await mkdir(database('copy'), { recursive: true });
    for (const file of ['engine.json', 'server.json'])
      await cp(join(database('original'), file), join(database('copy'), file));
    const copy = await start('copy');
    expect(copy.uri).not.toBe(original.uri);
  });

  it('does not use another server that now listens on the recorded port', async () => {
    const foreign = await start('foreign');
    const own = await start('own');
    await own.stop();
    started.pop();
    const record = join(folder, 'own', 'database', 'server.json');
    const port = Number(new URL(foreign.uri).port);
    const storagePath = join(folder, 'own', 'database', 'secantusd-py');
    await writeFile(record, JSON.stringify({ pid: await serverPid('foreign'), port, storagePath }));
    expect((await start('own')).uri).not.toBe(foreign.uri);
  });
});

/** Starts a process that uses the database of a folder. `kill` ends only this process. */
async function startProcess(name: string): Promise<{ uri: string; kill: () => Promise<unknown> }> {
  const script = fileURLToPath(new URL('../../support/embedded-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, join(folder, name), cacheDir, 'secantusd-py'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    uri: line.toString().trim(),
    kill() {
      child.kill('SIGKILL');
      return once(child, 'exit');
    },
  };
}

describe('the choice of an engine', () => {
  it('prefers a mongod on the PATH, and does not change later', async () => {
    const bin = join(folder, 'bin-mongod');
    await fakeProgram(bin, 'mongod', mongodStandIn(secantusd));
    const path = `${bin}:/usr/bin:/bin`;
    const first = await start('chosen', { path, engines: [...engineIdSchema.options] });
    expect(first.engine).toMatch(/\(mongod\)$/);
    await first.stop();
    started.length = 0;
    await rm(join(bin, 'mongod'));
    await expect(start('chosen', { path })).rejects.toThrow(
      /made with mongod on the PATH, and no other engine can read its files; but none was found.*MONGODB_URI/,
    );
  });

  it('warns when an engine cannot have a password, and starts it', async () => {
    const bin = join(folder, 'bin-open');
    await fakeProgram(bin, 'mongod', mongodStandIn(secantusd));
    const embedded = await start('open', { path: `${bin}:/usr/bin:/bin`, engines: ['mongod'] });
    expect(embedded.isProtected).toBe(false);
    await (await connect(embedded)).ping();
  });

  it('gives the storage engine an eighth of the memory, from 256 MiB to 1 GiB', () => {
    const gibibyte = 2 ** 30;
    expect([0.5, 2, 4, 64].map((memory) => cacheMebibytesFor(memory * gibibyte))).toEqual([256, 256, 512, 1_024]);
  });

  it('tries the next engine when one does not start, and removes the files of the first', async () => {
    const bin = join(folder, 'bin-broken');
    await fakeProgram(bin, 'mongod', 'echo "cannot run on this machine" >&2; exit 1');
    const log = recordingLog();
    const engines: EngineId[] = ['mongod', 'secantusd-py'];
    const embedded = await start('next', { path: `${bin}:${process.env['PATH'] ?? ''}`, engines, log });
    expect(embedded.engine).toBe(`SecantusDB ${SECANTUS_VERSION} (secantusd-py)`);
    expect(log.lines.join('\n')).toMatch(
      /mongod on the PATH cannot be used: .*exit code 1\ncannot run on this machine/,
    );
    await expect(access(join(folder, 'next', 'database', 'mongod'))).rejects.toThrow(/ENOENT/);
  });

  it('reports every engine that was tried when none works', async () => {
    const options = {
      path: '',
      cache: join(folder, 'empty-cache'),
      env: unreachableDownload,
      engines: [...engineIdSchema.options],
    };
    const attempt = start('nothing', options);
    await expect(attempt).rejects.toThrow(/Set MONGODB_URI, or install MongoDB or Python 3. Tried:/);
    await expect(attempt).rejects.toThrow(
      /- mongod on the PATH: none was found\n- a downloaded mongod: the download failed/,
    );
    await expect(attempt).rejects.toThrow(/- SecantusDB from PyPI: there is no python3 on the PATH/);
  });

  it('does not create a second database when the record of the engine is missing or broken', async () => {
    const database = join(folder, 'unsure', 'database');
    await mkdir(join(database, 'secantusd-py'), { recursive: true });
    await expect(start('unsure')).rejects.toThrow(/engine.json is missing, but there are files of a database/);
    await writeFile(join(database, 'engine.json'), '{"engine":"oracle"}');
    await expect(start('unsure')).rejects.toThrow(/engine.json cannot be read/);
  });

  it('hides the secrets in the environment from the server', async () => {
    const bin = join(folder, 'bin-env');
    await fakeProgram(bin, 'mongod', 'env; exit 1');
    const env = { ADMIN_API_KEY: 'secret-1', OPENAI_API_KEY: 'secret-2', AWS_SECRET_ACCESS_KEY: 'secret-3' };
    const attempt = start('env', { path: `${bin}:/usr/bin:/bin`, engines: ['mongod'], env });
    await expect(attempt).rejects.toThrow(/HOME=/);
    await expect(attempt).rejects.not.toThrow(/secret-/);
  });
});
