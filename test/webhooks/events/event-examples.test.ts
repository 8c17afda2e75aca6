import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import asyncapi from '../../../generated/asyncapi.json' with { type: 'json' };
import * as fastValidators from '../../../dist/validators/events.js';
import { eventCatalog, eventTypes, type EventPayload, type EventType } from '../../../generated/events.ts';
import openapi from '../../../generated/openapi.json' with { type: 'json' };
import { resolve } from '../../../src/codegen/contract-document.ts';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
interface Schema {
  properties?: Record<string, Schema>;
  required?: string[];
}
interface Example {
  name: string;
  headers: Record<string, string>;
  payload: Record<string, Json> & { type: EventType; createdAt: string };
}

const messages = Object.values(asyncapi.channels.integration.messages);
const examples = messages.flatMap((message) => message.examples as unknown as Example[]);
const named = examples.map((example) => [example.name, example] as const);

/** The secret that signs the examples. */
const secret = 'EXAMPLE-not-a-real-secret-0123456789';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
formats.default(ajv, { mode: 'full' });
const published = Object.fromEntries(
  eventTypes.map((type) => [type, ajv.compile(eventCatalog[type].schema)]),
) as Record<EventType, ValidateFunction>;
/** Like the published schemas, but a field that is not described is a mistake. */
const closed = Object.fromEntries(
  eventTypes.map((type) => [type, ajv.compile(closedCopy(eventCatalog[type].schema))]),
) as Record<EventType, ValidateFunction>;
const isHeaders = ajv.compile(closedCopy(asyncapi.components.schemas.DeliveryHeaders));

/** A copy of a schema whose objects allow only described members. */
function closedCopy(schema: object): object {
  return JSON.parse(JSON.stringify({ ...schema, $id: undefined }), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'properties' in value
      ? { ...value, additionalProperties: false }
      : value,
  ) as object;
}

function accepts(type: EventType, payload: unknown): boolean {
  const opinions = [published[type](payload), fastValidators[type](payload)];
  expect(new Set(opinions).size).toBe(1);
  return opinions[0] === true;
}

describe('examples of events', () => {
  it('belong to the message of their type, and have different names', () => {
    for (const message of messages) for (const { payload } of message.examples) expect(payload.type).toBe(message.name);
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length);
  });

  it.each(named)('%s: the payload is valid, and has no field that is not described', (_name, { payload }) => {
    expect(accepts(payload.type, payload)).toBe(true);
    const isClosed = closed[payload.type];
    expect(isClosed(payload) || isClosed.errors).toBe(true);
  });

  it.each(named)('%s: the headers are valid and match the payload', (_name, { headers, payload }) => {
    expect(isHeaders(headers) || isHeaders.errors).toBe(true);
    expect(headers['x-service-event-type']).toBe(payload.type);
    expect(headers['x-service-event-target-uuid']).toBe(payload['targetUuid'] ?? undefined);
    expect(headers['x-service-event-target-id']).toBe(payload['targetId']);
    expect(headers['webhook-id']).toBe(payload['id']);
    expect(headers['webhook-timestamp']).toBe(String(Math.floor(Date.parse(payload.createdAt) / 1000)));
  });

  it.each(named)('%s: it has both signatures, or none', (name, { headers, payload }) => {
    if (name === 'test-unsigned') {
      expect(headers).not.toHaveProperty('x-service-signature');
      expect(headers).not.toHaveProperty('webhook-signature');
      return;
    }
    const body = JSON.stringify(payload);
    const signed = `${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.${body}`;
    expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
  });

  it.each(eventTypes)('%s: every field occurs, and every optional field is missing once', (type) => {
    const payloads = examples.filter(({ payload }) => payload.type === type).map(({ payload }) => payload);
    const wrong = fieldsOf(schemaOf(type)).filter(({ path, optional }) => {
      // Only samples have `test`, and these examples are what samples are made of. Only events of earlier releases lack a location or names of spot and zone.
      if (/^(test|location(Uuid|Id|Name)|data,(spot|zone)Name)$/.test(path.join())) return false;
      const present = payloads.filter((payload) => at(payload, path) !== undefined).length;
      return present === 0 || (optional && present === payloads.length);
    });
    expect(wrong).toEqual([]);
  });

  it('show each cause of a CATEGORY_UPDATED event', () => {
    const causes = examples
      .filter(({ payload }) => payload.type === 'CATEGORY_UPDATED')
      .map(({ payload }) => at(payload, ['data', 'cause', 'type']));
    expect(new Set(causes)).toEqual(new Set(['CATEGORY_UPDATED', 'PRODUCT_UPDATED']));
  });
});

describe('the schema of headers', () => {
  it('has their names in the case in which HTTP libraries give them', () => {
    const { properties, required } = asyncapi.components.schemas.DeliveryHeaders;
    const names = [...Object.keys(properties), ...required];
    expect(names.filter((name) => new Headers({ [name]: 'x' }).keys().next().value !== name)).toEqual([]);
  });
});

