import type { Dictionary } from '../en/en.ts';

export const shell: Dictionary['shell'] = {
  buckets: 'Buckets',
  allBuckets: 'Alle Buckets',
  transfers: 'Übertragungen',
  activity: 'Anfragen',
  people: 'Personen und Schlüssel',
  profile: 'Profil',
  menu: 'Liste der Buckets zeigen',
  goTo: 'Zu einem Bucket …',
  offline: 'Keine Verbindung zum Dienst. Das Gezeigte kann veraltet sein; Übertragungen warten.',
  notFound: 'Unter dieser Adresse ist nichts.',
  shortcuts: 'Tastenkürzel',
  quotaOf: (used, limit) => `${used} von ${limit} Buckets`,
};

export const keys: Dictionary['keys'] = {
  title: 'Tastenkürzel',
  search: 'Im Bucket suchen',
  filter: 'Filtern',
  buckets: 'Alle Buckets',
  move: 'In der Liste gehen; mit Umschalt auswählen',
  open: 'Ordner oder Einzelheiten öffnen',
  preview: 'Einzelheiten',
  upload: 'Dateien hochladen',
  folder: 'Neuer Ordner',
  rename: 'Umbenennen',
  delete: 'Löschen',
  all: 'Alle auswählen',
  up: 'Ordner darüber',
  help: 'Diese Liste',
};

export const signIn: Dictionary['signIn'] = {
  title: 'Anmelden',
  accessKey: 'Zugriffsschlüssel',
  secret: 'Geheimer Schlüssel',
  keep: 'Auf diesem Gerät angemeldet bleiben',
  keepMeaning:
    'Aus dem Geheimnis wird ein Schlüssel, der signiert und nicht gelesen werden kann. Er bleibt in diesem Browser, bis Sie sich abmelden, oder 12 Stunden ohne Benutzung.',
  tabMeaning:
    'Aus dem Geheimnis wird ein Schlüssel, der signiert und nicht gelesen werden kann. Er ist vergessen, wenn die Seite geschlossen oder neu geladen wird.',
  submit: 'Anmelden',
  endpoint: (endpoint) => `bei ${endpoint}`,
  insecure:
    'Diese Seite kam nicht über HTTPS, darum bietet der Browser keinen geschützten Speicher für Schlüssel. Sie können sich anmelden, solange die Seite offen ist; das Geheimnis liegt dann im Speicher der Seite, und was Sie tun, kann unterwegs gelesen werden.',
  rcFile: 'Eine rc-Datei für die Kommandozeile laden',
  rcMeaning: 'Sie enthält das Geheimnis: Legen Sie sie dorthin, wo nur Sie sie lesen können.',
  idle: 'Sie wurden abgemeldet, weil eine Weile nichts geschah.',
  elsewhere: 'Sie haben sich in einem anderen Tab abgemeldet.',
  rejected:
    'Der Dienst nimmt diesen Zugriffsschlüssel nicht mehr an: Er wurde gelöscht, gesperrt oder ersetzt. Melden Sie sich mit einem anderen an.',
  refused: 'Zugriffsschlüssel und Geheimnis passen nicht zusammen. Achten Sie auf Groß- und Kleinschreibung.',
};
