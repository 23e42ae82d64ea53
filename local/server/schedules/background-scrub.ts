import type { BlobDescription, BlobOwner, BlobStore } from '../../../shared/ports/blob-store.ts';
import { BlobChecksumsMissing, BlobMissing } from '../../../shared/ports/blob-store.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { day, minute, second } from '../../../shared/ports/durations.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { decodeContent, encodeContent } from '../../../shared/storage/versions/stored-values.ts';
import { Manifests } from '../../../shared/storage/objects/manifests.ts';
import { decodeVersion, type Version } from '../../../shared/storage/versions/versions.ts';
import { formerBlobCheck } from '../../../shared/scrub/versions.ts';
import { KeyVersions } from '../../../shared/scrub/key-versions.ts';
import { itemKey } from '../../../shared/storage/table/keys/keys.ts';
import { onTheClock } from './schedule.ts';
import { keepScrubState, maxExamples, scrubState, type DamagedBlob, type ScrubPass } from './scrub-state.ts';

/** The time from the start of one pass to that of the next. */
export const scrubInterval = 28 * day;
/** The age from which blobs are read. Younger ones may still be in progress, and are in the page cache; the next pass reads them. */
const minAge = day;
/** The longest single wait, so that the service can stop. */
const longestWait = second;

/** A store whose blobs can be listed in parts, so that a pass can resume after a restart. */
export interface BlobParts extends BlobStore {
  /** The number of parts. */
  readonly parts: number;
  /** @param part from 0 */
  listPart(part: number): AsyncIterable<BlobDescription>;
}

export interface BackgroundScrubDeps {
  readonly table: KeyValueTable;
  readonly blobs: BlobParts;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/**
 * Reads all blobs repeatedly, at a set rate, so that bytes that changed on the disk are detected while a backup of them still exists. Its
 * findings are in the log, in the metrics, and in the state that `stillage scrub --status` prints. It repairs nothing, but adds checksums to
 * blobs of earlier versions.
 */
export class BackgroundScrub {
  readonly #deps: BackgroundScrubDeps;
  /** The rate in bytes a second. */
  readonly #pace: number;
  #stopping = false;
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: BackgroundScrubDeps, pace: number) {
    this.#deps = deps;
    this.#pace = pace;
  }

  /** Ends a running pass soon. The next one resumes where it ended. */
  stop(): void {
    this.#stopping = true;
  }