describe('schemas of events', () => {
  it.each(named)('%s: allow fields that later releases add', (_name, { payload }) => {
    const data = payload['data'] as Record<string, Json>;
    expect(accepts(payload.type, { ...payload, later: 1, data: { ...data, later: [true] } })).toBe(true);
  });

  it.each(named)(
    '%s: refuse a payload with a missing required field, or a field of another type',
    (_name, { payload }) => {
      const present = fieldsOf(schemaOf(payload.type)).filter(({ path }) => at(payload, path) !== undefined);
      expect(present.length).toBeGreaterThan(2);
      for (const { path, optional } of present) {
        expect([path, accepts(payload.type, change(payload, path, undefined))]).toEqual([path, optional]);
        expect([path, accepts(payload.type, change(payload, path, -1.5))]).toEqual([path, false]);
      }
    },
  );

  it.each(eventTypes)('%s: contain everything that they refer to', (type) => {
    const text = JSON.stringify(eventCatalog[type].schema);
    expect(text).not.toContain('"$ref"');
  });

  it.each(eventTypes)('%s: have a path as `$id`, which resolves at any address', (type) => {
    const path = `/schemas/events/${type}/v1.json`;
    expect(eventCatalog[type].schema).toHaveProperty('$id', path);
    const uri = `https://gateway.example.com${path}`;
    const byUri = formats
      .default(new Ajv2020(), { mode: 'full' })
      .addSchema(eventCatalog[type].schema, uri)
      .getSchema(uri);
    const [example] = examples.filter(({ payload }) => payload.type === type);
    expect(byUri?.(example?.payload)).toBe(true);
    expect(byUri?.({ ...example?.payload, type: 'ORDER_LOST' })).toBe(false);
  });

  it('are the same in the contract of the API', () => {
    const { schemas } = openapi.components;
    // A constant stands in the contract of the API where it is used.
    const common = Object.entries(asyncapi.components.schemas).filter(
      ([name, schema]) => name !== 'DeliveryHeaders' && !('const' in schema),
    );
    for (const [name, schema] of common)
      expect([name, whole(openapi, (schemas as Record<string, unknown>)[name])]).toEqual([
        name,
        whole(asyncapi, schema),
      ]);
    expect(common.length).toBeGreaterThan(eventTypes.length);
    expect(whole(openapi, openapi.components.parameters.OfEventType.schema)).toMatchObject({ enum: [...eventTypes] });
    expect(schemas.SubscribableEventType.enum).toEqual(eventTypes.filter((type) => eventCatalog[type].subscribable));
  });
});

/** A copy of a schema without examples and names of constants, and with what its references lead to. */
function whole(document: object, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((part) => whole(document, part));
  if (typeof schema !== 'object' || schema === null) return schema;
  const resolved = resolve(document, schema);
  const left = 'const' in resolved ? ['examples', 'title'] : ['examples'];
  const entries = Object.entries(resolved).filter(([key]) => !left.includes(key));
  return Object.fromEntries(entries.map(([key, part]) => [key, whole(document, part)])) as unknown;
}

describe('types of events', () => {
  it('are checked by the compiler', () => {
    const test: EventPayload = {
      type: 'TEST',
      targetUuid: 'f4d81b36-a05c-4e72-9b18-7c3e2d6f0a95',
      targetId: 'f4d81b36-a05c-4e72-9b18-7c3e2d6f0a95',
      createdAt: '2026-11-06T08:30:00.000Z',
      data: {},
      id: '90c5e1d7-3b28-4f6a-8d14-a7f2b6e09c53',
    };
    // @ts-expect-error a type that the contract does not know
    const unknown: EventPayload = { ...test, type: 'ORDER_LOST' };
    // @ts-expect-error a placed order has a target and items
    const empty: EventPayload = { ...test, type: 'ORDER_PLACED' };
    // @ts-expect-error categories have no UUID
    const category: EventPayload & { type: 'CATEGORY_UPDATED' } = { ...test, type: 'CATEGORY_UPDATED', targetUuid: '' };
    expect([test, unknown, empty, category]).toHaveLength(4);
  });
});

function schemaOf(type: EventType): Schema {
  return eventCatalog[type].schema as unknown as Schema;
}

/** The fields of an object schema and of the schemas inside it, by path. */
function fieldsOf(schema: Schema, parent: readonly string[] = []): { path: string[]; optional: boolean }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, below]) => {
    const path = [...parent, name];
    return [{ path, optional: schema.required?.includes(name) !== true }, ...fieldsOf(below, path)];
  });
}

function at(payload: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, name) => (value as Record<string, Json> | undefined)?.[name], payload);
}

/** A copy with another value in one field, or without the field. */
function change(payload: Json, path: readonly string[], value: Json | undefined): Json {
  const copy = structuredClone(payload);
  const parent = at(copy, path.slice(0, -1)) as Record<string, Json>;
  const name = path.at(-1) ?? '';
  if (value === undefined) Reflect.deleteProperty(parent, name);
  else parent[name] = value;
  return copy;
}
