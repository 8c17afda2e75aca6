/** Texts about taxes and availability, of orders, locations and products. */
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
  ofDay: (rate: string, amount: string) => `${rate}: ${amount}`,
  ofProduct: 'Tax rate',
  ofProductDescription: 'Of the product and its modifiers. If empty, the rate of the location applies.',
  ofTakeAway: 'Tax rate for take away',
  ofTakeAwayDescription: 'If empty, the same rate applies as for eating in.',
  unavailableUntil: 'Unavailable until',
  unavailableUntilDescription: 'Orders with the product are refused before this time.',
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
  ofDay: (rate, amount) => `${rate}: ${amount}`,
  ofProduct: 'Steuersatz',
  ofProductDescription: 'Des Produkts und seiner Zusätze. Wenn leer, gilt der Satz des Standorts.',
  ofTakeAway: 'Steuersatz, außer Haus',
  ofTakeAwayDescription: 'Wenn leer, gilt derselbe Satz wie im Haus.',
  unavailableUntil: 'Nicht verfügbar bis',
  unavailableUntilDescription: 'Bestellungen mit dem Produkt werden bis dahin abgelehnt.',
};

export const taxTexts = { en, de };
