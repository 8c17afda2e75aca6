import type { Texts } from '../en.ts';

export const replays: Texts['replays'] = {
  title: 'Replays',
  titleOf: (integration) => `Replays an ${integration}`,
  description:
    'Ein Replay sendet vergangene Events eines Zeitraums noch einmal, als neue Zustellungen mit denselben Event-IDs. Events werden 30 Tage aufbewahrt.',
  start: 'Replay starten',
  columns: {
    span: 'Zeitraum',
    status: 'Status',
    deliveries: 'Zustellungen',
    started: 'Begonnen',
    finished: 'Beendet',
  },
  statuses: { running: 'Läuft', done: 'Fertig' },
  single: 'Eine Zustellung',
  empty: {
    title: 'Noch keine Replays',
    text: 'Senden Sie die Events eines Zeitraums noch einmal, zum Beispiel nachdem der Empfänger sie verloren hat.',
  },
  form: {
    title: 'Replay starten',
    text: 'Alle Events dieses Zeitraums, deren Typ die Integration empfängt, werden noch einmal gesendet, ob zugestellt oder nicht, außer Sie wählen nur Fehlgeschlagenes.',
    since: 'Von',
    until: 'Bis',
    untilDescription: 'Leer lassen für alle Events bis jetzt.',
    sinceMissing: 'Wählen Sie den Beginn des Zeitraums.',
    order: 'Das Ende muss nach dem Beginn liegen.',
    onlyFailed: 'Nur Fehlgeschlagenes',
    onlyFailedDescription:
      'Events, deren Zustellung endgültig fehlschlug oder verfiel und die seither nicht nachgeholt wurden. Was auf einen weiteren Versuch wartet, wird auch ohne Replay gesendet.',
    submit: 'Replay starten',
  },
  onlyFailed: 'nur Fehlgeschlagenes',
  started: 'Das Replay hat begonnen. Die Liste zeigt, wie viele Zustellungen es erzeugt.',
};
