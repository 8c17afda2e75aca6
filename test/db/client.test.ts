import { afterAll, describe, expect, it } from '@jest/globals';
import { connectDatabase, DatabaseStartError, type Database } from '../../src/db/client.ts';
import { hostsOf, withoutCredentials, withoutServiceOwnedOptions } from '../../src/db/connection-string.ts';
import { testDatabaseUri } from '../support/database.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { recordingLog, silentLog } from '../support/log.ts';

const opened: Database[] = [];
afterAll(() => Promise.all(opened.map((database) => database.close())));

async function connect(uri: string): Promise<Database> {
  const database = await connectDatabase({ uri, databaseName: 'unused', log: silentLog });
  opened.push(database);
  return database;
}

describe('connectDatabase', () => {
  it('waits for a majority and the journal and reads from the primary, whatever the URI contains', async () => {
    const unsafe = 'w=0&journal=false&wtimeoutMS=1&readPreference=secondary&readConcernLevel=local&retryWrites=true';
    const uri = testDatabaseUri();
    const { db } = await connect(`${uri}${uri.includes('?') ? '&' : '/?'}${unsafe}`);
    const { writeConcern, readConcern, readPreference } = db.collection('any');
    expect(writeConcern).toMatchObject({ w: 'majority', journal: true });
    expect(writeConcern?.wtimeoutMS).toBeUndefined();
    expect(readConcern?.level).toBe('majority');
    expect(readPreference?.mode).toBe('primary');
    expect(db.client.options).toMatchObject({ retryWrites: false, ignoreUndefined: true, monitorCommands: false });
  });

  it('keeps other options of the URI', async () => {
    const uri = testDatabaseUri();
    const { db } = await connect(`${uri}${uri.includes('?') ? '&' : '/?'}maxPoolSize=7`);
    expect(db.client.options.maxPoolSize).toBe(7);
  });

  it('keeps trying at start, and names the host that did not answer, without the credentials', async () => {
    const log = recordingLog();
    const uri = 'mongodb://someone:s3cr3t@127.0.0.1:1/?authSource=admin';
    const attempt = connectDatabase({ uri, databaseName: 'unused', log, startLimitMs: 4_000 });
    const error: unknown = await attempt.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseStartError);
    expect(String(error)).toMatch(/The database at 127\.0\.0\.1:1 did not answer within 4 s/);
    expect(`${String(error)}${log.lines.join()}`).not.toMatch(/s3cr3t|someone/);
    expect(log.lines[0]).toMatch(/database does not answer yet; retrying/);
  });

  it('connects when the server has started', async () => {
    const proxy = await LossyProxy.start(testDatabaseUri());
    await proxy.stop();
    const connecting = connect(proxy.uri);
    setTimeout(() => void proxy.restart(), 3_000);
    await (await connecting).ping();
    await opened.pop()?.close();
    await proxy.stop();
  });

  it('refuses an invalid URI without repeating its password', async () => {
    const attempt = connect('mongodb://someone:s3:cr3t@x@/');
    await expect(attempt).rejects.toThrow(/not a valid MongoDB connection string/);
    await expect(attempt).rejects.not.toThrow(/s3|cr3t/);
    await expect(connect('mongodb://localhost/?nonsense=1')).rejects.toThrow(/option nonsense is not supported/);
  });
});

describe('a connection string', () => {
  it('loses the options that the service sets itself, in any case, and keeps the others', () => {
    expect(withoutServiceOwnedOptions('mongodb://h/db?W=1&replicaSet=rs&ReadPreference=nearest')).toEqual({
      uri: 'mongodb://h/db?replicaSet=rs',
      options: new Set(['replicaset']),
    });
    expect(withoutServiceOwnedOptions('mongodb://h/db?w=0').uri).toBe('mongodb://h/db');
    expect(withoutServiceOwnedOptions('mongodb://h').uri).toBe('mongodb://h');
  });

  it.each([
    ['mongodb://a.example:1,b.example:2/db?x=1', 'a.example:1,b.example:2'],
    ['mongodb+srv://user:pass@cluster.example/db', 'cluster.example'],
    ['mongodb://user:p/a@s?s@host.example/', 'host.example'],
    ['', 'the configured address'],
  ])('%s shows as %s', (uri, hosts) => {
    expect(hostsOf(uri)).toBe(hosts);
  });

  it('appears in messages without its password', () => {
    expect(withoutCredentials('cannot parse "p/w@h"', 'mongodb://u:p/w@h')).toMatch(/percent-encoded/);
    expect(withoutCredentials('option x is not supported', 'mongodb://h/?x=1')).toBe('option x is not supported');
  });
});
