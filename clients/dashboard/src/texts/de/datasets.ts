import type { datasets as english } from '../en/datasets.ts';

const cases = (count: number, text: string): string => (count === 1 ? '1 Fall' : `${text} Fälle`);

export const datasets: typeof english = {
  title: 'Datensätze',
  description:
    'Fälle für Prompts: Werte von Variablen, und wie die Antwort sein soll. Evaluationen stellen diese Fragen.',
  create: 'Fälle importieren',
  replace: 'Neue Version importieren',
  download: 'Herunterladen',
  columns: {
    name: 'Datensatz',
    version: 'Version',
    cases: 'Fälle',
    size: 'Größe',
    author: 'Von',
    updated: 'Geändert',
  },
  version: (version) => `v${version}`,
  emptyTitle: 'Noch keine Datensätze',
  emptyText:
    'Importieren Sie Fälle aus einer Datei oder aus Tests von promptfoo. Eine Evaluation fragt dann einen Prompt nach jedem und prüft die Antworten.',
  noneTitle: 'Datensatz nicht gefunden',
  noneText: 'Kein Datensatz hat diesen Namen. Vielleicht wurde er gelöscht.',
  facts: 'Datensatz',
  current: 'Aktuelle Version',
  digest: 'Prüfsumme',
  created: 'Erstellt',
  versions: 'Versionen',
  shown: 'Angezeigt',
  casesOf: (version) => `Fälle der Version ${version}`,
  case: {
    id: 'Fall',
    asked: 'Gefragt',
    inLine: (line) => `Zeile ${line}`,
    variables: 'Variablen',
    messages: 'Nachrichten',
    expected: 'Erwartete Antwort',
    checks: 'Prüfungen',
    tags: 'Tags',
    group: 'Gruppe',
    madeOf: 'Gemacht aus',
    erased: 'Gelöscht',
    erasedText: 'Der Inhalt dieses Falls wurde mit dem seines Aufrufs gelöscht. Evaluationen lassen ihn aus.',
  },
  deletion: {
    button: 'Löschen',
    title: (name) => `${name} löschen?`,
    text: (count) =>
      `Alle Versionen werden gelöscht, die aktuelle mit ${count === 1 ? '1 Fall' : `${count} Fällen`}. Beendete Evaluationen behalten ihr Urteil. Das kann nicht rückgängig gemacht werden.`,
    done: (name) => `${name} ist gelöscht.`,
  },
  import: {
    title: 'Fälle importieren',
    description:
      'Erstellt einen Datensatz oder eine neue Version von einem. Nichts wird gespeichert, bevor Sie die Fälle gesehen haben.',
    name: 'Datensatz',
    nameHint:
      'Ein neuer Name erstellt einen. Ein vorhandener Datensatz bekommt eine neue Version, mit diesen Fällen anstelle der bisherigen.',
    nameMistake: 'Kleinbuchstaben und Ziffern, verbunden durch einzelne Bindestriche.',
    by: 'Wo die Fälle stehen',
    from: { file: 'Datei', text: 'Text' },
    file: {
      files: 'Datei',
      drop: 'Datei hier ablegen',
      choose: 'Datei wählen',
      formats:
        'JSON Lines mit einem Fall je Zeile, CSV mit einer Variablen je Spalte und „__expected“, oder Tests von promptfoo (YAML, JSON, JSON Lines, CSV).',
    },
    format: 'Format',
    formats: { jsonl: 'JSON Lines', csv: 'CSV', yaml: 'promptfoo (YAML oder JSON)' },
    text: 'Fälle',
    pasted: 'text',
    preview: 'Fälle anzeigen',
    tooLarge: (name, limit) => `${name} ist zu groß: Ein Datensatz hat höchstens ${limit}.`,
    table: 'Fälle der Datei',
    empty: 'Es sind keine Fälle darin.',
    mistakes: 'Nicht alles kann umgewandelt werden',
    mistakesText:
      'Was fehlt, könnte Antworten bestehen lassen, die scheitern müssten. Darum wird nichts importiert. Ändern Sie diese Stellen:',
    refused: 'Der Dienst hat die Fälle abgelehnt',
    refusedText: 'Nichts wurde gespeichert. Ändern Sie diese Stellen:',
    more: (count) => `und ${count} weitere`,
    found: cases,
    creates: (name, count, text) => `${name} ist neu und bekommt ${cases(count, text)}.`,
    replaces: (name, count, text, version, before) =>
      `${name} bekommt ${cases(count, text)} anstelle der ${before} der Version ${version}.`,
    needsName: 'Namen eingeben',
    submitNew: 'Datensatz erstellen',
    submit: (version) => `Als Version ${version} speichern`,
    done: (name, version) => `${name} hat Version ${version}.`,
    unchanged: (name, version) => `${name} hat diese Fälle schon, in Version ${version}.`,
  },
  add: {
    button: 'Zu einem Datensatz hinzufügen',
    title: 'Fall zu einem Datensatz hinzufügen',
    dataset: 'Datensatz',
    choose: 'Datensatz wählen',
    noSets: 'Es gibt noch keine Datensätze.',
    toImport: 'Erst Fälle importieren',
    ofInvocation:
      'Der Fall bekommt die Werte der Variablen und die Nachrichten, die der Aufrufer gesendet hat. Die Antwort gehört nicht dazu. Das Lesen des Inhalts steht im Änderungsprotokoll.',
    notKept:
      'Der Inhalt dieses Aufrufs ist nicht gespeichert, deshalb kann daraus kein Fall werden. Was gespeichert wird, entscheidet der Betreiber (INVOCATION_CONTENT).',
    ofRun: 'Der Fall bekommt die Werte der Variablen dieses Testlaufs.',
    expected: 'Erwartete Antwort',
    noExpected: 'Keine',
    submit: 'Fall hinzufügen',
    done: (name, version) => `Hinzugefügt: ${name} hat Version ${version}.`,
    there: (name) => `${name} hat diesen Fall schon.`,
  },
};
