import { describe, expect, it } from '@jest/globals';
import { fields, changeable, fixed, hidden, made, type None, type Undeclared } from '../src/base/fields/fields.ts';
import { integer, list, moment, object, text } from '../src/base/fields/kinds.ts';

const thingFields = fields({
  id: made(text),
  ownerId: fixed(text),
  name: changeable(text),
  note: changeable(text, { optional: true }),
  parts: changeable(list(object({ id: text, unitPrice: integer })), { initially: [] }),
  rate: changeable(integer, { initially: 0, shownAs: 'rate_bp' }),
  createdAt: made(moment),
  fingerprint: hidden(text),
});

const thing = {
  ...{ id: '1', ownerId: '2', name: 'Table', note: undefined, rate: 5, fingerprint: 'f' },
  parts: [{ id: '3', unitPrice: 4 }],
  createdAt: new Date('2026-11-04T08:10:00.000Z'),
};
const document = {
  ...{ _id: '1', owner_id: '2', name: 'Table', rate: 5, fingerprint: 'f', created_at: thing.createdAt },
  parts: [{ id: '3', unit_price: 4 }],
};

describe('a table of fields', () => {
  it('maps between object, document and answer, field by field', () => {
    const strange = { unknown: true, parts: [{ id: '3', unit_price: 4, unknown: true }] };
    expect(thingFields.toDocument({ ...thing, ...{ unknown: true } })).toStrictEqual(document);
    expect(thingFields.fromDocument({ ...document, ...strange })).toStrictEqual(thing);
    expect(thingFields.show({ ...thing, ...{ unknown: true } })).toStrictEqual({
      ...{ id: '1', owner_id: '2', name: 'Table', rate_bp: 5, created_at: '2026-11-04T08:10:00.000Z' },
      parts: [{ id: '3', unit_price: 4 }],
    });
  });

  it('gives initial values to fields that documents of earlier releases lack', () => {
    const { rate: _, ...earlier } = document;
    expect(thingFields.fromDocument(earlier as typeof document).rate).toBe(0);
  });

  it('refuses a document without a required field', () => {
    const { name: _, ...damaged } = document;
    expect(() => thingFields.fromDocument(damaged as typeof document)).toThrow('the document 1 has no name');
  });

  it('stores fields that are set and removes fields that are cleared', () => {
    expect(thingFields.toUpdate({ id: '1', name: 'Chair', note: 'old' })).toStrictEqual({
      $set: { name: 'Chair', note: 'old' },
    });
    expect(thingFields.toUpdate({ note: undefined })).toStrictEqual({ $set: {}, $unset: { note: '' } });
  });

  it('reads the fields that a caller can set', () => {
    expect(thingFields.readNew({ owner_id: '2', name: 'Table' })).toStrictEqual({
      ...{ ownerId: '2', name: 'Table', note: undefined, parts: [], rate: 0 },
    });
    const sent = { id: '9', owner_id: '9', note: null, rate_bp: 7, created_at: '2030-01-01T00:00:00Z' };
    expect(thingFields.readChange(sent)).toStrictEqual({ note: undefined, rate: 7 });
  });

  it('returns the other fields in the body of a PUT', () => {
    const others = { id: '1', owner_id: '9', created_at: '2026-11-04T09:10:00+01:00' };
    expect(thingFields.others({ ...others, name: 'Chair', rate_bp: 7 })).toEqual(others);
  });

  it('does not compile if contract and table have different fields', () => {
    type Table = typeof thingFields.table;
    type Sent = { owner_id: string; name: string; note?: string; parts?: []; rate_bp?: number };
    type Answer = Sent & { id: string; created_at: string };
    type Same = None<Undeclared<Table, Answer, Sent, Answer>>;
    // @ts-expect-error The table does not have `color`.
    type Lacking = None<Undeclared<Table, Answer & { color?: string }, Sent, Answer>>;
    // @ts-expect-error The contract does not have `name`.
    type Superfluous = None<Undeclared<Table, Omit<Answer, 'name'>, Sent, Answer>>;
    // @ts-expect-error A field that a PUT may repeat is missing in the body of the PUT.
    type Unchanging = None<Undeclared<Table, Answer, Sent, Omit<Answer, 'created_at'>>>;
    const none: (Same | Lacking | Superfluous | Unchanging)[] = [];
    expect(none).toEqual([]);
  });

  it('does not compile if an object or a body lacks a field', () => {
    const { name: _, ...nameless } = thing;
    // @ts-expect-error The name is missing.
    const document: { name: string } = thingFields.toDocument(nameless);
    expect(document.name).toBeUndefined();
    // @ts-expect-error The owner's id is missing.
    expect(thingFields.readNew({ name: 'Table' }).ownerId).toBeUndefined();
    // @ts-expect-error The server sets the id.
    expect(thingFields.readChange({}).id).toBeUndefined();
  });
});
