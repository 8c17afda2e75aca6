import type { Texts } from '../en.ts';

export const labels: Texts['labels'] = {
  title: 'Labels',
  description:
    'Anwendungen rufen einen Prompt über ein Label auf, zum Beispiel production. Ein Label nennt eine Version, bis es verschoben wird.',
  badge: (name, version) => `${name} → v${version}`,
  more: (count) => `+${count} Labels`,
  noScope: 'Sie können keine Labels verschieben. Sie brauchen die Berechtigung prompts:release.',
  empty: 'Noch keine Labels. Aufrufe, die keine Version nennen, führen die neueste aus.',
  columns: { name: 'Label', version: 'Version', moved: 'Verschoben', by: 'Von' },
  new: 'Neues Label',
  move: 'Verschieben',
  moveOf: (name) => `${name} verschieben`,
  history: 'Verlauf',
  delete: 'Löschen',
  moreOf: (name) => `Weitere Aktionen für ${name}`,
  setOn: (version) => `Ein Label auf Version ${version} setzen`,
  set: 'Label',
  form: {
    newTitle: 'Label setzen',
    moveTitle: (name) => `${name} verschieben`,
    name: 'Label',
    namePlaceholder: 'production',
    nameHint: 'Ein neues Label oder eines, das verschoben wird.',
    nameMistake:
      'Beginnen Sie mit einem Kleinbuchstaben, dann Kleinbuchstaben, Ziffern und Bindestriche; höchstens 32 Zeichen; nicht „latest“.',
    version: 'Version',
    versionHint: 'Die Version, die es dann nennt.',
    difference: (name, from, to) => `Was sich für ${name} ändert: v${from} → v${to}`,
    creates: (name, version) => `${name} ist ein neues Label. Aufrufe darüber führen Version ${version} aus.`,
    same: (name, version) => `${name} nennt schon Version ${version}.`,
    effect: 'Der nächste Aufruf über dieses Label führt die neue Version aus.',
    breaking: 'Das kann bei Aufrufern zu Fehlern führen',
    acceptWarnings: (version) => `Der Text von Version ${version} ist so gewollt.`,
    createSubmit: (name, version) => `${name} → v${version} anlegen`,
    moveSubmit: (name, version) => `${name} auf v${version} verschieben`,
    done: (name, version) => `${name} nennt jetzt Version ${version}.`,
  },
  cannotRun: {
    noProvider: (version) =>
      `Version ${version} hat keinen Anbieter. Aufrufe über dieses Label schlagen fehl, wenn sie nicht selbst einen nennen.`,
    notConfigured: (version, provider) =>
      `Version ${version} läuft auf ${provider}. Dieser Anbieter ist nicht konfiguriert: Aufrufe über dieses Label schlagen fehl, bis der Betreiber ihn einrichtet.`,
  },
  meanwhile: {
    title: 'Inzwischen geändert',
    moved: (name, version, by) => `${by} hat ${name} auf Version ${version} verschoben.`,
    deleted: (name) => `${name} wurde gelöscht.`,
    nothingDone: 'Nichts wurde geändert. Prüfen Sie es noch einmal, bevor Sie bestätigen.',
  },
  moves: {
    title: (name) => `Verlauf von ${name}`,
    columns: { version: 'Version', moved: 'Wann', by: 'Von', gate: 'Hürde', breaking: 'Mögliche Fehler bei Aufrufern' },
    overridden: (reason) => `Übergangen: ${reason}`,
    shown: (count) => (count === 1 ? 'Bestanden: 1 Evaluation' : `Bestanden: ${count} Evaluationen`),
    deleted: 'Gelöscht',
  },
  deletion: {
    title: (name) => `${name} löschen?`,
    text: (name, version) =>
      `${name} nennt Version ${version}. Aufrufe über dieses Label werden danach abgelehnt. Sein Verlauf bleibt.`,
    submit: 'Label löschen',
    done: (name) => `${name} ist gelöscht.`,
  },
  run: { versions: 'Versionen', labels: 'Labels' },
};
