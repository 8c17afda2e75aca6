import type { eventFilter as en } from '../en/event-filter.ts';

export const eventFilter: typeof en = {
  title: 'Filter',
  description:
    'Nur Events, deren Inhalt alle Einträge erfüllt, werden gesendet. Leer lassen für alle Events. Operatoren: $eq, $in, $gte, $lte, $exists.',
  all: 'Alle Events dieser Typen',
  fields: 'Felder, die alle gewählten Typen haben',
  notJson: (reason) => `Das ist kein JSON. ${reason}`,
  notObject: 'Geben Sie ein JSON-Objekt ein, zum Beispiel {"data.total": {"$gte": 10000}}.',
  preview: 'An den letzten Events prüfen',
  previewTitle: 'Letzte Events',
  summary: (matching, of) => `${matching} von ${of} wären gesendet worden`,
  noEvents: 'Keines der neuesten 1.000 Events ist von diesen Typen und Standorten.',
  outdated: 'Das ist das Ergebnis eines früheren Filters.',
  columns: { event: 'Event', result: 'Ergebnis' },
  matches: 'Gesendet',
  unmatched: 'Nicht gesendet',
};
