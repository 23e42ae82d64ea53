import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { settled } from '../../../shared/storage/table/settled.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';

/** A damaged blob: its bytes differ from those that were written. */
export interface DamagedBlob {
  readonly ref: string;
  /** The bucket that the blob was written for, if that can still be read. */
  readonly bucketId?: string;
  readonly key?: string;
  /** The damage, as the predicate of a sentence about the blob. */
  readonly damage: string;
}

/** One pass of the background scrub over all blobs. Times are in milliseconds since the epoch. */
export interface ScrubPass {
  readonly startedAt: number;
  /** Undefined while the pass runs. */
  readonly finishedAt?: number;
  /** The number of partitions of the list of blobs that have been read, and the number of all. */
  readonly parts: { readonly read: number; readonly of: number };
  readonly blobs: number;
  readonly bytes: number;
  /** The number of blobs of earlier versions that got checksums. */
  readonly checksummed: number;
  readonly damaged: number;
  /** The first damaged blobs. */
  readonly examples: readonly DamagedBlob[];
}

/** The record of the background scrub: its current pass, and the latest that has finished. */
export interface ScrubState {
  readonly current?: ScrubPass;
  readonly finished?: ScrubPass;
}

/** The maximum number of damaged blobs that a pass names. */
export const maxExamples = 100;

const key = itemKey.deployment('scrub');

/** Reads the state that {@link keepScrubState} recorded. */
export async function scrubState(table: KeyValueTable): Promise<ScrubState> {
  const text = (await table.get(key))?.['value'] as string | undefined;
  return text === undefined ? {} : (JSON.parse(text) as ScrubState);
}

/** Records the progress of the background scrub. */
export async function keepScrubState(table: KeyValueTable, state: ScrubState): Promise<void> {
  await settled(table.write([{ key, put: { value: JSON.stringify(state) } }]));
}
