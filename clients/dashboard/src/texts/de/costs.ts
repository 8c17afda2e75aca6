import type { Texts } from '../en.ts';

export const costs: Texts['costs'] = {
  title: 'Kosten',
  description: 'Was Anfragen an Anbieter kosten, wie sie im Protokoll der Aufrufe stehen. Tage sind in UTC.',
  span: 'Zeitraum',
  days: (days) => `${days} Tage`,
  cost: 'Kosten',
  calls: 'Anfragen',
  tokens: 'Tokens',
  input: 'Eingabe-Tokens',
  output: 'Ausgabe-Tokens',
  tokenNote: (output) => `davon ${output} Ausgabe`,
  withoutCost: 'Ohne Preis',
  withoutCostNote: 'Fehlen in den Kosten',
  ceiling: (amount) => `Bis zu ${amount} weniger: Abgebrochene Anfragen zählen ganz`,
  missingPrices:
    'Für einige Anfragen ist kein Preis bekannt, ihre Kosten fehlen in den Summen. Setzen Sie einen Preis für ihre Modelle: PUT /api/v1/prices/{provider}/{model}.',
  byDay: 'Kosten nach Tag',
  by: 'Gruppieren nach',
  groupings: {
    model: 'Nach Modell',
    prompt: 'Nach Prompt',
    version: 'Nach Version',
    key: 'Nach API-Schlüssel',
    tag: 'Nach Tag',
  },
  name: 'Name',
  withoutPrompt: 'Ohne gespeicherten Prompt',
  empty: {
    title: 'Keine Anfragen in diesem Zeitraum',
    text: 'Jede Anfrage an einen Anbieter zählt, wenn ihr Aufruf beendet ist.',
  },
};
