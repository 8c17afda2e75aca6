import type { Texts } from '../en.ts';

export const integrations: Texts['integrations'] = {
  title: 'Integrationen',
  description:
    'Anwendungen, die Events per Webhook empfangen. Jede hat eine eigene URL, Event-Typen, Header und einen Signaturschlüssel.',
  create: 'Integration erstellen',
  columns: {
    name: 'Name',
    status: 'Status',
    successRate: 'Zugestellt, 24 h',
    lastSuccess: 'Letzter Erfolg',
    events: 'Event-Typen',
    created: 'Erstellt',
  },
  statuses: {
    active: 'Aktiv',
    failing: 'Fehlerhaft',
    retrying: 'Wartet auf den Empfänger',
    paused: 'Pausiert',
    disabled: 'Deaktiviert',
  },
  neverSent: 'Nie',
  inARow: (count) => (count === '1' ? '1 Fehler' : `${count} Fehler in Folge`),
  noAttempts: 'Keine beendet',
  eventTypeCount: (count) => (count === '1' ? '1 Typ' : `${count} Typen`),
  empty: {
    title: 'Noch keine Integrationen',
    text: 'Eine Integration sagt dem Dienst, wohin er Events wie neue Bestellungen senden soll. Erstellen Sie eine und senden Sie ihr dann ein Test-Event.',
  },
  form: {
    createTitle: 'Integration erstellen',
    createDescription: 'Sie ist sofort aktiv und empfängt ab dann die Events ihrer Typen.',
    editTitle: (name) => `${name} bearbeiten`,
    name: 'Name',
    namePlaceholder: 'Küchenmonitor',
    nameMissing: 'Geben Sie einen Namen ein.',
    url: 'URL',
    urlPlaceholder: 'https://kueche.example.com/hooks/orders',
    urlDescription: 'An diese Adresse werden Events per POST gesendet. Weiterleitungen gelten als Fehler.',
    urlWrong: 'Geben Sie eine http- oder https-Adresse ohne Benutzername, Passwort und Fragment ein.',
    eventTypes: 'Event-Typen',
    eventTypesDescription:
      'Die Integration empfängt nur diese. Typen aus späteren Versionen kommen nicht automatisch hinzu.',
    eventTypesMissing: 'Wählen Sie mindestens einen Event-Typ.',
    showSchema: 'Schema, Beispiel',
    showSchemaOf: (type) => `Schema, Beispiel von ${type}`,
    locations: 'Standorte',
    locationsDescription: 'Nur Events dieser Standorte werden gesendet. Leer lassen für alle Standorte.',
    allLocations: 'Alle Standorte',
    secret: 'Signatur',
    secretDescription:
      'Jede Zustellung wird mit einem Signaturschlüssel signiert. Daran erkennt der Empfänger, dass sie von diesem Dienst kommt.',
    secrets: {
      generate: 'Signaturschlüssel für mich erstellen',
      generateDescription: 'Er wird einmal gezeigt, nachdem die Integration erstellt ist.',
      own: 'Eigenen Signaturschlüssel verwenden',
      ownDescription: '24 bis 64 druckbare ASCII-Zeichen, oder „whsec_“ und 24 bis 64 Bytes in Base64.',
      none: 'Zustellungen nicht signieren',
      noneDescription:
        'Der Empfänger kann nicht erkennen, ob eine Zustellung von diesem Dienst kommt. Sie können später einen Signaturschlüssel hinzufügen.',
    },
    ownSecret: 'Signaturschlüssel',
    ownSecretWrong: 'Geben Sie 24 bis 64 druckbare ASCII-Zeichen ein, oder „whsec_“ und 24 bis 64 Bytes in Base64.',
    submitCreate: 'Integration erstellen',
    saved: 'Die Integration ist gespeichert.',
    discard: 'Abbrechen',
  },
  headers: {
    title: 'Eigene Header',
    description:
      'Header, die mit jeder Zustellung gesendet werden, zum Beispiel ein Token, das Ihr Empfänger erwartet. Werte, die wie Zugangsdaten aussehen, werden verschlüsselt gespeichert und als ******** gezeigt.',
    name: 'Header-Name',
    value: 'Wert',
    nameOf: (position) => `Name von Header ${position}`,
    valueOf: (position) => `Wert von Header ${position}`,
    add: 'Header hinzufügen',
    remove: (name) => `Header ${name} entfernen`,
    kept: 'Der gespeicherte Wert bleibt. Geben Sie einen neuen ein, um ihn zu ersetzen.',
    rules: {
      nameMissing: 'Geben Sie einen Namen ein.',
      notToken: "Ein Name besteht aus A–Z, a–z, Ziffern und !#$%&'*+.^_`|~- ohne Leerzeichen.",
      nameTooLong: 'Ein Name hat höchstens 100 Zeichen.',
      reserved: 'Diesen Header setzt der Dienst selbst.',
      repeated: 'Ein anderer Header heißt schon so. Groß- und Kleinschreibung spielt keine Rolle.',
      valueMissing: 'Geben Sie einen Wert ein.',
      notVisible: 'Ein Wert besteht aus sichtbaren ASCII-Zeichen, mit Leerzeichen nur dazwischen.',
      valueTooLong: 'Ein Wert hat höchstens 1.000 Zeichen.',
    },
    tooMany: 'Höchstens 50 Header.',
    reservedNames:
      'Reserviert: Host, Connection, Expect, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade, User-Agent, Content-*, Proxy-*, X-Service-*, webhook-*.',
  },
  eventType: {
    example: 'Beispiel',
    schema: 'JSON-Schema',
    schemaUrl: 'Schema öffnen',
    known: {
      ORDER_PLACED: 'Einmal für jede Bestellung, wenn sie aufgegeben wird. Das Ziel ist die Bestellung.',
      ORDER_COMPLETED: 'Einmal für jede Bestellung, wenn sie abgeschlossen wird. Das Ziel ist die Bestellung.',
      ORDER_CANCELED: 'Einmal für jede Bestellung, wenn sie storniert wird. Das Ziel ist die Bestellung.',
      PRODUCT_UPDATED: 'Wenn ein Produkt geändert wird, nicht wenn es erstellt wird. Das Ziel ist das Produkt.',
      CATEGORY_UPDATED:
        'Wenn eine Kategorie oder ein Produkt darin geändert wird, nicht wenn eine Kategorie erstellt wird. Wechselt ein Produkt die Kategorie, sind es zwei Events, eines für jede. Das Ziel ist die Kategorie. Kategorien haben keine UUID: „targetUuid“ ist null, und der Header X-Service-Event-Target-UUID fehlt.',
      FISCAL_DAY_END:
        'Einmal für jeden Geschäftstag eines Standorts, wenn eine Anfrage oder der Dienst ihn abschließt. Das Ziel ist der Standort.',
      BUDGET_THRESHOLD_REACHED:
        'Für jede Schwelle eines Budgets, einmal je Zeitraum, wenige Sekunden nachdem sie erreicht ist. Das Ziel ist das Budget. Es gehört zu keinem Standort: Eine Integration, die auf Standorte beschränkt ist, erhält es nicht.',
      BUDGET_REFUSING:
        'Einmal je Zeitraum, wenige Sekunden nachdem das Budget zum ersten Mal einen Aufruf abgelehnt hat, auch wenn noch keine Schwelle erreicht ist. Das Ziel ist das Budget. Es gehört zu keinem Standort: Eine Integration, die auf Standorte beschränkt ist, erhält es nicht.',
      PROMPT_VERSION_CREATED:
        'Für jede Version eines Prompts: auch für die erste eines neuen Prompts und für Versionen, die durch Wiederherstellen oder Importieren entstehen. Änderungen von Name, Slug und anderem ohne Version werden nicht gemeldet. Das Ziel ist der Prompt. Der Text des Prompts ist nicht enthalten. Es gehört zu keinem Standort.',
      PROMPT_LABEL_MOVED:
        'Für jede Bewegung eines Labels: wenn es erstellt wird, eine andere Version benennt oder gelöscht wird, und wenn ein Canary beginnt, sich ändert oder endet („cause“). Das Ziel ist der Prompt. Es gehört zu keinem Standort.',
      PROMPT_DELETED:
        'Wenn ein Prompt gelöscht wird, mit Versionen, Labels, Testläufen und Evaluationen. Das Ziel ist der Prompt. Sein Slug kann danach der eines anderen Prompts sein. Es gehört zu keinem Standort.',
      INTEGRATION_FAILING:
        'Wenn der Empfänger einer Integration fünfmal nacheinander oder fünf Minuten lang versagt, und noch einmal, wenn sie deaktiviert werden wird. Höchstens einmal je Stunde, und nicht solange überhaupt kein Empfänger erreichbar ist. Das Ziel ist die Integration; sie selbst erhält es nicht. Es gehört zu keinem Standort.',
      INTEGRATION_RECOVERED:
        'Wenn der Empfänger einer Integration, die INTEGRATION_FAILING gemeldet hat, wieder Events annimmt. Das Ziel ist die Integration; sie selbst erhält es nicht. Es gehört zu keinem Standort.',
      INTEGRATION_DISABLED:
        'Wenn der Dienst eine Integration deaktiviert, weil ihr Empfänger tagelang versagt oder mit 410 geantwortet hat. Das Ziel ist die Integration; sie selbst erhält es nicht. Es gehört zu keinem Standort.',
      INTEGRATIONS_FAILING:
        'Höchstens einmal je Stunde anstelle weiterer INTEGRATION_FAILING, wenn 20 Integrationen gemeldet sind. Das Ziel ist eine der übrigen. Es gehört zu keinem Standort.',
    },
  },
  created: {
    title: 'Integration erstellt',
    text: 'Tragen Sie Anwendungs-ID und Signaturschlüssel beim Empfänger ein und senden Sie dann ein Test-Event.',
    open: 'Integration öffnen',
  },
  issued: {
    title: 'Speichern Sie diesen Signaturschlüssel jetzt',
    text: 'Der Signaturschlüssel wird nur dieses eine Mal gezeigt. Tragen Sie ihn beim Empfänger ein.',
    value: 'Signaturschlüssel',
    valueDescription: 'Für X-Service-Signature: der Schlüssel für HMAC-SHA-256.',
    standard: 'Signaturschlüssel für Standard Webhooks',
    standardDescription: 'Derselbe Schlüssel, wie ihn Bibliotheken für Standard Webhooks lesen.',
    done: 'Ich habe den Schlüssel gespeichert',
  },
  detail: {
    applicationId: 'Anwendungs-ID',
    applicationIdText: 'Jede Zustellung enthält sie in X-Service-Application-ID.',
    edit: 'Bearbeiten',
    pause: 'Pausieren',
    enable: 'Aktivieren',
    attemptNow: 'Jetzt versuchen',
    test: 'Test-Event senden',
    delete: 'Löschen',
    deliveries: 'Zustellungen',
    held: 'Angehaltene Zustellungen',
    replays: 'Replays',
    health: 'Zustand',
    successRate: 'Zugestellte Events, 24 h',
    delivered: (count) => `${count} zugestellt`,
    gaveUp: (count) => `${count} fehlgeschlagen`,
    lastAttempt: 'Letzter Versuch',
    lastSuccess: 'Letzter Erfolg',
    waiting: 'Wartend',
    waitingSince: 'älteste',
    estimated: 'etwa',
    failures: 'Gescheiterte Versuche in Folge',
    lastError: 'Letzter Fehler',
    status: (code) => `Status ${code}`,
    configuration: 'Konfiguration',
    url: 'URL',
    eventTypes: 'Event-Typen',
    locations: 'Standorte',
    headers: 'Eigene Header',
    noHeaders: 'Keine',
    created: 'Erstellt',
    updated: 'Geändert',
    chart: 'Zustellversuche',
    succeeded: 'Erfolgreich',
    failed: 'Fehlgeschlagen',
    latency: 'Mittlere Latenz',
  },
  failing: {
    title: 'Letzter Fehler',
    noAnswer: 'Keine Antwort',
    status: (code) => `Antwort mit Status ${code}`,
    answer: 'Antwort des Empfängers',
    sendNow: 'Jetzt erneut senden',
    open: 'Zustellung anzeigen',
    all: 'Fehlgeschlagenes noch einmal senden …',
  },
  notices: {
    paused: 'Pausiert. Events werden bis zu 30 Tage angehalten und gesendet, wenn Sie die Integration aktivieren.',
    gone: 'Deaktiviert, weil der Empfänger mit 410 (Gone) geantwortet hat. Events werden bis zu 30 Tage angehalten. Berichtigen Sie die URL und aktivieren Sie dann die Integration.',
    failing:
      'Deaktiviert, weil fünf Tage lang jeder Versuch fehlgeschlagen ist. Events werden bis zu 30 Tage angehalten. Bringen Sie den Empfänger in Ordnung und aktivieren Sie dann die Integration.',
    disabled: 'Vom Dienst deaktiviert. Events werden bis zu 30 Tage angehalten.',
    failingSince: 'Keine Zustellung war erfolgreich seit',
    known: {
      'secret-unreadable':
        'Der Dienst kann den Signaturschlüssel oder einen Header nicht entschlüsseln und sendet deshalb nichts. Der Betreiber muss SECRETS_KEY prüfen; sonst geben Sie den Wert neu ein.',
    },
    disablesAt: 'Ohne erfolgreichen Versuch deaktiviert der Dienst die Integration',
    waits: 'Der Empfänger fällt immer wieder aus und erhält deshalb eine Zeit lang nichts. Der nächste Versuch folgt',
    probe: (waiting) =>
      waiting === '1'
        ? 'Eine Zustellung wartet. „Jetzt versuchen“ sendet sie, wenn sie fällig ist.'
        : `${waiting} Zustellungen warten. Eine fällige wird dann gesendet, oder wenn Sie „Jetzt versuchen“ wählen; nimmt der Empfänger sie an, folgen alle anderen fälligen.`,
    unsigned: 'Zustellungen werden nicht signiert. Fügen Sie einen Signaturschlüssel hinzu.',
  },
  done: {
    paused: 'Die Integration ist pausiert.',
    enabled: 'Die Integration ist aktiviert.',
    attempted: (waiting) =>
      waiting === '0'
        ? 'Keine Zustellung wartet. Die nächste wird sofort gesendet.'
        : waiting === '1'
          ? 'Die wartende Zustellung wird jetzt gesendet, wenn sie fällig ist.'
          : `Von ${waiting} wartenden Zustellungen wird jetzt eine fällige gesendet. Nimmt der Empfänger sie an, folgen alle anderen fälligen.`,
    deleted: (name) => `„${name}“ ist gelöscht.`,
    tested: 'Das Test-Event ist unterwegs.',
  },
  test: {
    title: 'Test-Event',
    sample: 'Beispiel eines Typs senden',
    pending: 'Wird gesendet …',
    delivered: 'Der Empfänger hat das Test-Event angenommen.',
    failed: 'Das Test-Event wurde nicht angenommen. Es wird später noch einmal gesendet.',
    held: 'Die Integration ist nicht aktiv, daher ist das Test-Event angehalten.',
    open: 'Zustellung anzeigen',
  },
  remove: {
    title: (name) => `„${name}“ löschen?`,
    text: 'An die Integration wird nichts mehr gesendet. Auch ihre Zustellungen und Replays werden gelöscht. Das lässt sich nicht rückgängig machen.',
    submit: 'Integration löschen',
  },
  rotation: {
    title: 'Signaturschlüssel',
    none: 'Es gibt keinen Signaturschlüssel: Zustellungen werden nicht signiert.',
    present: 'Zustellungen werden signiert. Der Schlüssel selbst wird nie wieder gezeigt.',
    begin: 'Schlüssel wechseln',
    beginFirst: 'Schlüssel hinzufügen',
    beginTitle: 'Signaturschlüssel wechseln: Schritt 1 von 2',
    beginText:
      'Der Dienst erstellt den neuen Schlüssel und zeigt ihn einmal. Bis Sie den Wechsel abschließen, enthält webhook-signature je eine Signatur mit beiden Schlüsseln, und X-Service-Signature nutzt den bisherigen. So scheitert bei keiner Zustellung die Prüfung.',
    beginSubmit: 'Neuen Schlüssel erstellen',
    pendingTitle: 'Wechsel läuft: Schritt 2 von 2',
    pendingText:
      'Tragen Sie den neuen Schlüssel beim Empfänger ein und schließen Sie dann ab. Ab dann gilt nur noch der neue.',
    started: 'Begonnen',
    again: 'Anderen Schlüssel erstellen',
    finish: 'Wechsel abschließen',
    finishTitle: 'Nur noch den neuen Schlüssel verwenden?',
    finishText:
      'Der bisherige Schlüssel gilt dann nicht mehr. Schließen Sie erst ab, wenn der Empfänger den neuen kennt.',
    cancel: 'Wechsel abbrechen',
    finished: 'Der neue Schlüssel ist jetzt der einzige.',
    canceled: 'Der Wechsel ist abgebrochen. Der bisherige Schlüssel bleibt.',
  },
};
