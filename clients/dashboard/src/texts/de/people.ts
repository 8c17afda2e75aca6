import type { people as english } from '../en/people.ts';

export const people: typeof english = {
  title: 'Personen',
  description:
    'Alle, die sich mit ihrem eigenen Konto angemeldet haben. Namen und Rollen gibt der Identitätsanbieter bei jeder Anmeldung an.',
  columns: {
    name: 'Name',
    email: 'E-Mail',
    roles: 'Rollen',
    status: 'Status',
    first: 'Erste Anmeldung',
    last: 'Letzte Anmeldung',
  },
  statuses: { enabled: 'Aktiv', disabled: 'Gesperrt' },
  you: 'Sie',
  empty: {
    title: 'Noch hat sich niemand angemeldet',
    text: 'Personen erscheinen hier, wenn sie sich mit ihrem Konto anmelden. Die Einstellung OIDC_ISSUER nennt den Identitätsanbieter, der sie kennt.',
  },
  facts: 'Person',
  issuer: 'Aussteller',
  subject: 'ID beim Aussteller',
  id: 'ID',
  activity: 'Was diese Person getan hat',
  changes: 'Änderungen im Änderungsprotokoll',
  invocations: 'Aufrufe',
  keys: {
    title: 'API-Schlüssel, die diese Person erstellt hat',
    empty: 'Keine.',
    noScope: 'Um zu sehen, welche es sind, brauchen Sie die Berechtigung keys:manage.',
    stay: 'Sie bleiben gültig, wenn die Person gesperrt wird, weil Dienste von ihnen abhängen können.',
  },
  revokeKeys: {
    action: 'Alle Schlüssel widerrufen',
    title: (name) => `Alle API-Schlüssel von ${name} widerrufen?`,
    text: 'Alle Schlüssel, die die Person erstellt hat, werden widerrufen, und die mit ihnen erstellten. Was sie nutzt, funktioniert innerhalb von 5 Sekunden nicht mehr. Das lässt sich nicht rückgängig machen.',
    done: (count) => `Widerrufene API-Schlüssel: ${count}.`,
  },
  disable: {
    action: 'Sperren',
    title: (name) => `${name} sperren?`,
    text: 'Die Person kann sich nicht mehr anmelden, und alle ihre Sitzungen enden innerhalb von 5 Sekunden. API-Schlüssel, die sie erstellt hat, bleiben gültig; widerrufen Sie sie unten, falls sie das nicht sollen.',
    done: (name) => `${name} ist gesperrt.`,
  },
  enable: {
    action: 'Entsperren',
    title: (name) => `${name} entsperren?`,
    text: 'Die Person kann sich wieder anmelden, mit den Rollen, die der Identitätsanbieter ihr dann gibt.',
    done: (name) => `${name} kann sich wieder anmelden.`,
  },
  signOut: {
    own: 'Das sind Sie. Sie werden sofort abgemeldet.',
    action: 'Überall abmelden',
    title: (name) => `${name} überall abmelden?`,
    text: 'Alle Sitzungen der Person enden innerhalb von 5 Sekunden. Die Person kann sich wieder anmelden.',
    done: (name) => `${name} ist abgemeldet.`,
  },
};
