import type { Dictionary } from '../en/en.ts';

export const profile: Dictionary['profile'] = {
  title: 'Profil',
  user: 'Benutzer',
  project: 'Projekt',
  projectId: 'Projekt-ID',
  endpoint: 'Endpunkt',
  region: 'Region',
  accessKey: 'Zugriffsschlüssel',
  buckets: 'Buckets',
  used: 'Gespeicherte Versionen',
  version: 'Konsole',
  rcFile: 'rc-Datei für die Kommandozeile',
  rcMeaning: 'Ohne das Geheimnis, das die Konsole nicht hat: Beim Einlesen der Datei wird danach gefragt.',
  download: 'Herunterladen',
  language: 'Sprache',
  signOut: 'Abmelden',
  signOutTitle: 'Abmelden, während Übertragungen im Gang sind?',
  signOutStops: (count, shown) =>
    `${count === 1 ? '1 Übertragung wird' : `${shown} Übertragungen werden`} angehalten. Hochladen lässt sich nach der nächsten Anmeldung mit denselben Dateien fortsetzen.`,
  stopAndSignOut: 'Anhalten und abmelden',
  kept: 'Sie bleiben auf diesem Gerät angemeldet, bis Sie sich abmelden, oder 12 Stunden ohne Benutzung.',
  notKept: 'Sie bleiben angemeldet, solange diese Seite offen ist, 30 Minuten ohne Benutzung.',
  quotaHint: 'Grenzen kann der Betreiber des Dienstes erhöhen.',
};
