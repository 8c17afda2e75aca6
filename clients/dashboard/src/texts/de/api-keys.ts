import type { Texts } from '../en.ts';

export const apiKeys: Texts['apiKeys'] = {
  title: 'API-Schlüssel',
  description:
    'Schlüssel für die Anwendungen und Personen, die diesen Dienst nutzen. Ein Schlüssel kann, was seine Berechtigungen erlauben.',
  create: 'API-Schlüssel erstellen',
  filters: { status: 'Status' },
  columns: {
    name: 'Name',
    scopes: 'Berechtigungen',
    status: 'Status',
    created: 'Erstellt',
    lastUsed: 'Zuletzt genutzt',
    expires: 'Läuft ab',
  },
  statuses: { active: 'Aktiv', expired: 'Abgelaufen', revoked: 'Widerrufen' },
  current: 'Diese Sitzung',
  allScopes: 'Alle Berechtigungen',
  moreScopes: (count) => `+${count} weitere`,
  neverUsed: 'Nie',
  neverExpires: 'Nie',
  empty: {
    title: 'Noch keine API-Schlüssel',
    text: 'Der konfigurierte Administratorschlüssel steht nicht in dieser Liste. Erstellen Sie für jede Anwendung einen Schlüssel, nur mit den Berechtigungen, die sie braucht.',
  },
  form: {
    title: 'API-Schlüssel erstellen',
    description:
      'Geben Sie jeder Anwendung einen eigenen Schlüssel. Dann können Sie ihn widerrufen, ohne die anderen zu stören.',
    name: 'Name',
    namePlaceholder: 'Kundendienst',
    nameDescription: 'Zum Beispiel die Anwendung, die den Schlüssel nutzt.',
    scopes: 'Berechtigungen',
    scopesDescription: 'Was der Schlüssel kann. Sie können nur Berechtigungen vergeben, die Ihr eigener Schlüssel hat.',
    selectAll: 'Alle auswählen',
    selectNone: 'Keine',
    notHeld: 'Ihr Schlüssel hat diese Berechtigung nicht.',
    expiry: 'Läuft ab',
    expiries: {
      never: 'Nie',
      days30: 'In 30 Tagen',
      days90: 'In 90 Tagen',
      year: 'In einem Jahr',
      custom: 'An einem Datum',
    },
    expiryWithYours: 'Mit Ihrem Schlüssel',
    expiryDate: 'Letzter Tag',
    expiryDateDescription: 'Der Schlüssel gilt bis zum Ende dieses Tages in Ihrer Zeitzone.',
    submit: 'Schlüssel erstellen',
    nameMissing: 'Geben Sie einen Namen ein.',
    scopesMissing: 'Wählen Sie mindestens eine Berechtigung.',
    dateMissing: 'Wählen Sie ein Datum in der Zukunft.',
  },
  created: {
    title: 'Speichern Sie diesen Schlüssel jetzt',
    text: 'Der Schlüssel wird nur dieses eine Mal gezeigt. Bewahren Sie ihn geheim auf, zum Beispiel in einem Passwortmanager.',
    key: 'API-Schlüssel',
    done: 'Ich habe den Schlüssel gespeichert',
    use: 'Senden Sie ihn mit jeder Anfrage',
  },
  revoke: {
    action: 'Widerrufen',
    actionOf: (name) => `${name} widerrufen`,
    title: (name) => `„${name}“ widerrufen?`,
    text: 'Anfragen mit diesem Schlüssel werden innerhalb von 5 Sekunden abgelehnt. Das lässt sich nicht rückgängig machen.',
    own: 'Sie sind mit diesem Schlüssel angemeldet. Wenn Sie ihn widerrufen, werden Sie abgemeldet.',
    descendants: 'Auch die damit erstellten Schlüssel widerrufen',
    submit: 'Schlüssel widerrufen',
    done: (name) => `„${name}“ ist widerrufen.`,
    doneWithDescendants: (name, count) =>
      count === '1'
        ? `„${name}“ und 1 damit erstellter Schlüssel sind widerrufen.`
        : `„${name}“ und ${count} damit erstellte Schlüssel sind widerrufen.`,
    remaining: (count) =>
      count === '1'
        ? '1 damit erstellter Schlüssel ist noch aktiv.'
        : `${count} damit erstellte Schlüssel sind noch aktiv.`,
  },
  scopes: {
    'prompts:read': 'Prompts, ihre Versionen und Testläufe lesen',
    'prompts:write': 'Prompts erstellen, ändern und löschen; Testläufe starten',
    'prompts:release': 'Prompts freigeben: Labels erstellen, verschieben und löschen',
    'prompts:invoke': 'Prompts aufrufen; das fragt Anbieter an und kostet Geld',
    'providers:invoke': 'Jedes Modell aufrufen; Werkzeuge, Anbieter-Optionen und Ausweichmodelle von Prompts ersetzen',
    'orders:read': 'Bestellungen und Geschäftstage lesen',
    'orders:write': 'Bestellungen aufgeben, abschließen und stornieren; Geschäftstage abschließen',
    'catalog:read': 'Standorte, Kategorien und Produkte lesen',
    'catalog:write': 'Standorte, Kategorien und Produkte erstellen und ändern',
    'integrations:read': 'Integrationen und Zustellungen lesen, ohne Signaturschlüssel',
    'integrations:manage': 'Integrationen erstellen und ändern; erneut senden, Replays, Signaturschlüssel wechseln',
    'keys:manage': 'API-Schlüssel auflisten, erstellen und widerrufen',
    'metrics:read': 'Metriken und Statistiken lesen',
    'prices:read': 'Preise von Modellen lesen',
    'prices:write': 'Eigene Preise von Modellen festlegen und löschen',
  },
};
