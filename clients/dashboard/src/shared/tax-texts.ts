/** Texts about taxes, of orders, locations and products. */
const en = {
  taxLine: (rate: string, base: string) => `Tax, ${rate} of ${base}`,
  included: (rate: string, base: string) => `Included tax, ${rate} of ${base}`,
  service: 'Service',
  services: { eat_in: 'Eat in', take_away: 'Take away' } as Readonly<Record<string, string>>,
  pricesIncludeTax: 'Prices include tax',
  pricesIncludeTaxDescription: 'Otherwise the tax is added to the subtotal.',
  addedToPrices: 'Added to prices',
  includedInPrices: 'Included in prices',
  taxes: 'Tax',
  ofProduct: 'Tax rate',
  ofProductDescription: 'Of the product and its modifiers. Empty: as the location.',
  ofTakeAway: 'Tax rate, taken away',
  ofTakeAwayDescription: 'Empty: as otherwise.',
};
const de: typeof en = {
  taxLine: (rate, base) => `Steuer, ${rate} von ${base}`,
  included: (rate, base) => `Enthaltene Steuer, ${rate} von ${base}`,
  service: 'Verzehr',
  services: { eat_in: 'Im Haus', take_away: 'Außer Haus' },
  pricesIncludeTax: 'Preise enthalten die Steuer',
  pricesIncludeTaxDescription: 'Sonst kommt die Steuer zur Zwischensumme hinzu.',
  addedToPrices: 'Kommt zu den Preisen hinzu',
  includedInPrices: 'In den Preisen enthalten',
  taxes: 'Steuer',
  ofProduct: 'Steuersatz',
  ofProductDescription: 'Des Produkts und seiner Zusätze. Leer: wie am Standort.',
  ofTakeAway: 'Steuersatz, außer Haus',
  ofTakeAwayDescription: 'Leer: wie sonst.',
};

export const taxTexts = { en, de };
