import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exclusionWords, formatWords, patternWords } from '../../src/http/contract-words.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('the explanations of what the contract requires', () => {
  it('cover all patterns, formats and exclusions of the contract, and no others', async () => {
    const contract = await readFile(new URL('../../generated/openapi.json', import.meta.url), 'utf8');
    const validators = await readFile(new URL('../../dist/validators/requests-thorough.js', import.meta.url), 'utf8');
    for (const pattern of patternWords.keys()) expect(validators).toContain(`"pattern":${JSON.stringify(pattern)}`);
    for (const format of formatWords.keys()) expect(contract).toContain(`"format":"${format}"`);
    const exclusions = [...validators.matchAll(/schemaPath:"([^"]+\/not)"/g)].map(([, path = '']) => path);
    for (const path of exclusions) expect(exclusionWords.filter(([wanted]) => wanted.test(path))).toHaveLength(1);
    expect(exclusions.length).toBeGreaterThanOrEqual(exclusionWords.length);
  });

  it.each([
    ['/v1/orders?since=yesterday', 'since'],
    ['/v1/orders?since=2026-02-30', 'since'],
    ['/v1/orders?since=2026-02-03T25:00:00Z', 'since'],
  ])('name the forms that a value may have in one sentence: %s', async (path, parameter) => {
    const { body } = await service.call('GET', path);
    const forms = [
      'must be a date such as 2026-11-06',
      'be a date and time with an offset, such as 2026-11-06T12:30:00%2B01:00 (%2B is the + in a URL)',
      'be one of their other forms in ISO 8601, such as 2026-11-06T12:30Z, 2026-11-06 12:30:00+0100 or 20261106T113000Z',
    ];
    expect(body.errors).toEqual([{ detail: forms.join(' or '), parameter }]);
  });

  it('name the type if a value has another type', async () => {
    const { body: created } = await service.call('POST', '/api/v1/integrations', {
      body: { name: 'x', url: 'https://example.com', event_types: ['ORDER_PLACED'] },
    });
    const path = `/api/v1/integrations/${created.id}/replays`;
    const { body } = await service.call('POST', path, { body: { since: 5 } });
    expect(body.errors).toContainEqual({ detail: 'must be string', pointer: '#/since' });
  });

  it('do not repeat for the format what they say for the pattern', async () => {
    const location = { name: ' ', currency: 'euro', time_zone: '+02:00', fiscal_day_end: '24:00' };
    const { body } = await service.call('POST', '/v1/locations', { body: location });
    expect(body.errors).toEqual([
      { detail: 'must have a character that is not a space', pointer: '#/name' },
      { detail: 'must have at most 3 characters', pointer: '#/currency' },
      { detail: 'must be three capital letters such as EUR', pointer: '#/currency' },
      { detail: 'must be the name of a time zone such as Europe/Amsterdam', pointer: '#/time_zone' },
      { detail: 'must be a time of day from 00:00 to 23:59', pointer: '#/fiscal_day_end' },
    ]);
    const integration = {
      name: '',
      url: 'example.com',
      event_types: ['ORDER_PLACED'],
      secret: `whsec_${'a'.repeat(31)}`,
    };
    const { body: second } = await service.call('POST', '/api/v1/integrations', { body: integration });
    expect(second.errors).toEqual([
      { detail: 'must have at least 1 character', pointer: '#/name' },
      { detail: 'must have a character that is not a space', pointer: '#/name' },
      { detail: 'must be an http or https URL without user information, fragment and spaces', pointer: '#/url' },
      {
        detail:
          'must be 24 to 64 printable ASCII characters, or whsec_ and the base64 of 24 to 64 bytes; without spaces around it, and with nothing before whsec_',
        pointer: '#/secret',
      },
    ]);
  });
});
