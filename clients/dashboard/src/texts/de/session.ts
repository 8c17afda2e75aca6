import type { Texts } from '../en.ts';

export const session: Texts['session'] = {
  title: 'Anmelden',
  explanation: 'Ihre Rollen oder die Berechtigungen Ihres API-Schlüssels bestimmen, was Sie sehen und tun können.',
  key: 'API-Schlüssel',
  keyDescription: 'Der erste Start des Dienstes gibt einen Schlüssel aus. Weitere erstellen Sie unter „API-Schlüssel“.',
  submit: 'Anmelden',
  withAccount: (name: string) => `Anmelden mit ${name}`,
  newTab: 'Das öffnet einen neuen Tab. Wenn Sie dort angemeldet sind, kehren Sie zu diesem zurück.',
  keyMissing: 'Geben Sie einen API-Schlüssel ein.',
  refused:
    'Dieser Schlüssel ist ungültig: Er ist unbekannt, abgelaufen oder widerrufen. Prüfen Sie, ob Sie ihn vollständig kopiert haben.',
  linkRefused:
    'Dieser Anmeldelink ist nicht mehr gültig. Er gilt einmal und zehn Minuten lang. Melden Sie sich mit einem API-Schlüssel an.',
  expiredTitle: 'Ihre Sitzung ist beendet',
  expired: 'Melden Sie sich wieder an, um fortzufahren. Ihre Eingaben sind noch da.',
  signOutInstead: 'Verlassen und abmelden',
  checking: 'Anmeldung läuft',
};
