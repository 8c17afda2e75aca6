import type { Texts } from '../en.ts';

export const generation: Texts['prompts']['generation'] = {
  language: 'de',
  title: 'Generierung',
  description: 'Wie die Antwort erzeugt wird. Was nicht festgelegt ist, bestimmt der Anbieter.',
  show: 'Parameter, Tools und mehr festlegen',
  providerDefault: 'Standard des Anbieters',
  yes: 'Ja',
  no: 'Nein',
  mistakes: {
    syntax: 'Das ist kein gültiges JSON.',
    inexact: 'Eine Zahl hat mehr Stellen, als genau gespeichert werden können. Schreiben Sie sie als Zeichenkette.',
    'no-object': 'Schreiben Sie ein JSON-Objekt.',
    name: 'Verwenden Sie 1 bis 64 Buchstaben ohne Umlaute, Ziffern, _ und -.',
    taken: 'Dieser Name ist vergeben.',
    provider: 'Wählen Sie einen Anbieter.',
  },
};
