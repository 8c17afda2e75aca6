import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureSecretKey, parseSecretKey } from '../../../src/base/secrets/secret-key-file.ts';
import { createSecretBox, SecretUnreadableError, type Sealed } from '../../../src/base/secrets/secret-box.ts';

const key = randomBytes(32);
const box = createSecretBox(key);

describe('createSecretBox', () => {
  it('decrypts what it encrypted, and encrypts the same text differently each time', () => {
    const sealed = box.seal('a secret: é', 'record');
    expect(box.open(sealed, 'record')).toBe('a secret: é');
    expect(sealed).not.toContain('secret');
    expect(box.seal('a secret: é', 'record')).not.toBe(sealed);
  });

  it('does not decrypt it as the text of another record', () => {
    expect(() => box.open(box.seal('text', 'integrations/1/secret'), 'integrations/2/secret')).toThrow(
      SecretUnreadableError,
    );
  });

  it('does not decrypt it after any change, or without the key', () => {
    const sealed = box.seal('text', 'record');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
      // Some bits of the last character of base64 have no meaning.
      if (index < sealed.length - 1) expect(() => box.open(changed as Sealed, 'record')).toThrow(SecretUnreadableError);
    }
    expect(() => createSecretBox(randomBytes(32)).open(sealed, 'record')).toThrow(SecretUnreadableError);
    expect(() => box.open('v1.0.' as Sealed, 'record')).toThrow(SecretUnreadableError);
  });

  it('decrypts with a previous key, and encrypts with the current one', () => {
    const present = randomBytes(32);
    const rotated = createSecretBox(present, [key]);
    expect(rotated.open(box.seal('old', 'record'), 'record')).toBe('old');
    expect(createSecretBox(present).open(rotated.seal('new', 'record'), 'record')).toBe('new');
  });

  it('encrypts again only what a previous key encrypted', () => {
    const present = randomBytes(32);
    const rotated = createSecretBox(present, [key]);
    const renewed = rotated.renew(box.seal('old', 'record'), 'record');
    expect(createSecretBox(present).open(renewed, 'record')).toBe('old');
    expect(rotated.renew(renewed, 'record')).toBe(renewed);
    const foreign = createSecretBox(randomBytes(32)).seal('text', 'record');
    expect(rotated.renew(foreign, 'record')).toBe(foreign);
  });
});

describe('ensureSecretKey', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'secret-key-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it('creates one key that only this user can read, even if many ask at the same time', async () => {
    const dataDir = join(folder, 'new');
    const keys = await Promise.all(Array.from({ length: 8 }, () => ensureSecretKey(dataDir)));
    expect(new Set(keys.map(String)).size).toBe(1);
    expect(keys[0]).toHaveLength(32);
    expect(await ensureSecretKey(dataDir)).toEqual(keys[0]);
    expect(await readdir(dataDir)).toEqual(['secrets.key']);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
  });

  it('never replaces a file that it cannot read as a key', async () => {
    await writeFile(join(folder, 'secrets.key'), 'something else');
    await chmod(join(folder, 'secrets.key'), 0o600);
    await expect(ensureSecretKey(folder)).rejects.toThrow('does not hold a key');
  });
});

describe('parseSecretKey', () => {
  it('reads 32 bytes in base64, base64url and hex, and nothing else', () => {
    expect([key.toString('base64'), key.toString('base64url'), key.toString('hex')].map(parseSecretKey)).toEqual([
      key,
      key,
      key,
    ]);
    expect(['', 'short', key.toString('hex').slice(2), randomBytes(33).toString('base64')].map(parseSecretKey)).toEqual(
      Array.from({ length: 4 }, () => undefined),
    );
  });
});
