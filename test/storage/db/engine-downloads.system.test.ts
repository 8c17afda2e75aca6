import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appendFile, mkdir, mkdtemp, readFile, rm, utimes } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultCacheDir } from '../../../src/storage/db/embedded/cache-dir.ts';
import { downloadMongod, MONGOD_VERSION } from '../../../src/storage/db/embedded/mongod-download.ts';
import { installSecantus, SECANTUS_VERSION } from '../../../src/storage/db/embedded/secantus.ts';
import { startEmbeddedDatabase } from '../../../src/storage/db/embedded/embedded-database.ts';
import { fakeProgram, mongodStandIn } from '../../support/fake-programs.ts';
import { recordingLog, silentLog } from '../../support/log.ts';

let folder: string;
/** A mirror of the download host on this machine. */
let mirror: Server;
/** The answers of the mirror by path. `requests` counts them. */
let answer: (path: string) => Buffer | 'hang' | 'missing';
let requests: string[] = [];
let env: Record<string, string | undefined>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prompt-gateway-downloads-'));
  mirror = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const body = answer(path);
    if (body === 'hang') return;
    if (body === 'missing') response.writeHead(403).end();
    else response.writeHead(200, { 'content-length': body.length }).end(body);
  });
  await new Promise<void>((resolve) => {
    mirror.listen(0, '127.0.0.1', resolve);
  });
  const { port } = mirror.address() as AddressInfo;
  env = { ...process.env, MONGOMS_DOWNLOAD_MIRROR: `http://127.0.0.1:${port}`, MONGOMS_USE_HTTP: 'true' };
});
afterAll(async () => {
  mirror.closeAllConnections();
  mirror.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the download of a mongod', () => {
  const download = (name: string): Promise<string> =>
    downloadMongod({ cacheDir: join(folder, name), env, log: silentLog });

  it('is verified, unpacked, started and found again', async () => {
    const archive = await mongodArchive();
    const checksum = Buffer.from(createHash('md5').update(archive).digest('hex'));
    answer = (path) => (path.endsWith('.md5') ? checksum : archive);
    requests = [];
    const dataDir = join(folder, 'data');
    const log = recordingLog();
    for (const expectedRequests of [2, 2]) {
      const database = await startEmbeddedDatabase({
        dataDir,
        cacheDir: join(folder, 'good'),
        env,
        log,
        engines: ['mongod-download'],
      });
      expect(database.engine).toMatch(/\(mongod-download\)$/);
      await database.stop();
      expect(requests).toHaveLength(expectedRequests);
    }
    expect(requests[0]).toContain(MONGOD_VERSION);
    expect(log.lines.join('\n')).toMatch(/Downloading MongoDB "[\d.]+": 100%/);
    const record: unknown = JSON.parse(await readFile(join(dataDir, 'database', 'engine.json'), 'utf8'));
    expect(record).toMatchObject({ engine: 'mongod-download', version: MONGOD_VERSION });
  });

  it('fails when the checksum is wrong', async () => {
    answer = (path) => Buffer.from(path.endsWith('.md5') ? '0'.repeat(32) : 'not an archive');
    await expect(download('forged')).rejects.toThrow(/MD5/i);
  });

  it('fails at once when the host refuses, and is repeated after a day', async () => {
    answer = () => 'missing';
    requests = [];
    const failureFile = join(folder, 'refused', `mongod-${MONGOD_VERSION}-failed`);
    const letPass = async (hours: number): Promise<void> => {
      const then = new Date(Date.now() - hours * 3_600_000);
      await utimes(failureFile, then, then);
    };
    await expect(download('refused')).rejects.toThrow(/the download failed: .*403/);
    await letPass(23.9);
    await expect(download('refused')).rejects.toThrow(/attempted once a day \(.*403/);
    expect(requests).toHaveLength(1);
    await letPass(24.1);
    await expect(download('refused')).rejects.toThrow(/the download failed: .*403/);
    expect(requests).toHaveLength(2);
  });

  it('fails within seconds when the host does not answer', async () => {
    answer = () => 'hang';
    await expect(download('hanging')).rejects.toThrow(/nothing happened for 8 s/);
  });
});

/** A release archive. Its `mongod` starts another server of the same protocol. */
async function mongodArchive(): Promise<Buffer> {
  const settings = { cacheDir: defaultCacheDir(process.env, homedir()), env: process.env, log: silentLog };
  const secantusd = await installSecantus({ ...settings, version: SECANTUS_VERSION });
  const release = join(folder, 'mongodb-release');
  const program = await fakeProgram(join(release, 'bin'), 'mongod', mongodStandIn(secantusd));
  // The service treats an executable below 1 MiB as a broken download.
  await appendFile(program, `#${' '.repeat(2 ** 20)}\n`);
  await promisify(execFile)('tar', ['-czf', join(folder, 'release.tgz'), '-C', folder, 'mongodb-release']);
  return readFile(join(folder, 'release.tgz'));
}

describe('the installation of SecantusDB', () => {
  const install = async (name: string, script?: string): Promise<string> => {
    const bin = join(folder, `bin-${name}`);
    await mkdir(bin, { recursive: true });
    if (script !== undefined) await fakeProgram(bin, 'python3', script);
    const cacheDir = join(folder, `cache-${name}`);
    return installSecantus({ cacheDir, env: { PATH: `${bin}:/usr/bin:/bin` }, log: silentLog, version: '1.2.3' });
  };
  /** A python3 that creates a folder for a virtual environment, with a pip that runs a script. */
  const pythonWithPip = (pip: string): string =>
    `mkdir -p "$3/bin" && printf '%s\\n' '#!/bin/sh' '${pip}' > "$3/bin/python" && chmod +x "$3/bin/python"`;

  it('fails without Python', async () => {
    const attempt = installSecantus({ cacheDir: join(folder, 'none'), env: {}, log: silentLog, version: '1.2.3' });
    await expect(attempt).rejects.toThrow('there is no python3 on the PATH');
  });

  it('names the package that a Python without venv needs', async () => {
    await expect(install('no-venv', 'echo "ensurepip is not available"; exit 1')).rejects.toThrow(
      /python3-venv\): it ended with exit code 1:\nensurepip is not available/,
    );
  });

  it('lets pip install only files whose hashes are known', async () => {
    const bin = join(folder, 'pinned');
    const calls = join(folder, 'pip-arguments');
    await fakeProgram(bin, 'python3', pythonWithPip(`echo "$@" >> ${calls}`));
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    await installSecantus({ cacheDir: join(folder, 'pinned-cache'), env, log: silentLog, version: SECANTUS_VERSION });
    const [, file = ''] = / --require-hashes --only-binary :all: --requirement (\S+)$/m.exec(
      await readFile(calls, 'utf8'),
    ) ?? [''];
    const required = (await readFile(file, 'utf8')).replaceAll('\\\n', '').split('\n');
    const packages = required.filter((line) => line !== '' && !line.startsWith('#'));
    expect(packages).toContainEqual(expect.stringMatching(`^secantusdb==${SECANTUS_VERSION} `));
    for (const line of packages) expect(line).toMatch(/^[\w.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}/);
  });

  it('reports why pip failed', async () => {
    await expect(install('no-index', pythonWithPip('echo "no such host"; exit 1'))).rejects.toThrow(
      /pip could not install SecantusDB 1.2.3: it ended with exit code 1:\nno such host/,
    );
  });

  it('is repeated after an interruption, and runs once for processes that start together', async () => {
    await expect(install('shared', pythonWithPip('exit 1'))).rejects.toThrow(/pip could not install/);
    const counting = pythonWithPip(`echo run >> ${join(folder, 'pip-runs')}; sleep 0.3`);
    const paths = await Promise.all([install('shared', counting), install('shared', counting)]);
    expect(new Set(paths).size).toBe(1);
    expect(await readFile(join(folder, 'pip-runs'), 'utf8')).toBe('run\n');
  });
});

describe('the default cache folder', () => {
  it('follows the XDG base directory specification', () => {
    expect(defaultCacheDir({}, '/home/someone')).toBe('/home/someone/.cache/prompt-gateway');
    expect(defaultCacheDir({ XDG_CACHE_HOME: '/cache' }, '/home/someone')).toBe('/cache/prompt-gateway');
  });
});
