import type { Database } from 'lmdb';
import { ItemDamaged, type FeedRecord, type ItemKey } from '../../../ports/key-value-table.ts';
import type { CommitParticipant } from './group-commit.ts';
import { Decoder, Encoder } from '../../encoded-table/item-encoding.ts';
import type { LmdbEnvironment } from './lmdb-environment.ts';
import { seal, unseal } from './sealed-item.ts';

/**
 * The log of changes, in the same file as the items and written in the same transactions. A key is the position, 8
 * bytes, big-endian. Position 0 is not a record but holds the newest position ever assigned, so that none is reused
 * after a trim. A record: partition key, sort key, flags for the fields that follow (1 old, 2 new, 4 time), the time in
 * digits, the old item, the new item, as encoded; stored like an item.
 */
export class FeedLog implements CommitParticipant {
  readonly #records: Database<Buffer, Buffer>;
  readonly #encoder = new Encoder();
  /** The newest position assigned in the current transaction, and the one it started with. */
  #given = 0;
  #marked = 0;
  #seals = false;

  constructor(environment: LmdbEnvironment) {
    this.#records = environment.database('feed', { encoding: 'binary', keyEncoding: 'binary' });
    environment.enlist(this);
  }

  /** Stores records with checksums from now on. */
  sealRecords(): void {
    this.#seals = true;
  }

  /** Returns the newest position ever assigned, or 0 before the first. */
  newest(): number {
    const mark = this.#records.getBinary(newestMark);
    return mark === undefined ? 0 : readPosition(mark);
  }

  /** Starts a transaction. */
  begin(): undefined {
    this.#given = this.#marked = this.newest();
  }

  /** Logs a change. To be called within a transaction. */
  append(key: ItemKey, old: Uint8Array | undefined, now: Uint8Array | undefined): void {
    const record = this.#encoder.begin().text(key.pk).text(key.sk);
    record.byte(part.time | (old ? part.old : 0) | (now ? part.new : 0)).text(String(Date.now()));
    if (old) record.raw(old);
    if (now) record.raw(now);
    this.#given += 1;
    const position = writePosition(this.#given);
    const bytes = record.bytes();
    void this.#records.put(position, this.#seals ? seal(position, bytes) : bytes);
  }

  /** Gives out no position up to this one from now on. To be called within a transaction. */
  advance(to: number): void {
    this.#given = Math.max(this.#given, to);
  }

  /** Ends a transaction. */
  end(): void {
    if (this.#given > this.#marked) void this.#records.put(newestMark, writePosition(this.#given));
  }

  read(after: number, limit: number): FeedRecord[] {
    const records: FeedRecord[] = [];
    const range = this.#records.getRange({ start: writePosition(after + 1), end: afterAll, limit });
    for (const { key, value } of range) {
      const position = readPosition(key);
      try {
        records.push(decodeRecord(position, unseal(key, value)));
      } catch (error) {
        throw error instanceof ItemDamaged ? error.of({ pk: 'feed', sk: String(position) }) : error;
      }
    }
    return records;
  }

  /**
   * Removes at most this many of the oldest records. Returns whether any up to the position remain. To be called within
   * a transaction.
   */
  trim(upTo: number, atMost: number): boolean {
    const oldest = this.#records.getKeys({ start: writePosition(1), end: writePosition(upTo + 1), limit: atMost + 1 });
    const keys = [...oldest];
    for (const key of keys.slice(0, atMost)) void this.#records.remove(key);
    return keys.length > atMost;
  }
}

const part = { old: 1, new: 2, time: 4 } as const;
const newestMark = writePosition(0);
const afterAll = Buffer.alloc(8, 0xff);

/** Says whether this is the key of a record, not that of the newest position. */
export function isRecord(key: Uint8Array): boolean {
  return !newestMark.equals(key);
}

function decodeRecord(position: number, bytes: Buffer): FeedRecord {
  const record = new Decoder(bytes);
  const key = { pk: record.text(), sk: record.text() };
  const parts = record.byte();
  // Records of earlier versions have no time, so the current time is used.
  const at = parts & part.time ? Number(record.text()) : Date.now();
  const old = parts & part.old ? record.item() : undefined;
  const present = parts & part.new ? record.item() : undefined;
  return { shardId: 'table', position: String(position), at, key, old, new: present };
}

function writePosition(position: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(position));
  return bytes;
}

function readPosition(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0));
}
