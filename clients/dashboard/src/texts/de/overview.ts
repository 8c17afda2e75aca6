import type { Texts } from '../en.ts';

export const overview: Texts['overview'] = {
  title: 'Übersicht',
  description:
    'Was der Dienst gerade tut. Die Zahlen aktualisieren sich automatisch und können einige Sekunden alt sein.',
  figures: {
    requests: 'Anfragen',
    perMinute: (count) => `${count} pro Minute`,
    perHour: (count) => `${count} pro Stunde`,
    errors: 'Fehler',
    noErrors: 'Keine Anfrage ist fehlgeschlagen',
    errorNote: (client, server) => `${client} von Aufrufern (4xx), ${server} vom Dienst (5xx)`,
    invocations: 'Prompt-Aufrufe',
    cached: (count) => `${count} aus dem Cache`,
    failed: (count) => `${count} fehlgeschlagen`,
    tokens: 'Tokens',
    tokenNote: (input, output, unknown) =>
      `${input} Eingabe, ${output} Ausgabe${unknown === undefined ? '' : `, ${unknown} Aufrufe ohne Angabe`}`,
    attempts: 'Zustellversuche',
    attemptNote: (share, failed) => `${share} erfolgreich, ${failed} fehlgeschlagen`,
    noAttempts: 'Nichts gesendet',
    waiting: 'Wartende Zustellungen',
    unknown: '–',
    oldest: 'älteste',
    noneWaiting: 'Alles ist zugestellt',
    notMeasured: 'Alle 15 Sekunden gemessen',
    retrying: (count) => `${count} mit neuem Versuch`,
    held: (count) => `${count} angehalten`,
    change: 'zur Stunde davor',
    before: (count) => `Die Stunde davor: ${count}`,
    shareOfRequests: (share) => `${share} der Anfragen`,
  },
  charts: {
    requests: 'Anfragen',
    succeeded: 'Erfolgreich',
    clientErrors: 'Fehler der Aufrufer (4xx)',
    serverErrors: 'Fehler des Dienstes (5xx)',
    attempts: 'Zustellversuche',
    failed: 'Fehlgeschlagen',
    invocations: 'Prompt-Aufrufe',
    answered: 'Beantwortet',
    cached: 'Aus dem Cache',
    tokens: 'Tokens',
    input: 'Eingabe',
    output: 'Ausgabe',
  },
  calls: {
    title: 'Modellaufrufe, die Aufmerksamkeit brauchen',
    all: 'Alle fehlgeschlagenen Aufrufe',
    none: 'In der letzten Stunde ist kein Aufruf fehlgeschlagen, und kein Budget lehnt Anfragen ab.',
    budget: 'Lehnt Anfragen ab',
    refuses: (since) => `Budget, seit ${since}: Erhöhen Sie das Limit, oder sehen Sie die Anfragen an.`,
    since: (time) => `seit ${time}`,
    count: (calls) => (calls === '1' ? '1 Aufruf' : `${calls} Aufrufe`),
    atLeast: (calls) => `${calls} Aufrufe oder mehr`,
  },
  attention: {
    title: 'Integrationen, die Aufmerksamkeit brauchen',
    all: 'Alle Integrationen',
    healthy: (count) =>
      count === '1' ? 'Die Integration ist in Ordnung.' : `Alle ${count} Integrationen sind in Ordnung.`,
    more: (count) =>
      count === '1' ? '1 weitere braucht Aufmerksamkeit.' : `${count} weitere brauchen Aufmerksamkeit.`,
    gone: 'Der Empfänger hat mit 410 (Gone) geantwortet.',
    failing: 'Fünf Tage lang ist jeder Versuch fehlgeschlagen.',
    disabled: 'Vom Dienst deaktiviert.',
    status: (code) => `Letzte Antwort: Status ${code}`,
    inARow: (count) => (count === '1' ? '1 Fehler' : `${count} Fehler in Folge`),
    waiting: (count) => `${count} wartend`,
  },
  failures: {
    title: 'Letzte fehlgeschlagene Zustellungen',
    all: 'Alle fehlgeschlagenen',
    none: 'Keine Zustellung schlägt fehl.',
  },
  providers: {
    title: 'Anbieter',
    all: 'Alle Anbieter',
    onlyEcho:
      'Nur Echo ist konfiguriert. Es wiederholt den Prompt; konfigurieren Sie einen weiteren Anbieter, um Antworten eines Modells zu erhalten.',
    more: (count) =>
      count === '1' ? '1 weiterer kann konfiguriert werden.' : `${count} weitere können konfiguriert werden.`,
  },
  steps: {
    title: 'Erste Schritte',
    text: 'Sobald Prompts aufgerufen und Events zugestellt werden, erscheinen hier Diagramme.',
    integration: {
      title: 'Integration erstellen',
      text: 'Sie sendet Events wie neue Bestellungen an Ihre Anwendung. Ein Test-Event zeigt, ob es funktioniert.',
      action: 'Integration erstellen',
    },
    location: {
      title: 'Standort erstellen',
      text: 'Produkte und Bestellungen gehören zu einem Standort, zum Beispiel einem Restaurant oder Geschäft.',
      action: 'Standort erstellen',
    },
    prompt: {
      title: 'Prompt schreiben',
      text: 'Einmal mit Platzhaltern schreiben, von überall aufrufen. Der Anbieter Echo braucht keine Zugangsdaten.',
      action: 'Prompt erstellen',
    },
    apiKey: {
      title: 'API-Schlüssel erstellen',
      text: 'Geben Sie jeder Ihrer Anwendungen einen eigenen Schlüssel, nur mit den Berechtigungen, die sie braucht.',
      action: 'API-Schlüssel erstellen',
    },
  },
};
