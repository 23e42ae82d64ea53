import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Randomness } from '../ports/randomness.ts';
import type { UsedPack } from './pack-index.ts';
import { DamagedFile, SealedFile, SealedFileWriter } from './sealed-file.ts';

export const backupsFolder = 'backups/';

/** Something of the data directory that could not be read whole. */
export interface Unread {
  /** The item, blob or file. */
  readonly where: string;
  readonly what: string;
}

/** What is told of a backup. */
export interface BackupSummary {
  readonly id: string;
  /** Its moment, in milliseconds since the epoch. */
  readonly at: number;
  /** The version of the program that made it. */
  readonly program: string;
  /** Entries of the table, and blobs that they refer to. */
  readonly items: number;
  readonly blobs: number;
  /** The bytes of the packs that it uses, which others may use as well, and those that it wrote itself. */
  readonly size: number;
  readonly added: number;
  /** The milliseconds that it took. */
  readonly took: number;
  /** The number of things that were damaged or missing in the data directory. */
  readonly unread: number;
}

/** The record of a backup, which is written last: what belongs to it. */
export interface BackupRecord extends BackupSummary {
  readonly packs: readonly UsedPack[];
  /** Small files of the data directory by their names, in base64, such as the master key. */
  readonly files: Readonly<Record<string, string>>;
  /** The first things that could not be read. */
  readonly examples: readonly Unread[];
}

/** Returns the id of a backup, which sorts by its time: `2026-11-28T15-20-41Z-4f1c09`. */
export function backupId(at: number, randomness: Randomness): string {
  const time = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  return `${time}-${Buffer.from(randomness.bytes(3)).toString('hex')}`;
}

/** Returns the id of the backup in a file; undefined if it is none. */
export function backupOf(file: string): string | undefined {
  return /^backups\/(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[0-9a-f]{6})$/.exec(file)?.[1];
}

export function encodeRecord(key: Uint8Array, record: BackupRecord, randomness: Randomness): Buffer {
  return sealedJson(key, 'backup', record, randomness);
}

/** @throws DamagedFile */
export function decodeRecord(key: Uint8Array, bytes: Uint8Array, id: string): BackupRecord {
  const record = openedJson(key, 'backup', bytes) as BackupRecord;
  // The file of another backup under this name is none of this one.
  if (record.id !== id) throw new DamagedFile();
  return record;
}

/** Returns a sealed file of one section, compressed JSON. */
export function sealedJson(key: Uint8Array, kind: 'backup' | 'index', value: unknown, randomness: Randomness): Buffer {
  return new SealedFileWriter(key, kind, randomness.bytes(32)).finish(deflateRawSync(JSON.stringify(value)));
}

/** @throws DamagedFile */
export function openedJson(key: Uint8Array, kind: 'backup' | 'index', bytes: Uint8Array): unknown {
  return JSON.parse(inflateRawSync(new SealedFile(key, kind, bytes).end).toString());
}
