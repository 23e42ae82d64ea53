import type { Dictionary } from '../en/en.ts';

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
    links: 'Öffentliche Links',
    revoke: 'Links zurückziehen',
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
  unfinishedMeaning:
    'Die Seite wurde geschlossen, bevor alles gesendet war. Wählen Sie dieselben Dateien oder denselben Ordner noch einmal: Was der Dienst hat, wird nicht wieder gesendet.',
  unsent: (files, size) => `${files} nicht gesendet (${size})`,
  files: (count, shown) => (count === 1 ? '1 Datei' : `${shown} Dateien`),
  choose: 'Datei wählen …',
  chooseFiles: 'Dateien wählen …',
  chooseFolder: 'Ordner wählen …',
  discard: 'Verwerfen',
  otherFile: 'Das ist eine andere Datei: Name, Größe und Zeit müssen gleich sein.',
  otherFiles: (count, files) =>
    `${files} dieser Übertragung ${count === 1 ? 'ist nicht unter den gewählten oder wurde' : 'sind nicht unter den gewählten oder wurden'} seither geändert: Name, Größe und Zeit müssen gleich sein.`,
  count: (count) => `Übertragungen, ${count} im Gang`,
  countFailed: (count) => `Übertragungen, ${count} mit Fehlern`,
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
