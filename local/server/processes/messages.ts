import { encodeItemKey } from '../../../shared/adapters/encoded-table/item-key.ts';
import type { Step } from '../../../shared/adapters/encoded-table/write-steps.ts';
import type { BlobRef } from '../../../shared/ports/blob-store.ts';
import type { Expectation, WriteOutcome } from '../../../shared/ports/key-value-table.ts';
import type { Amount } from '../../../shared/storage/amount.ts';
import type { LimitedBucket } from '../../../shared/storage/quotas/quotas.ts';
import type { ReadersState } from '../../../shared/storage/removal/readers.ts';
import type { TakenMeasurements } from '../metrics/metrics.ts';

/*
 * What the processes of a service ask of each other. A method that returns a promise is a request; any other is a notice, which has no answer. The
 * arguments and results are values that an attribute of a table can have, without undefined ones; only the last argument can be a Buffer,
 * which is passed on as it is.
 */

/** What a worker asks of its primary, which serves each worker by an object of its own. Locks and reservations have numbers that the worker chooses. */
export interface PrimaryProcess {
  /** Returns the origins of consoles; later ones come as notices. */
  start(): Promise<readonly string[]>;
  /** The worker serves connections from now on. */
  serving(): Promise<void>;
  /** The worker cannot serve. */
  failed(why: string): void;

  /** A connection has arrived. */
  taken(number: number): void;
  /** Connections have not arrived. */
  dropped(numbers: readonly number[]): void;
  /** A connection is closed. */
  closed(): void;

  commit(write: SentWrite): Promise<Committed>;
  acceptBlob(ref: BlobRef, value: Buffer): Promise<void>;
  /** A blob that a later commit refers to, which fails if this does. */
  sendBlob(ref: BlobRef, value: Buffer): void;
  removeBlobs(refs: readonly BlobRef[]): Promise<void>;
  abandonBlobs(refs: readonly BlobRef[]): void;
  /** Resolves once the worker holds the mutex of an item. */
  lock(name: string, lock: number): Promise<void>;
  unlock(lock: number): void;

  /** Begins a reservation, or adds to it. Returns false if that would exceed the quota. */
  reserve(reservation: number, bucket: LimitedBucket, growth: Amount): Promise<boolean>;
  /** The same where nothing is limited and so nothing refused. */
  noteGrowth(reservation: number, bucket: LimitedBucket, growth: Amount): void;
  release(reservation: number): void;
  /** Returns false if a party has sent too many requests. */
  admit(party: string): Promise<boolean>;
  /** Follows the change feed to its end. */
  drain(): Promise<void>;
  /** A store could not serve a request. */
  refused(isDiskFull: boolean): void;

  /** Records of access logs, all of one destination. Resolves once the primary has them. */
  keepAccessLog(to: string, source: string, records: number, lines: Buffer): Promise<void>;
  /** Records of access logs are lost. */
  dropAccessLog(reason: string, records: number): void;
  /** Lines for the log. @param dropped how many were dropped before */
  log(dropped: number, lines: Buffer): void;
  logIsWritten(): Promise<boolean>;
  /** Returns the metrics of the whole service. */
  scrape(): Promise<string>;
}

/** What a primary asks of a worker. */
export interface WorkerProcess {
  /** Resolves once the worker handles messages, and all notices that it has sent before are handled. */
  settle(): Promise<void>;
  /** Returns what its requests may still read. */
  readers(): Promise<ReadersState>;
  /** Returns what it has counted since the last call; undefined: it is not measured. */
  measurements(): Promise<TakenMeasurements | undefined>;
  /** The origins of consoles, all of them. */
  knowOrigins(origins: readonly string[]): void;
}

/** How the methods of a process are called; `later` is a notice that may wait a little for another message to be sent with it. */
export type Calls<Process> = {
  readonly [Name in keyof Process]: Process[Name] extends (...args: never[]) => Promise<unknown>
    ? 'request'
    : 'notice' | 'later';
};

export const primaryCalls: Calls<PrimaryProcess> = {
  start: 'request',
  serving: 'request',
  failed: 'notice',
  taken: 'notice',
  dropped: 'notice',
  closed: 'later',
  commit: 'request',
  acceptBlob: 'request',
  sendBlob: 'later',
  removeBlobs: 'request',
  abandonBlobs: 'later',
  lock: 'request',
  unlock: 'notice',
  reserve: 'request',
  noteGrowth: 'later',
  release: 'later',
  admit: 'request',
  drain: 'request',
  refused: 'notice',
  keepAccessLog: 'request',
  dropAccessLog: 'later',
  log: 'notice',
  logIsWritten: 'request',
  scrape: 'request',
};

export const workerCalls: Calls<WorkerProcess> = {
  settle: 'request',
  readers: 'request',
  measurements: 'request',
  knowOrigins: 'notice',
};

/** A message to a worker on the channel of node:cluster, which keeps them in order, and alone can pass connections. */
export type ChannelMessage =
  /** Comes with the socket; without it, if that is closed already. */
  | { readonly kind: 'connection'; readonly number: number }
  /** Tell which connections up to this one have not arrived. Comes after them. */
  | { readonly kind: 'check'; readonly number: number }
  /** Stop serving. `patience`: milliseconds after which running requests are to be cut off. */
  | { readonly kind: 'stop'; readonly patience: number };

/** A write of the table. */
export interface SentWrite {
  readonly steps: readonly SentStep[];
  /** How many of the steps, from the first on, change an item; the others only check. */
  readonly changes: number;
  /** The locks to take for it. */
  readonly locks: readonly { readonly name: string; readonly lock: number }[];
}

interface SentStep {
  readonly pk: string;
  readonly sk: string;
  readonly expect: readonly Expectation[];
  readonly value?: Uint8Array;
}

/** What became of a write. */
export interface Committed {
  readonly outcome: WriteOutcome;
  /** Whether it had to wait for one of its locks. */
  readonly waited: boolean;
  /** Whether the worker keeps them. */
  readonly held: boolean;
}

/** Returns the steps of a write as they are sent. */
export function sentSteps(steps: readonly Step[]): readonly SentStep[] {
  return steps.map(({ key: { pk, sk }, expectations, value }) => ({
    pk,
    sk,
    expect: expectations,
    ...(value && { value }),
  }));
}

/** Returns the steps that were sent. */
export function receivedSteps(steps: readonly SentStep[]): readonly Step[] {
  return steps.map(({ pk, sk, expect, value }) => {
    const key = { pk, sk };
    const bytes = value && Buffer.from(value.buffer, value.byteOffset, value.length);
    return { key, encodedKey: encodeItemKey(key), expectations: [...expect], value: bytes };
  });
}

/** Returns an outcome without what cannot be sent, undefined items. The replaced item is sent for a write of one item, as the port requires. */
export function sentOutcome(outcome: WriteOutcome, isSingle: boolean): WriteOutcome {
  switch (outcome.outcome) {
    case 'written':
      return { outcome: 'written', old: isSingle ? outcome.old.filter((item) => item !== undefined) : [] };
    case 'conflict': {
      const failed = outcome.failed.map(({ key: { pk, sk }, item }) => ({ key: { pk, sk }, ...(item && { item }) }));
      return { outcome: 'conflict', failed };
    }
    case 'unknown':
      return outcome;
  }
}
