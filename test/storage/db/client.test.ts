import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { BSON } from 'mongodb';
import { connectDatabase, DatabaseStartError, type Database } from '../../../src/storage/db/client.ts';
import { hostsOf, withoutCredentials, withoutServiceOwnedOptions } from '../../../src/storage/db/connection-string.ts';
import { testDatabaseUri } from '../../support/database.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';
import { recordingLog, silentLog } from '../../support/log.ts';

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

  it('fails immediately when the server is too old for the driver', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (request) => socket.write(oldHello(Buffer.from(request))));
    });
    const log = recordingLog();
    const connecting = connectDatabase({ uri: await listenOnLoopback(server), databaseName: 'unused', log });
    await expect(connecting).rejects.toThrow(
      /^The database at 127\.0\.0\.1:\d+ cannot be used: .*wire version.*requires at least/,
    );
    expect(log.lines).toEqual([]);
    server.close();
  });

  it('fails immediately when the certificate of the server is not trusted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const options = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1', '-days', '1'];
    await promisify(execFile)('openssl', [...options, '-keyout', keyFile, '-out', certFile]);
    const server = createTlsServer({ key: await readFile(keyFile), cert: await readFile(certFile) });
    await rm(folder, { recursive: true });
    const log = recordingLog();
    const uri = `${await listenOnLoopback(server)}?tls=true`;
    const connecting = connectDatabase({ uri, databaseName: 'unused', log });
    await expect(connecting).rejects.toThrow(/^The database at 127\.0\.0\.1:\d+ cannot be used: .*self-signed/);
    expect(log.lines).toEqual([]);
    server.close();
  });

  it('gives up when it is canceled', async () => {
    const canceling = new AbortController();
    const log = recordingLog();
    const { signal } = canceling;
    const attempt = connectDatabase({ uri: 'mongodb://127.0.0.1:1/', databaseName: 'unused', log, signal });
    const reason = new Error('canceled by the test');
    canceling.abort(reason);
    await expect(attempt).rejects.toBe(reason);
    expect(log.lines).toEqual([]);
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

/** @returns a connection string */
async function listenOnLoopback(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** The answer of MongoDB 3.6 to the first message on a connection, which is an OP_QUERY: an OP_REPLY. */
function oldHello(request: Buffer): Buffer {
  const hello = BSON.serialize({ ok: 1, ismaster: true, minWireVersion: 0, maxWireVersion: 6 });
  const [header, fields] = [Buffer.alloc(16), Buffer.alloc(20)];
  const [length, responseTo, opCode] = [header.length + fields.length + hello.length, request.readInt32LE(4), 1];
  for (const [place, value] of [length, 1, responseTo, opCode].entries()) header.writeInt32LE(value, place * 4);
  fields.writeInt32LE(1, 16);
  return Buffer.concat([header, fields, hello]);
}

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
