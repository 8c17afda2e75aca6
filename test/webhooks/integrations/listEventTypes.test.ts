import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { eventTypes } from '../../../generated/events.ts';
import { problem } from '../../support/per-operation.ts';
import { setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();
const path = '/api/v1/event-types';

interface EventType {
  readonly type: string;
  readonly description: string;
  readonly subscribable: boolean;
  readonly schema: object;
  readonly example: { readonly type: string };
}

describe('200', () => {
  it('lists the types, and TEST as a type without subscriptions', async () => {
    const { status, body } = await setup.service.call('GET', path);
    expect(status).toBe(200);
    expect((body.data as EventType[]).map(({ type, subscribable }) => [type, subscribable])).toEqual(
      eventTypes.map((type) => [type, type !== 'TEST']),
    );
    expect(body.pagination).toEqual({ total: eventTypes.length, limit: 20, offset: 0, next: null });
  });

  it('gives each type a self-contained schema that accepts only its own example', async () => {
    const { body } = await setup.service.call('GET', path);
    const ajv = new Ajv2020({ strict: true, strictRequired: false });
    formats.default(ajv, { mode: 'full' });
    const types = body.data as EventType[];
    for (const { schema, example, description } of types) {
      const accepts = ajv.compile(schema);
      expect(description).not.toBe('');
      expect(types.filter((other) => accepts(other.example)).map((other) => other.example)).toEqual([example]);
    }
  });
});

describe('400', () => {
  it.each(['limit=0', 'limit=101', 'offset=-1', 'type=TEST'])('refuses %s', async (query) => {
    const { status, body } = await setup.service.call('GET', `${path}?${query}`);
    expect([status, body.type]).toEqual([400, problem('invalid-request')]);
  });
});
