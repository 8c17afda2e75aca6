import type { Texts } from '../en.ts';

export const invocations: Texts['invocations'] = {
  title: 'Aufrufe',
  description:
    'Was Sprachmodelle gefragt wurden, von wem, und was es gekostet hat. Die Liste aktualisiert sich automatisch.',
  columns: {
    prompt: 'Prompt',
    status: 'Status',
    problem: 'Problem',
    model: 'Modell',
    latency: 'Dauer',
    tokens: 'Tokens',
    cost: 'Kosten',
    key: 'API-Schlüssel',
    created: 'Erstellt',
  },
  filters: {
    version: 'Version',
    label: 'Label',
    provider: 'Anbieter',
    tag: 'Tag',
    attemptProvider: 'Anfrage an',
    attemptProblem: 'Anfrage gescheitert mit',
    refusedBy: 'Abgelehnt von Budget',
  },
  statuses: {
    succeeded: 'Beantwortet',
    failed: 'Fehlgeschlagen',
    canceled: 'Abgebrochen',
    interrupted: 'Unterbrochen',
  },
  operations: {
    invoke: 'Aufruf eines Prompts',
    'chat-completion': 'Chat-Completion',
    response: 'Response',
    'test-run': 'Aufruf eines Testlaufs',
    'provider-test': 'Test eines Anbieters',
  },
  unknown: 'Unbekannt',
  empty: {
    title: 'Noch keine Aufrufe',
    text: 'Jeder Aufruf wird hier verzeichnet, wenn er beendet ist, ohne den Text von Anfrage und Antwort.',
  },
  detail: {
    id: 'Aufruf-ID',
    facts: 'Aufruf',
    calls: 'Anfragen an Anbieter',
    noCalls: 'Kein Anbieter wurde angefragt.',
    fromCache: 'Kein Anbieter wurde angefragt: Die Antwort kam aus dem Cache.',
    operation: 'Operation',
    problem: 'Problem',
    tags: 'Tags',
    trace: 'Trace-ID',
    samePrompt: 'Alle Aufrufe dieses Prompts',
    playground: 'Prompt im Playground öffnen',
    withFirst: (all, first) => `${all}, erster Inhalt nach ${first}`,
  },
  feedback: {
    title: 'Bewertungen',
    score: (score) => `Bewertung ${score}`,
  },
  content: {
    title: 'Inhalt',
    recorded:
      'Die Texte von Anfrage und Antwort sind verschlüsselt gespeichert. Jedes Lesen steht im Änderungsprotokoll.',
    notKept: 'Die Texte von Anfrage und Antwort sind nicht gespeichert.',
    missingScope:
      'Die Texte von Anfrage und Antwort sind gespeichert. Um sie zu lesen, braucht der Schlüssel das Recht invocations:content.',
    truncated: 'Die Texte waren zu lang, deshalb sind Teile davon nicht gespeichert.',
    answer: 'Antwort',
    request: 'Parameter der Anfrage',
    read: 'Inhalt lesen',
    erase: 'Inhalt und Tags löschen',
    eraseTitle: 'Inhalt und Tags löschen?',
    erased: {
      intro: 'Endgültig gelöscht werden:',
      texts: 'die Texte von Anfrage und Antwort',
      tags: (tags) => `die Tags ${tags.join(', ')}`,
      comments: (count) => (count === 1 ? 'der Kommentar einer Bewertung' : `die Kommentare von ${count} Bewertungen`),
      rest: 'Der Eintrag mit den Aufrufen und ihren Kosten bleibt.',
      done: 'Gelöscht',
    },
  },
  failure: {
    title: 'Warum das fehlschlug',
    reasons: {
      'budget-exceeded':
        'Die Anfrage hätte mehr kosten können, als von einem Budget übrig ist. Darum wurde kein Anbieter aufgerufen.',
      'cost-unknown': 'Es ist unbekannt, was die Anfrage höchstens kostet, und ein Budget lehnt solche Anfragen ab.',
      'missing-variables': 'Erforderliche Variablen hatten keinen Wert.',
      'unknown-variables': 'Es gab Variablen, die der Prompt nicht hat.',
    },
    calls: (count) => `${count} Aufrufe`,
    words: (provider) => `${provider} sagt:`,
    budget: (name) => `Das Budget ${name} ändern`,
    remedy: 'Was das bedeutet, und was zu tun ist',
  },
  notices: {
    joined: 'Dieselbe Anfrage lief bereits, und ihr Aufruf wurde geteilt. Er steht im Eintrag von',
    interrupted:
      'Der Prozess endete vor diesem Aufruf. Was der Anbieter geantwortet und berechnet hat, ist nicht bekannt.',
  },
  call: {
    after: (time) => `begann nach ${time}`,
    took: (time) => `dauerte ${time}`,
    sources: {
      ceiling: 'zählt mit dem, was höchstens berechnet werden kann',
      estimated: 'geschätzt, weil der Anbieter keine Zahlen genannt hat',
    },
    answeredBy: (model) => `beantwortet von ${model}`,
    answerId: 'Antwort-ID',
  },
};
