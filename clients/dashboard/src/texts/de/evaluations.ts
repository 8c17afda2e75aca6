import type { evaluations as english } from '../en/evaluations.ts';

export const evaluations: typeof english = {
  past: 'Evaluationen',
  start: 'Version evaluieren',
  emptyTitle: 'Noch keine Evaluationen',
  emptyText:
    'Eine Evaluation fragt eine Version nach jedem Fall eines Datensatzes, allein oder neben einer anderen Version, und sagt, ob sie gut genug ist.',
  columns: {
    started: 'Begonnen',
    candidate: 'Kandidat',
    baseline: 'Vergleich',
    dataset: 'Datensatz',
    status: 'Status',
    cost: 'Kosten',
  },
  statuses: {
    planning: 'Wird geplant',
    queued: 'Wartet',
    running: 'Läuft',
    ended: 'Beendet',
    canceled: 'Abgebrochen',
    refused: 'Abgelehnt',
  },
  verdicts: { passed: 'Bestanden', failed: 'Nicht bestanden', inconclusive: 'Unentschieden' },
  version: (version) => `v${version}`,
  sides: { candidate: 'Kandidat', baseline: 'Vergleich' },
  form: {
    title: 'Version evaluieren',
    back: 'Alle Evaluationen',
    rule: 'Was gelten muss',
    rules: {
      not_worse_by: 'Nicht schlechter als eine andere Version',
      min_pass_rate: 'Besteht die meisten Fälle',
      all_pass: 'Besteht jeden Fall',
    },
    ruleTexts: {
      not_worse_by:
        'Ihr Anteil bestandener Fälle liegt nicht um die Toleranz oder mehr unter dem des Vergleichs. Eine Toleranz von 5 Punkten braucht mindestens 73 Fälle.',
      min_pass_rate: 'Sie besteht diesen Anteil aller Fälle, die so sind wie diese.',
      all_pass: 'Für wenige Fälle, die immer stimmen müssen.',
    },
    margin: 'Toleranz, in Punkten von 100',
    rate: 'Anteil, in Prozent',
    dataset: 'Datensatz',
    datasetPlaceholder: 'Name eines Datensatzes',
    noDatasets: 'Es gibt noch keine Datensätze.',
    importCases: 'Fälle importieren',
    datasetVersion: 'Version des Datensatzes',
    current: 'Aktuelle',
    checks: 'Prüfungen jeder Antwort',
    checksHint:
      'Neben den Prüfungen jedes Falls. Eine Liste in JSON; {{expected}} ist die erwartete Antwort des Falls.',
    checksMistake: 'Das ist keine Liste in JSON.',
    add: 'Prüfung hinzufügen',
    templates: {
      contains: 'Enthält die erwartete Antwort',
      equals: 'Ist die erwartete Antwort',
      json: 'Ist JSON',
      finish: 'Ist vollständig',
      latency: 'Dauert höchstens 10 Sekunden',
      cost: 'Kostet höchstens 0,01 $',
    },
    overrides: (side) => `${side} mit diesen Ersetzungen, wie in der Evaluation davor`,
    plan: 'Anfragen und Kosten anzeigen',
    calls: (number, text) => (number === 1 ? '1 Anfrage' : `${text} Anfragen`),
    ceiling: (calls, cost) => `${calls}. Ohne Wiederholungen kosten sie höchstens ${cost}.`,
    unknownCeiling: (calls) =>
      `${calls}. Was sie höchstens kosten, ist unbekannt: Ein Modell hat keinen Preis oder keine Grenze der Ausgabe-Tokens.`,
    submit: 'Evaluation starten',
  },
  page: {
    facts: 'Evaluation',
    rule: 'Regel',
    rules: {
      not_worse_by: (points) => `Nicht um ${points} Punkte oder mehr schlechter`,
      min_pass_rate: (rate) => `Besteht ${rate} aller Fälle, die so sind`,
      all_pass: 'Besteht jeden Fall',
    },
    cases: 'Fälle',
    checks: 'Prüfungen jeder Antwort',
    overrides: 'Ersetzungen',
    calls: 'Anfragen',
    cost: 'Kosten',
    costOf: (cost, ceiling) => `${cost} von höchstens ${ceiling}`,
    unknownCost: 'unbekannt',
    author: 'API-Schlüssel',
    created: 'Erstellt',
    finished: 'Beendet',
    invocations: 'Aufrufe',
    allInvocations: 'Alle Aufrufe dieser Evaluation',
    again: 'Noch einmal evaluieren',
    cancel: 'Evaluation abbrechen',
    cancelTitle: 'Evaluation abbrechen?',
    cancelText:
      'Sie bekommt kein Urteil. Laufende Aufrufe werden beendet; die Anbieter können sie berechnen. Gespeicherte Ergebnisse bleiben.',
    cancelDone: 'Die Evaluation ist abgebrochen.',
    progress: 'Fortschritt',
    planning: 'Vor dem ersten Aufruf wird jeder Fall geprüft.',
    queued: 'Sie wartet, bis sie an der Reihe ist: Nur einige Evaluationen laufen gleichzeitig.',
    running: (done, all) => `${done} von ${all} Fällen sind erledigt.`,
    blind:
      'Wie die Fälle ausgingen, steht erst am Ende hier: Wer aufhört, wenn es gut aussieht, entscheidet nach Zufall. Sie können diese Seite verlassen.',
    problems: 'Warum Fälle keine Antwort haben',
    problem: (name, answers) => `${name}: ${answers === 1 ? '1 Antwort' : `${answers} Antworten`}`,
    canceled: 'Sie wurde abgebrochen und hat kein Urteil.',
    canceledBecause: {
      requested: 'Jemand hat sie abgebrochen. Sie hat kein Urteil.',
      'key-revoked':
        'Der API-Schlüssel, der sie begonnen hat, wurde widerrufen oder ist abgelaufen. Sie hat kein Urteil.',
      'budget-exceeded': 'Ein Budget hat einen Aufruf nicht erlaubt. Sie hat kein Urteil.',
      'internal-error': 'Im Dienst ist ein Fehler aufgetreten. Sie hat kein Urteil.',
    },
    budget: (name) => `Budget ${name}`,
    refused: 'Das kann nicht evaluiert werden',
    refusedText: 'Kein Anbieter wurde aufgerufen. Beheben Sie das und beginnen Sie dann noch einmal:',
    refusedCase: (id) => `Fall ${id}`,
  },
  verdict: {
    title: 'Urteil',
    side: (version, model) => `Version ${version}${model === '' ? '' : ` (${model})`}`,
    other: (version, model) => `Version ${version}${model === '' ? '' : ` (${model})`}`,
    notWorse: (one, other, margin, lower) =>
      `${one} ist nicht um ${margin} Punkte oder mehr schlechter als ${other}: höchstens ${lower} Punkte schlechter, mit 95 % Sicherheit.`,
    better: (one, other, lower, upper) =>
      `${one} ist besser als ${other}: um ${lower} bis ${upper} Punkte, mit 95 % Sicherheit.`,
    slightlyWorse: (one, other, margin, least, most) =>
      `${one} ist schlechter als ${other}, aber nicht um ${margin} Punkte oder mehr: um ${least} bis ${most} Punkte, mit 95 % Sicherheit.`,
    worse: (one, other, least, most) =>
      `${one} ist schlechter als ${other}: um ${least} bis ${most} Punkte, mit 95 % Sicherheit.`,
    unclear: (one, other, margin, lower, upper) =>
      `Diese Fälle zeigen nicht, ob ${one} um ${margin} Punkte oder mehr schlechter ist als ${other}. Der Unterschied liegt zwischen ${lower} und ${upper} Punkten, mit 95 % Sicherheit.`,
    ratePassed: (one, rate, lower) =>
      `${one} besteht ${rate} aller Fälle, die so sind, oder mehr: mindestens ${lower}, mit 95 % Sicherheit.`,
    rateFailed: (one, rate, upper) =>
      `${one} besteht weniger als ${rate} aller Fälle, die so sind: höchstens ${upper}, mit 95 % Sicherheit.`,
    rateUnclear: (one, rate, lower, upper) =>
      `Diese Fälle zeigen nicht, ob ${one} ${rate} aller Fälle besteht, die so sind. Ihr Anteil liegt zwischen ${lower} und ${upper}, mit 95 % Sicherheit.`,
    allPassed: (one, number, text) => `${one} besteht ${number === 1 ? 'den Fall' : `alle ${text} Fälle`}.`,
    notAllPassed: (one, failed, all) => `${one} besteht ${failed} von ${all} Fällen nicht.`,
    allUnclear: (one, missing, text) =>
      `${one} besteht jeden Fall, zu dem es eine Antwort gibt. ${missing === 1 ? '1 Fall hat' : `${text} Fälle haben`} keine.`,
    needed: (number) => `Etwa ${number} Fälle würden entscheiden, wenn sie so ausgehen wie diese.`,
    notNeeded: 'Mehr Fälle, die so ausgehen wie diese, würden es nicht entscheiden.',
    errors: (number, text) =>
      number === 1
        ? '1 Fall ohne Antwort zählt so, wie er gegen das Urteil sprechen könnte.'
        : `${text} Fälle ohne Antwort zählen so, wie sie gegen das Urteil sprechen könnten.`,
    units: (units, all) =>
      `${units} von ${all} zählen: Fälle einer Gruppe zählen zusammen, und solche mit gelöschtem Inhalt nicht.`,
    chart: {
      difference: (lower, upper, margin) =>
        `Unterschied zwischen ${lower} und ${upper} Punkten. Die Toleranz endet bei ${margin} Punkten.`,
      rate: (lower, upper, rate) => `Anteil zwischen ${lower} und ${upper}. Er muss ${rate} sein.`,
      margin: 'Toleranz',
      needed: 'Regel',
    },
  },
  results: {
    title: 'Fälle',
    all: 'Alle',
    outcomes: {
      regressed: 'Verschlechtert',
      improved: 'Verbessert',
      same: 'Gleich',
      passed: 'Bestanden',
      failed: 'Nicht bestanden',
      error: 'Ohne Antwort',
      erased: 'Gelöscht',
    },
    tab: (name, number) => `${name}: ${number}`,
    filter: 'Welche Fälle',
    none: 'Kein Fall ging so aus.',
    expired: 'Die Ergebnisse sind gelöscht',
    expiredText: 'Ergebnisse bleiben 30 Tage nach dem Ende einer Evaluation. Das Urteil bleibt.',
    more: 'Mehr anzeigen',
    loading: 'Fälle werden gelesen',
    group: (name) => `Gruppe ${name}`,
    passes: 'besteht',
    fails: 'besteht nicht',
    noAnswer: 'ohne Antwort',
    erasedText: 'Der Inhalt dieses Falls wurde gelöscht. Darum wurde er nicht gefragt und zählt nicht.',
    showCase: 'Fall anzeigen',
    case: 'Fall',
    caseGone: 'Der Datensatz wurde gelöscht, deshalb kann der Fall nicht angezeigt werden.',
    answerOf: (side) => `Antwort: ${side}`,
    both: 'Beide haben dasselbe geantwortet',
    difference: 'Beide Antworten',
    notKept:
      'Die Antwort steht nicht in den Ergebnissen: Der Fall wurde aus einem Aufruf gemacht, oder die Antwort hat mehr als 256 KiB.',
    invocation: 'Aufruf',
    checks: 'Prüfungen',
    checkPassed: 'bestanden',
    checkFailed: 'nicht bestanden',
    unusable: {
      'broken-format': 'Die Antwort hält ihr Format nicht ein.',
      filtered: 'Die Antwort wurde gefiltert.',
      cut: 'Die Antwort wurde wegen ihrer Länge abgeschnitten.',
      refused: 'Der Anbieter hat die Anfrage abgelehnt.',
    },
  },
};
