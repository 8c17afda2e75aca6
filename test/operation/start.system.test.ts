import { execFile } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import packageJson from '../../package.json' with { type: 'json' };
import { allSettings } from '../../src/config/settings.ts';
import { findOnPath } from '../../src/storage/db/embedded/find-on-path.ts';
import { startDatabaseServer } from '../support/database-server.ts';
import { silentLog } from '../support/log.ts';
import { runServiceProgram } from '../support/service-process.ts';
import { setUpProcesses } from './operation-harness.ts';

const processes = setUpProcesses();
const rustServer = await findOnPath('secantusd-rs', process.env['PATH']);
const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

describe('the program', () => {
  it.each(['--help', '-h'])('lists every setting with %s, and starts nothing', async (option) => {
    const { code, output } = await runServiceProgram({ PORT: 'not looked at' }, { args: [option] });
    expect(code).toBe(0);
    for (const name of Object.keys(allSettings)) expect(output).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    expect(output).toContain('[default: 8080]');
  });

  it('prints its version with --version, and starts nothing', async () => {
    const { code, output, messages } = await runServiceProgram({ PORT: 'not looked at' }, { args: ['--version'] });
    expect([code, output, messages]).toEqual([0, `prompt-gateway ${packageJson.version}`, '']);
  });

  it.each([
    [['--port', '21083'], {}, '--port: is not an option. Set the environment variable PORT instead'],
    [['--port=21083'], {}, 'as in PORT=… npm start.'],
    [['--data-dir', '/tmp'], {}, 'the environment variable DATA_DIR'],
    [['--admin-api-key', 'a-value'], {}, 'the environment variable ADMIN_API_KEY'],
    [['-p', '21083'], {}, '-p: is not an option. Settings are environment variables'],
    [['--watch'], {}, '--watch: is not an option. Settings are environment variables'],
    [['--version', '--watch'], {}, '--watch: is not an option'],
    [['start'], {}, 'The only arguments are --help and --version. Settings are environment variables'],
    // The rest of `npm start --port 21083` and `npm start --port=21083`, without the `--`.
    [['21083'], { npm_config_port: 'true' }, '--port: is not an option. Set the environment variable PORT instead'],
    [[], { npm_config_port: '21083' }, '--port: is not an option. Set the environment variable PORT instead'],
  ])('does not start with the arguments %j %j, and says what to set', async (args, environment, told) => {
    const { code, output, messages } = await runServiceProgram(
      { DATA_DIR: '/dev/null/data', ...environment },
      { args },
    );
    expect([code, output]).toEqual([2, '']);
    expect(messages).toContain(told);
    expect(messages).not.toMatch(/21083|a-value|database/);
  });

  it('reads a .env in its working directory, with lower priority than the environment', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'env-file-'));
    await writeFile(path.join(folder, '.env'), 'PORT=from-the-file\nLOG_LEVEL=from-the-file\n');
    const { code, messages } = await runServiceProgram({ LOG_LEVEL: 'from-outside' }, { workingDirectory: folder });
    await rm(folder, { recursive: true });
    expect(code).toBe(2);
    expect(messages).toMatch(/^ {2}PORT: .*found "from-the-file"/m);
    expect(messages).toMatch(/^ {2}LOG_LEVEL: .*found "from-outside"/m);
  });

  it('starts with npm without a message about a missing .env', async () => {
    const { stdout, stderr } = await run('npm', ['-s', 'start', '--', '--version'], { cwd: root });
    expect([stdout, stderr]).toEqual([`prompt-gateway ${packageJson.version}\n`, '']);
  });

  it('refuses a setting that npm took because `--` is missing', async () => {
    const started = run('npm', ['-s', 'start', '--port=21083'], { cwd: root });
    await expect(started).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('PORT=… npm start') });
  });

  it('reports all mistakes in its settings, without the values of secrets, and ends with exit code 2', async () => {
    const secret = 'too-short-secret';
    const { code, output, messages } = await runServiceProgram({
      PORT: '99999',
      RATE_LIMIT: 'often',
      LOG_LEVEL: 'loud',
      S3_ENDPOINT: 'https://s3.example.com',
      ADMIN_API_KEY: secret,
    });
    expect([code, output]).toEqual([2, '']);
    for (const name of ['PORT', 'RATE_LIMIT', 'LOG_LEVEL', 'S3_ENDPOINT', 'ADMIN_API_KEY']) {
      expect(messages).toMatch(new RegExp(`^  ${name}: \\S`, 'm'));
    }
    expect(messages).not.toContain(secret);
  });

  it.each(['/dev/null/data', '/proc/data', '/proc', '/sys/data'])(
    'names the setting to change when it cannot store data in %s',
    async (folder) => {
      const environments = [{ DATA_DIR: folder }, { ...processes.environment, DATA_DIR: folder }];
      for (const environment of environments) {
        const { code, messages } = await runServiceProgram({ ...environment, PORT: '0' });
        expect(code).toBe(1);
        expect(messages.split('\n').at(-1)).toMatch(
          /^Data cannot be stored in \/\S+ \(.*\)\. Set DATA_DIR to a folder that this user can write to\.$/,
        );
      }
    },
  );

  it.each(['/dev/null', '/proc/nowhere'])(
    'names the setting to change when it cannot store downloads: %s',
    async (home) => {
      const { code, messages } = await runServiceProgram({
        DATA_DIR: await mkdtemp(path.join(tmpdir(), 'start-')),
        HOME: home,
        PATH: '',
        PORT: '0',
      });
      expect(code).toBe(1);
      expect(messages).toContain(`downloads and installations cannot be stored in ${home}/`);
      expect(messages).toContain(': set CACHE_DIR');
      expect(messages).not.toMatch(/^ +at /m);
    },
  );

  it('says in one sentence that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, messages } = await runServiceProgram({ ...processes.environment, PORT: String(port) });
    other.close();
    expect(code).toBe(1);
    expect(messages.split('\n').at(-1)).toBe(
      `The service cannot listen on 127.0.0.1, port ${port}: another program uses this port. ` +
        'Stop it, or set PORT to another port (0 for any free port).',
    );
    expect(messages).not.toMatch(/^ +at /m);
    // Before it connects to the database, and before the first start prints its key.
    expect(messages).not.toContain('Test-run results');
  });

  it('says in one sentence that the URI of the database is wrong, without the password', async () => {
    const { code, messages } = await runServiceProgram({
      ...processes.environment,
      MONGODB_URI: 'mongodb://user:pass@word@127.0.0.1/',
    });
    expect(code).toBe(1);
    expect(messages.split('\n').at(-1)).toMatch(/^The database URI is not a valid MongoDB connection string/);
    expect(messages).not.toContain('word@');
  });

  (rustServer === undefined ? it.skip : it)(
    'refuses a database that keeps replaced values in unique indexes, unless a setting skips the check',
    async () => {
      const server = await startDatabaseServer('secantusd-rs', silentLog);
      const environment = { ...processes.environment, MONGODB_URI: server.uri, DATABASE_CHECK: 'on' };
      const refused = await runServiceProgram(environment);
      const started = await processes.start({ ...environment, DATABASE_CHECK: 'off' });
      const { status } = await fetch(`${started.url}/health/ready`);
      await started.stop();
      await server.stop();
      expect(refused.code).toBe(1);
      expect(refused.messages).toMatch(
        /The database does not work as this service requires:\n- unique index: a value that was replaced stays taken\n(- .*\n)*Use MongoDB .*DATABASE_CHECK=off/,
      );
      expect(status).toBe(200);
    },
  );
});
