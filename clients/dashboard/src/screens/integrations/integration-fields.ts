import type { Schemas } from 'prompt-gateway-client';
import { integrationUrlInput } from '../../generated/limits.ts';
import { fits } from '../../shared/limits.ts';
import type { Texts } from '../../texts/en.ts';
import type { eventFilter } from '../../texts/event-filter.ts';
import { readFilter, textOf } from './filter-text.ts';
import { nameRule, valueRule, type HeaderRow } from './header-rules.ts';

/** What the form of an integration edits. */
export interface IntegrationFields extends Record<string, unknown> {
  name: string;
  url: string;
  eventTypes: string[];
  locationIds: string[];
  /** JSON; empty for all events. */
  filter: string;
  headers: HeaderRow[];
}

/** The fields of a new integration. */
export const emptyFields: IntegrationFields = {
  name: '',
  url: '',
  eventTypes: [],
  locationIds: [],
  filter: '',
  headers: [],
};

/** The fields of a present integration. */
export function fieldsOf(integration: Schemas['Integration']): IntegrationFields {
  const { name, url, event_types, location_ids = [], filter, headers } = integration;
  return {
    name,
    url,
    eventTypes: [...event_types],
    locationIds: [...location_ids],
    filter: textOf(filter),
    headers: Object.entries(headers).map(([header, value]) => ({ name: header, value })),
  };
}

/** The fields as the API takes them. */
export function bodyOf(
  fields: IntegrationFields,
): Required<
  Pick<Schemas['IntegrationUpdate'], 'name' | 'url' | 'event_types' | 'location_ids' | 'filter' | 'headers'>
> {
  const { name, url, eventTypes, locationIds, filter, headers } = fields;
  const read = readFilter(filter);
  return {
    name,
    url,
    event_types: eventTypes as Schemas['IntegrationCreate']['event_types'],
    location_ids: locationIds,
    // The form is not sent if its filter cannot be read.
    filter: 'filter' in read ? read.filter : {},
    headers: Object.fromEntries(headers.map((header) => [header.name, header.value])),
  };
}

/** The field of a place in the request: `headers.X-Kitchen` is a row of the headers. */
export function fieldAt(place: string, headers: readonly HeaderRow[]): string {
  const [first = '', ...rest] = place.split('.');
  if (first === 'event_types') return 'eventTypes';
  if (first === 'location_ids') return 'locationIds';
  if (first === 'filter') return 'filter';
  if (first !== 'headers') return first;
  const name = rest.join('.');
  const row = headers.findIndex((header) => header.name === name);
  return row < 0 ? 'headers' : `headers.${row}.value`;
}

/** Finds mistakes before the request is sent. */
export function validateFields(
  fields: IntegrationFields,
  { form, headers: headerTexts }: Texts['integrations'],
  filterTexts: (typeof eventFilter)['en'],
): Record<string, string> {
  const mistakes: Record<string, string> = {};
  if (fields.name.trim() === '') mistakes['name'] = form.nameMissing;
  if (!fits(fields.url, integrationUrlInput)) mistakes['url'] = form.urlWrong;
  if (fields.eventTypes.length === 0) mistakes['eventTypes'] = form.eventTypesMissing;
  const filter = readFilter(fields.filter);
  if ('notJson' in filter) mistakes['filter'] = filterTexts.notJson(filter.notJson);
  if ('notObject' in filter) mistakes['filter'] = filterTexts.notObject;
  fields.headers.forEach((row, position) => {
    const name = nameRule(
      row,
      fields.headers.filter((_, other) => other !== position),
    );
    const value = valueRule(row);
    if (name !== undefined) mistakes[`headers.${position}.name`] = headerTexts.rules[name];
    if (value !== undefined) mistakes[`headers.${position}.value`] = headerTexts.rules[value];
  });
  return mistakes;
}
