import type { canaries as english } from '../en/canaries.ts';

export const canaries: typeof english = {
  start: 'Canary beginnen',
  startTitle: (label) => `Canary von ${label}`,
  changeTitle: (label) => `Canary von ${label} ändern`,
  title: (label, version) => `Canary von ${label}: Version ${version}`,
  share: (share, version) => `${share} führen Version ${version} aus`,
  form: {
    explanation: (label, version) =>
      `Ein Anteil der Aufrufe über ${label} führt eine andere Version aus. Schlägt sie öfter fehl als Version ${version}, führen binnen Sekunden alle wieder Version ${version} aus. Beobachtet werden Fehler, nicht wie gut Antworten sind.`,
    version: 'Version der Canary',
    share: 'Anteil der Aufrufe',
    hours: 'Stunden ab jetzt',
    promotes: 'Am Ende übernehmen',
    promotesHint: 'Sonst ist am Ende der Stunden alles wie zuvor.',
    minRequests: 'Wenn sie so viele Aufrufe hatte',
    submit: (version, share) => `Version ${version} in ${share} ausführen`,
    change: 'Canary ändern',
    done: (label, version) => `Ein Anteil von ${label} führt jetzt Version ${version} aus.`,
    changed: (label) => `Die Canary von ${label} ist geändert.`,
  },
  statuses: {
    failures: 'Zurückgenommen',
    time: 'Beendet',
    'promoted-at-end': 'Übernommen',
    promoted: 'Übernommen',
    stopped: 'Beendet',
    'label-moved': 'Beendet',
    'label-deleted': 'Beendet',
  },
  running: 'Läuft',
  runs: (share, label, version, stable) =>
    `${share} der Aufrufe über ${label} führen Version ${version} aus, die anderen Version ${stable}.`,
  since: (author, when) => `Begonnen von ${author} ${when}.`,
  at: (time) => `um ${time}`,
  on: (moment) => `am ${moment}`,
  distant: (when, distance) => `${when} (${distance})`,
  next: {
    back: (when, stable) => `${when} geht es zurück auf Version ${stable}, wenn sie nicht übernommen wird.`,
    tooFew: (when, stable, wanted, version) =>
      `${when} geht es zurück auf Version ${stable}, wenn Version ${version} bis dahin nicht ${wanted} Aufrufe hatte und nicht übernommen wird.`,
    promotes: (when, label, version) =>
      `${when} wird ${label} auf Version ${version} verschoben, wenn diese bis dahin nicht öfter fehlschlägt.`,
    over: 'Ihre Stunden sind vorbei: Sie endet binnen Sekunden.',
    fails: (stable) => `Sie schlägt öfter fehl: Binnen Sekunden führen alle wieder Version ${stable} aus.`,
  },
  ended: {
    failures: (when, version, stable) =>
      `Sie endete ${when} von selbst, weil Version ${version} öfter fehlschlug. Alle Aufrufe führen wieder Version ${stable} aus.`,
    time: (when, _, stable) => `Ihre Stunden waren ${when} vorbei. Alle Aufrufe führen wieder Version ${stable} aus.`,
    'promoted-at-end': (when, version) =>
      `Ihre Stunden waren ${when} vorbei, und das Label wurde auf Version ${version} verschoben.`,
    promoted: (when, version) => `Sie wurde ${when} übernommen: Das Label nennt Version ${version}.`,
    stopped: (when, _, stable) => `Jemand hat sie ${when} beendet. Alle Aufrufe führen wieder Version ${stable} aus.`,
    'label-moved': (when) => `Sie endete ${when}, weil jemand das Label verschob.`,
    'label-deleted': (when) => `Sie endete ${when}, weil jemand das Label löschte.`,
  },
  otherwise: (when) => `Sie endete ${when}.`,
  notPromoted: (wanted) => `Sie wäre nach ${wanted} Aufrufen übernommen worden.`,
  overridden: (reason) => `An der Hürde vorbei begonnen, weil: ${reason}`,
  counts: 'Aufrufe beider Versionen',
  columns: { version: 'Version', requests: 'Aufrufe', failures: 'Fehler', rate: 'Anteil' },
  canary: (version) => `Version ${version} (Canary)`,
  stable: (version) => `Version ${version}`,
  atLeast: (count) => `${count} oder mehr`,
  atMost: (rate) => `höchstens ${rate}`,
  notYet: 'Noch ist nichts gezählt. Aufrufe, die den Cache nutzen dürfen, zählen nicht.',
  evidence: {
    title: 'Evidenz, dass die Canary öfter fehlschlägt',
    of: (value, threshold) => `${value} von ${threshold}`,
    chart: (value, threshold) => `Evidenz ${value}. 1 sagt nichts, und bei ${threshold} wird sie zurückgenommen.`,
    nothing: 'sagt nichts',
    back: 'zurückgenommen',
    text: (threshold) =>
      `Um wie viel wahrscheinlicher diese Fehler sind, wenn sie öfter fehlschlägt. Man kann den ganzen Tag hinsehen: Von 100 Versionen, die gleich oft fehlschlagen, erreicht höchstens eine jemals ${threshold}.`,
    excluded: (version, ratio) =>
      `Ebenso stark sprechen die Fehler dagegen, dass Version ${version} ${ratio}-mal so oft fehlschlägt.`,
  },
  feedback: (canary, stable) => `Feedback des letzten Tages, das nicht zählt: ${canary} · ${stable}`,
  feedbackOf: (version, words) => `Version ${version}: ${words}`,
  change: 'Ändern',
  end: 'Beenden',
  endTitle: (label) => `Canary von ${label} beenden?`,
  endText: (label, stable) =>
    `Alle Aufrufe über ${label} führen danach Version ${stable} aus. Was gezählt wurde, bleibt im Verlauf.`,
  endDone: (label) => `Die Canary von ${label} ist beendet.`,
  promote: 'Übernehmen',
  promoteTitle: (label, version) => `${label} auf Version ${version} verschieben?`,
  promoteText: (label, version) =>
    `Das beendet die Canary, und alle Aufrufe über ${label} führen danach Version ${version} aus.`,
  promoteDone: (label, version) => `${label} nennt jetzt Version ${version}.`,
  records: {
    canary: 'Canary',
    arm: 'Gezogen für',
    arms: { canary: 'Die Canary', stable: 'Die Version des Labels' },
    link: 'Aufrufe',
    linkOf: (name) => `Aufrufe von ${name}`,
  },
  move: {
    column: 'Canary',
    runs: (version, share) => `Version ${version} in ${share}`,
    ended: (status, version) => `${status}: Version ${version}`,
    arms: (canary, stable) => `${canary} fehlgeschlagen, daneben ${stable}`,
    arm: (failures, requests) => `${failures} von ${requests}`,
  },
};