  /** Resumes an unfinished pass, or begins one if it is due. */
  async run(): Promise<void> {
    const { table, blobs, clock, telemetry } = this.#deps;
    const { current, finished } = await scrubState(table);
    const now = clock.now();
    // A clock that was set back does not delay it for longer than the interval.
    if (current === undefined && finished && Math.abs(now - finished.startedAt) < scrubInterval) return;
    let pass = current ?? begun(now, blobs.parts);
    while (pass.parts.read < pass.parts.of) {
      const next = await this.#part(pass);
      if (next === undefined) return;
      pass = next;
      if (clock.now() - this.#savedAt < minute) continue;
      await keepScrubState(table, { current: pass, ...(finished && { finished }) });
      this.#savedAt = clock.now();
    }
    const { bytes, checksummed, damaged } = pass;
    await keepScrubState(table, { finished: { ...pass, finishedAt: clock.now() } });
    // No blob was old enough, as in a new directory.
    if (pass.blobs === 0) return;
    telemetry.note('background scrub finished', { blobs: pass.blobs, bytes, checksummed, damaged });
  }

  /** @returns undefined if it was stopped */
  async #part(pass: ScrubPass): Promise<ScrubPass | undefined> {
    const { blobs, clock } = this.#deps;
    const counts = { blobs: pass.blobs, bytes: pass.bytes, checksummed: pass.checksummed, damaged: pass.damaged };
    const examples = [...pass.examples];
    for await (const blob of blobs.listPart(pass.parts.read)) {
      if (this.#stopping) return undefined;
      if (clock.now() - blob.writtenAt < minAge) continue;
      const result = await this.#blob(blob);
      if (this.#stopping) return undefined;
      counts.blobs += 1;
      counts.bytes += blob.size;
      if (result === 'checksummed') counts.checksummed += 1;
      if (typeof result !== 'object') continue;
      counts.damaged += 1;
      if (examples.length < maxExamples) examples.push(result);
    }
    return { ...pass, ...counts, examples, parts: { ...pass.parts, read: pass.parts.read + 1 } };
  }

  async #blob({ ref, size }: BlobDescription): Promise<DamagedBlob | 'checksummed' | 'sound'> {
    const { blobs, telemetry } = this.#deps;
    try {
      const { isUnverified, owner } = await blobs.describe(ref);
      if (isUnverified && blobs.addChecksums !== undefined) {
        const check = formerBlobCheck(owner && (await this.#versionOf(ref, owner)));
        const paced = {
          update: async (bytes: Uint8Array) => {
            await check.update(bytes);
            await this.#wait(bytes.length);
            if (this.#stopping) throw new Error('the service stops');
          },
          matches: () => check.matches(),
        };
        if (await blobs.addChecksums(ref, size, paced)) return 'checksummed';
        throw new Error(`blob ${ref} does not match its MD5`);
      }
      for await (const chunk of await blobs.read(ref, size)) {
        await this.#wait(chunk.length);
        if (this.#stopping) break;
      }
      return 'sound';
    } catch (error) {
      // The next service reads the part again.
      if (this.#stopping) return 'sound';
      if (error instanceof BlobMissing) return 'sound';
      const { message } = error as Error;
      const owner = await blobs.describe(ref).then(
        (described) => described.owner,
        () => undefined,
      );
      // A write that never finished leaves a file without checksums, to which nothing refers.
      if (error instanceof BlobChecksumsMissing && !(owner && (await this.#isReferred(ref, owner)))) return 'sound';
      telemetry.problem(`scrub: ${message}; if the bytes are wanted, restore them from a backup`, undefined, {
        ref,
        ...owner,
      });
      return { ref, ...owner, damage: message };
    }
  }

  /** Returns the version that a blob was written for, if it still refers to the blob. */
  async #versionOf(ref: string, { bucketId, key }: BlobOwner): Promise<Version | undefined> {
    let found: Version | undefined;
    await new KeyVersions(this.#deps.table, bucketId, key).some((attributes) => {
      if (attributes['c'] !== `b${ref}`) return false;
      found = decodeVersion(attributes);
      return true;
    });
    return found;
  }

  /** Tells whether a version of the key that a blob was written for, or a sharer of its content, refers to it. */
  async #isReferred(ref: string, { bucketId, key }: BlobOwner): Promise<boolean> {
    const { table, clock } = this.#deps;
    if (await table.get(itemKey.references(encodeContent({ kind: 'blob', ref })))) return true;
    const manifests = new Manifests({ table, clock, randomness: new CryptoRandomness() });
    return new KeyVersions(table, bucketId, key).some(async (attributes) => {
      const stored = attributes['c'];
      if (typeof stored !== 'string') return false;
      const content = decodeContent(stored);
      if (content.kind === 'blob') return content.ref === ref;
      return (await manifests.parts(content.id)).some(({ blob }) => blob === ref);
    });
  }

  /** Waits for the time that reading this many bytes may take. */
  async #wait(bytes: number): Promise<void> {
    let left = (bytes / this.#pace) * second;
    while (left > 0 && !this.#stopping) {
      const wait = Math.min(left, longestWait);
      await this.#deps.clock.sleep(wait);
      left -= wait;
    }
  }
}

/** Starts the background scrub of a service. @param pace the rate in bytes a second; 0: no scrub */
export function scheduleScrub(deps: BackgroundScrubDeps, pace: number): { stop(): Promise<void> } {
  if (pace === 0) return { stop: () => Promise.resolve() };
  const scrub = new BackgroundScrub(deps, pace);
  const schedule = onTheClock(minute, deps.clock, () => scrub.run(), deps.telemetry, 'the background scrub failed');
  return {
    stop: () => {
      scrub.stop();
      return schedule.stop();
    },
  };
}

function begun(now: number, parts: number): ScrubPass {
  return {
    startedAt: now,
    parts: { read: 0, of: parts },
    blobs: 0,
    bytes: 0,
    checksummed: 0,
    damaged: 0,
    examples: [],
  };
}
