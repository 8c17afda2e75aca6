import type { Texts } from '../en.ts';

export const invocations: Texts['invocations'] = {
  title: 'Aufrufe',
  description:
    'Was Sprachmodelle gefragt wurden, von wem, und was es gekostet hat. Die Liste aktualisiert sich automatisch.',
  columns: {
    prompt: 'Prompt',
    status: 'Status',
    model: 'Modell',
    latency: 'Dauer',
    tokens: 'Tokens',
    cost: 'Kosten',
    key: 'API-Schlüssel',
    created: 'Erstellt',
  },
  filters: {
    problem: 'Problem',
    provider: 'Anbieter',
    tag: 'Tag',
  },
  statuses: {
    succeeded: 'Beantwortet',
    failed: 'Fehlgeschlagen',
    cancelled: 'Abgebrochen',
    interrupted: 'Unterbrochen',
  },
  operations: {
    invoke: 'Aufruf eines Prompts',
    'chat-completion': 'Chat-Completion',
    response: 'Response',
    'test-run': 'Aufruf eines Testlaufs',
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
  notices: {
    joined: 'Dieselbe Anfrage lief bereits, und ihr Aufruf wurde geteilt. Er steht im Eintrag von',
    interrupted:
      'Der Prozess endete vor diesem Aufruf. Was der Anbieter geantwortet und berechnet hat, ist nicht bekannt.',
  },
  call: {
    after: (time) => `begann nach ${time}`,
    took: (time) => `dauerte ${time}`,
    partial: 'brach ab, der Anbieter kann also mehr berechnen',
    answeredBy: (model) => `beantwortet von ${model}`,
    answerId: 'Antwort-ID',
  },
};
