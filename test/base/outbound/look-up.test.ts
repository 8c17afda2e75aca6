import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLookUp, type LookUp, type LookUpOptions } from '../../../src/base/outbound/look-up.ts';
import { startDnsServer, type DnsServer } from '../../support/dns-server.ts';

let server: DnsServer;
let folder: string;
let askedSystem: string[];

const zone: Record<string, string[] | 'silence' | 'failure'> = {
  'both.test': ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
  'six.test': ['2001:db8::2'],
  'nothing.test': [],
  'broken.test': 'failure',
  'a.b.test': ['192.0.2.3'],
  'short.search.test': ['192.0.2.4'],
};

beforeAll(async () => {
  server = await startDnsServer((name) => (name.startsWith('dead') ? 'silence' : zone[name]));
  folder = await mkdtemp(path.join(tmpdir(), 'look-up-'));
  await writeFile(path.join(folder, 'hosts'), '192.0.2.9 Kitchen kitchen.lan # display\n::9 kitchen\nnonsense x\n');
  await writeFile(path.join(folder, 'resolv.conf'), '');
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  askedSystem = [];
});

function lookUpOf(options: LookUpOptions = {}): LookUp {
  return createLookUp({
    servers: [server.address],
    files: { hosts: path.join(folder, 'hosts'), resolv: path.join(folder, 'resolv.conf') },
    askSystem: (name) => {
      askedSystem.push(name);
      return Promise.resolve([{ address: '192.0.2.8', family: 4 }]);
    },
    ...options,
  });
}

const queriesOf = (name: string): number => server.queries.filter((query) => query.name === name).length;

describe('a look-up', () => {
  it.each([
    ['both.test', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['BOTH.test', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['both.test.', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['six.test', ['2001:db8::2']],
    ['localhost', ['127.0.0.1', '::1']],
    ['api.localhost', ['127.0.0.1', '::1']],
    ['kitchen', ['192.0.2.9', '::9']],
    ['kitchen.lan', ['192.0.2.9']],
  ])('of %s finds %j', async (name, addresses) => {
    expect((await lookUpOf()(name)).map(({ address }) => address)).toEqual(addresses);
    expect(askedSystem).toEqual([]);
  });

  it.each([
    ['unknown.test', 'ENOTFOUND'],
    ['nothing.test', 'ENOTFOUND'],
    ['broken.test', 'ESERVFAIL'],
    ['a..b', 'EBADNAME'],
  ])('of %s fails with %s', async (name, code) => {
    await expect(lookUpOf()(name)).rejects.toMatchObject({ code });
    expect(askedSystem).toEqual([]);
  });

  it.each(['printer', 'printer.local'])('of %s is passed to the system when DNS does not know it', async (name) => {
    expect(await lookUpOf()(name)).toEqual([{ address: '192.0.2.8', family: 4 }]);
    expect(askedSystem).toEqual([name]);
  });

  it('passes one name at a time to the system', async () => {
    let atOnce = 0;
    let most = 0;
    const lookUp = lookUpOf({
      askSystem: async () => {
        most = Math.max(most, (atOnce += 1));
        await new Promise((resolve) => setTimeout(resolve, 10));
        atOnce -= 1;
        return [{ address: '192.0.2.8', family: 4 }];
      },
    });
    await Promise.all(Array.from({ length: 5 }, (_, index) => lookUp(`printer-${index}`)));
    expect(most).toBe(1);
  });

  it('is shared by callers with the same name, and repeated for later callers', async () => {
    const lookUp = lookUpOf();
    const before = queriesOf('a.b.test');
    await Promise.all(Array.from({ length: 20 }, () => lookUp('a.b.test')));
    expect(queriesOf('a.b.test') - before).toBe(2);
    await lookUp('a.b.test');
    expect(queriesOf('a.b.test') - before).toBe(4);
  });

  it('ends after a limit', async () => {
    await expect(lookUpOf({ timeoutMs: 50 })('dead-1.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('is not delayed by a hundred others without an answer', async () => {
    const lookUp = lookUpOf({ timeoutMs: 1_000 });
    const dead = Array.from({ length: 100 }, (_, index) => lookUp(`dead-of-many-${index}.test`).catch(() => 'failed'));
    const first = await Promise.race([...dead, lookUp('both.test')]);
    expect(first).not.toBe('failed');
    expect(await Promise.all(dead)).toEqual(dead.map(() => 'failed'));
  });

  it.each([
    ['short', 'search other.test search.test', ['short.other.test', 'short.search.test']],
    ['a.b.test', 'search other.test', ['a.b.test']],
    ['a.b.test', 'domain other.test # mine\noptions ndots:3', ['a.b.test.other.test', 'a.b.test']],
    ['a.b.test.', 'search other.test\noptions rotate ndots:5', ['a.b.test']],
  ])('of %s searches as resolv.conf says: %j', async (name, text, asked) => {
    const resolv = path.join(folder, 'searching.conf');
    await writeFile(resolv, `nameserver 192.0.2.53\n${text}\n`);
    const before = server.queries.length;
    await lookUpOf({ files: { hosts: path.join(folder, 'hosts'), resolv } })(name);
    const names = server.queries.slice(before).map((query) => query.name);
    // Queries of earlier tests are repeated until they time out.
    expect([...new Set(names)].filter((other) => !other.startsWith('dead'))).toEqual(asked);
  });
});
