import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { allSettings } from '../../src/config/settings.ts';
import { runServiceProgram } from '../support/service-process.ts';
import { setUpProcesses } from './harness.ts';

const processes = setUpProcesses();

describe('the program', () => {
  it('lists every setting with --help, and starts nothing', async () => {
    const { code, output } = await runServiceProgram({ PORT: 'not looked at' }, '--help');
    expect(code).toBe(0);
    for (const name of Object.keys(allSettings)) expect(output).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    expect(output).toContain('[default: 8080]');
  });

  it('tells all mistakes in its settings at once, without the values of secrets, and ends with exit code 2', async () => {
    const secret = 'too-short-secret';
    const { code, output, messages } = await runServiceProgram({
      ...{ PORT: '99999', RATE_LIMIT: 'often', LOG_LEVEL: 'loud', S3_ENDPOINT: 'https://s3.example.com' },
      ADMIN_API_KEY: secret,
    });
    expect([code, output]).toEqual([2, '']);
    for (const name of ['PORT', 'RATE_LIMIT', 'LOG_LEVEL', 'S3_ENDPOINT', 'ADMIN_API_KEY']) {
      expect(messages).toMatch(new RegExp(`^  ${name}: \\S`, 'm'));
    }
    expect(messages).not.toContain(secret);
  });

  it('says what to set when its folder cannot be made', async () => {
    const { code, messages } = await runServiceProgram({ DATA_DIR: '/dev/null/data', PORT: '0' });
    expect(code).toBe(1);
    expect(messages.split('\n').at(-1)).toMatch(
      /^There is no place for a database \(.*\)\. Set DATA_DIR .* or MONGODB_URI/,
    );
  });

  it('says in one sentence that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, messages } = await runServiceProgram({ ...processes.environment, PORT: String(port) });
    other.close();
    expect(code).toBe(1);
    expect(messages.split('\n').at(-1)).toBe(
      `The service cannot listen on 127.0.0.1, port ${port}: another program uses this port. ` +
        'Stop it, or choose another PORT (0 takes any free one).',
    );
    expect(messages).not.toMatch(/^ +at /m);
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
});
