import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { toInstant } from '../../../src/base/runtime/instants.ts';

describe('an instant', () => {
  it.each([
    ['2026-03-02', '2026-03-02T00:00:00.000Z'],
    ['2026-03-02T10:00:00', '2026-03-02T10:00:00.000Z'],
    ['2026-03-02T10:00:00.5', '2026-03-02T10:00:00.500Z'],
    ['2026-03-02T10:00:00.07-05:00', '2026-03-02T15:00:00.070Z'],
    ['2026-03-02T10:00:00.0010000000000000000001Z', '2026-03-02T10:00:00.002Z'],
    ['2026-12-31T23:59:59.9990000000000000000001Z', '2027-01-01T00:00:00.000Z'],
    ['0000-01-01T00:00:00-00:00', '0001-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00+00:01', '0001-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00-00:01', '0001-01-01T00:01:00.000Z'],
    ['9999-12-31T23:59:59.9991Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59-00:01', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59+00:01', '9999-12-31T23:58:59.000Z'],
  ])('%s is %s', (text, instant) => {
    expect(toInstant(text).toISOString()).toBe(instant);
  });

  it('is compared with whole milliseconds as exactly as its text', () => {
    const stored = [0, 1, 2, 998, 999, 1_000].map((offset) => BigInt(Date.parse('2026-03-02T10:00:00Z') + offset));
    for (const fraction of ['0', '001', '0000000', '0000001', '0009999999', '001000001', '998999999999999', '9990']) {
      // In units of 10^-15 s.
      const exact = BigInt(Date.parse('2026-03-02T10:00:00Z')) * 10n ** 12n + BigInt(fraction.padEnd(15, '0'));
      const rounded = BigInt(toInstant(`2026-03-02T10:00:00.${fraction}Z`).getTime());
      for (const time of stored) expect(time >= rounded).toBe(time * 10n ** 12n >= exact);
    }
  });

  it('does not depend on the time zone of the service', async () => {
    const module = new URL('../../../src/base/runtime/instants.ts', import.meta.url).href;
    const script = `const { toInstant } = await import('${module}');
      console.log(new Date().getTimezoneOffset() !== 0, toInstant('2026-03-02T10:00:00').toISOString());`;
    const environment = { ...process.env, TZ: 'America/St_Johns' };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      env: environment,
    });
    expect(stdout).toBe('true 2026-03-02T10:00:00.000Z\n');
  });

  it('is not made from other texts', () => {
    expect(() => toInstant('yesterday')).toThrow('not a moment');
  });
});
