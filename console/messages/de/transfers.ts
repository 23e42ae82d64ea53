import type { Dictionary } from '../messages.ts';

export const transfers: Dictionary['transfers'] = {
  title: 'Übertragungen',
  none: 'Nichts ist im Gang',
  noneMeaning:
    'Hochladen, Herunterladen als Zip, Kopieren, Verschieben und Löschen erscheinen hier und gehen weiter, während Sie anderes ansehen.',
  clear: 'Fertige entfernen',
  pause: 'Pause',
  resume: 'Weiter',
  stop: 'Anhalten',
  retryFailed: (count) => (count === 1 ? 'Das Gescheiterte noch einmal' : 'Die Gescheiterten noch einmal'),
  kinds: {
    upload: 'Hochladen',
    download: 'Herunterladen',
    archive: 'Zip',
    copy: 'Kopieren',
    move: 'Verschieben',
    rename: 'Umbenennen',
    delete: 'Löschen',
    undelete: 'Löschen zurücknehmen',
    access: 'Öffentlicher Zugriff',
  },
  states: {
    running: 'im Gang',
    paused: 'Pause',
    offline: 'wartet auf die Verbindung',
    done: 'fertig',
    failed: 'mit Fehlern beendet',
    stopped: 'angehalten',
  },
  progress: (done, total) => `${done} von ${total}`,
  failed: (count, shown) => (count === 1 ? '1 gescheitert' : `${shown} gescheitert`),
  unfinished: 'Früher begonnen und nicht fertig',
  unfinishedMeaning: 'Wählen Sie dieselbe Datei noch einmal: Was der Dienst hat, wird nicht wieder gesendet.',
  choose: 'Datei wählen …',
  discard: 'Verwerfen',
  otherFile: 'Das ist eine andere Datei: Name, Größe und Zeit müssen gleich sein.',
  count: (count) => `Übertragungen, ${count} im Gang`,
};

export const activity: Dictionary['activity'] = {
  title: 'Anfragen',
  hint: 'Die Anfragen dieser Sitzung. Jede gibt es als Kommando; das Geheimnis steht in keinem.',
  none: 'Noch keine Anfragen.',
  time: 'Zeit',
  method: 'Methode',
  target: 'Anfrage',
  status: 'Status',
  ms: 'ms',
  id: 'Kennung',
  copyCli: 'AWS CLI',
  copyCurl: 'curl',
};
