import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { digestOf } from '../../../src/base/runtime/json-size.ts';

it('a text that looks like the digest of a long text has another digest', () => {
  const long = 'é'.repeat(1024 * 1024);
  const digest = createHash('sha256').update(long, 'utf16le').digest('hex');
  expect(digestOf([long], 'hex')).not.toBe(digestOf([`sha256:${digest}`], 'hex'));
});
