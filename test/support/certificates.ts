/** Certificates (X.509, RFC 5280) for tests of TLS, in DER as `node:crypto` does not write them. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll } from '@jest/globals';

/** An authority that no client trusts unless it is told to. */
export interface Authority {
  /** Its own certificate, as PEM. */
  readonly cert: string;
  /** A certificate for these names, and its key, as PEM. */
  issue(names: readonly string[], validity?: Validity): { readonly cert: string; readonly key: string };
}

/** The first and last moment; by default from a day ago to a day from now. */
export interface Validity {
  readonly from?: Date;
  readonly until?: Date;
}

const day = 86_400_000;

/** Creates an authority with a key of its own. */
export function createAuthority(name: string): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isAuthority = extension('2.5.29.19', sequence(tlv(0x01, [0xff])));
  return {
    cert: certificate({ issuer: name, subject: name, publicKey, signer: privateKey, extensions: [isAuthority] }),
    issue(names, validity) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const about = { issuer: name, subject: names[0] ?? '', extensions: [alternativeNames(names)] };
      return {
        cert: certificate({ ...about, publicKey: own.publicKey, signer: privateKey, validity }),
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}

/** Lets this process trust an authority during the tests of a file. @returns the authority */
export function trust(authority: Authority): Authority {
  const before = getCACertificates('default');
  beforeAll(() => {
    setDefaultCACertificates([...before, authority.cert]);
  });
  afterAll(() => {
    setDefaultCACertificates(before);
  });
  return authority;
}

/** A certificate that is its own authority, and its key, as PEM. */
export function createSelfSigned(names: readonly string[]): { readonly cert: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [subject = ''] = names;
  const extensions = [alternativeNames(names)];
  return {
    cert: certificate({ issuer: subject, subject, publicKey, signer: privateKey, extensions }),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

interface Content {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly validity?: Validity | undefined;
}

function certificate({ issuer, subject, publicKey, signer, extensions, validity = {} }: Content): string {
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'));
  const { from = new Date(Date.now() - day), until = new Date(Date.now() + day) } = validity;
  const content = sequence(
    tlv(0xa0, tlv(0x02, [2])),
    tlv(0x02, [1, ...randomBytes(8)]),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(time(from), time(until)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  );
  const signature = tlv(0x03, [0, ...sign('sha256', content, signer)]);
  const lines = sequence(content, ecdsaWithSha256, signature)
    .toString('base64')
    .replaceAll(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    /^[\d.]+$/.test(name) ? tlv(0x87, name.split('.').map(Number)) : tlv(0x82, Buffer.from(name)),
  );
  return extension('2.5.29.17', sequence(...entries));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), tlv(0x04, value));
}

function commonName(name: string): Buffer {
  return sequence(tlv(0x31, sequence(objectId('2.5.4.3'), tlv(0x0c, Buffer.from(name)))));
}

/** A GeneralizedTime. */
function time(at: Date): Buffer {
  return tlv(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`));
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const base128 = (value: number): number[] =>
    value < 128 ? [value] : [...base128(value >> 7).map((digit) => digit | 0x80), value & 0x7f];
  return tlv(0x06, [first * 40 + second, ...rest.flatMap(base128)]);
}

function sequence(...members: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(members));
}

/** Type, length, value. */
function tlv(type: number, value: Buffer | readonly number[]): Buffer {
  const content = Buffer.from(value);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([type, ...length]), content]);
}
