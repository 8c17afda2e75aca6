import type { Texts } from '../en.ts';

export const shell: Texts['shell'] = {
  product: 'prompt-gateway',
  skipToContent: 'Zum Inhalt springen',
  navigation: 'Hauptnavigation',
  openNavigation: 'Navigation öffnen',
  closeNavigation: 'Navigation schließen',
  groups: {
    gateway: 'Gateway',
    orders: 'Bestellungen',
    webhooks: 'Webhooks',
    administration: 'Verwaltung',
  },
  entries: {
    overview: 'Übersicht',
    prompts: 'Prompts',
    invocations: 'Aufrufe',
    providers: 'Anbieter',
    orders: 'Bestellungen',
    locations: 'Standorte',
    products: 'Katalog',
    integrations: 'Integrationen',
    deliveries: 'Zustellungen',
    apiKeys: 'API-Schlüssel',
    auditLog: 'Änderungsprotokoll',
  },
  reference: 'API-Referenz',
  account: (name) => `Konto: ${name}`,
  version: (version) => `Version ${version}`,
  colorScheme: 'Darstellung',
  colorSchemes: { light: 'Hell', dark: 'Dunkel', auto: 'System' },
  language: 'Sprache',
  signOut: 'Abmelden',
  notFound: {
    title: 'Seite nicht gefunden',
    text: 'Unter dieser Adresse gibt es keine Seite. Vielleicht wurde sie verschoben, oder der Link ist unvollständig.',
    action: 'Zur Startseite',
  },
  failed: {
    title: 'Diese Seite kann nicht angezeigt werden',
    text: 'Beim Anzeigen der Seite ist ein Fehler aufgetreten. Laden Sie sie neu; tritt er wieder auf, melden Sie ihn mit der folgenden Meldung.',
    action: 'Neu laden',
  },
  nothingAllowed: {
    title: 'Nichts anzuzeigen',
    text: 'Ihr API-Schlüssel hat keine Berechtigung, die eine Seite dieses Dashboards braucht. Melden Sie sich mit einem anderen Schlüssel an.',
  },
};
