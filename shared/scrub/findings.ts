import { BlobsHeld } from '../ports/blob-store.ts';

/**
 * The kinds of findings. `means` and `mending` are shown to operators; a finding without `mending` is never changed.
 * `loss`: data or metadata that somebody stored no longer exists.
 */
export const findingKinds = {
  'missing-blob': { loss: true, means: 'a version whose bytes are not in the blob store' },
  'cut-blob': { loss: true, means: 'a version whose blob differs in size from what was stored' },
  'damaged-blob': { loss: true, means: 'bytes that cannot be read, or are not those that were written' },
  'missing-manifest': { loss: true, means: 'a version of several parts whose list of parts is missing or incomplete' },
  'missing-details': { loss: true, means: 'a version whose headers, metadata and tags are missing' },
  'missing-document': { loss: true, means: 'a bucket that refers to a missing document' },
  unreadable: { loss: true, means: 'an item that is malformed for its kind' },
  'broken-history': {
    means:
      'a current version that is inconsistent with the noncurrent ones, or noncurrent versions without a current one',
    mending: 'current version, counts and links are rebuilt from the existing versions, in order of age',
  },
  'missing-holder': {
    means: 'an existing version that is not among the references to the content it shares',
    mending: 'it is added',
  },
  'dead-holder': {
    means: 'a reference to shared content by a version that no longer exists',
    mending: 'it is removed; content without references is freed',
  },
  'orphan-blob': { means: 'bytes that no version, part or manifest refers to', mending: 'they are removed' },
  'orphan-manifest': { means: 'a list of parts that no version refers to', mending: 'it is removed' },
  'orphan-details': { means: 'headers, metadata and tags that no version refers to', mending: 'they are removed' },
  'orphan-document': { means: 'a document that its bucket does not refer to', mending: 'it is removed' },
  'orphan-part': { means: 'a part of an upload that does not exist', mending: 'its item is removed' },
  'unlisted-upload': { means: 'an open upload that is not in the list of its bucket', mending: 'it is listed' },
  'listed-upload': { means: 'a listed upload that is not open', mending: 'it is removed from the list' },
  'unfinished-upload': {
    means: 'an upload that ended long ago and was not cleaned up',
    mending: 'unused parts are removed, then the upload itself',
  },
  'stale-transition': {
    means: 'a bucket that has been closing, or changing its versioning, for longer than either can take',
    mending: 'the mark is removed',
  },
  'unlisted-bucket': {
    means: 'a bucket that is missing from a list it belongs to, such as that of its project',
    mending: 'it is added',
  },
  'listed-bucket': {
    means: 'a list entry, such as one of a project, for a bucket that does not belong there',
    mending: 'it is removed',
  },
  'bucket-count': { means: 'a project with a wrong bucket count', mending: 'the buckets are counted again' },
  'lost-bucket': {
    means: 'remains of a deleted bucket that is not queued for its purge',
    mending: 'it is queued, and purged soon',
  },
  'overdue-garbage': { means: 'released content that was not freed long after its time', mending: 'it is freed' },
  'overdue-grave': {
    means: 'a deleted bucket that was not purged long after its time',
    mending: 'the bucket is purged',
  },
  usage: {
    means: 'counters of a bucket that differ from what it holds',
    mending: 'they are set to the counted values',
  },
} as const satisfies Record<string, { readonly loss?: true; readonly means: string; readonly mending?: string }>;

export type FindingKind = keyof typeof findingKinds;

/** An inconsistency found. */
export interface Finding {
  readonly kind: FindingKind;
  /** The item, blob or bucket: text that may contain any character of a key. */
  readonly where: string;
  readonly what: string;
  /** `lost`: it cannot be repaired. `moved`: it changed during the check, or a backup needs it, so it was left alone. */
  readonly state: 'found' | 'mended' | 'moved' | 'lost';
}

/** The outcome of a scrub. */
export interface ScrubReport {
  readonly items: number;
  readonly blobs: number;
  /** The number of blobs of earlier versions that were given checksums. */
  readonly checksummed: number;
  /** The numbers of findings and repairs by kind; kinds without findings are left out. */
  readonly findings: Readonly<Partial<Record<FindingKind, { readonly found: number; readonly mended: number }>>>;
  /** The reasons why the search for orphans, or the count of a bucket, was left out. */
  readonly leftOut: readonly string[];
}

/** Repairs a finding. Returns false if the data it was based on has changed, in which case nothing was written. */
export type Mend = () => Promise<boolean>;

/** The record of one scrub: what it has seen and found, and whether to repair. */
export class Findings {
  readonly repair: boolean;
  /** Data written at or after this moment may belong to work in progress and is not reported. */
  readonly cutoff: number;
  readonly seen = { items: 0, blobs: 0, checksummed: 0 };
  readonly #tell: (finding: Finding) => void;
  readonly #counts: Partial<Record<FindingKind, { found: number; mended: number }>> = {};
  readonly #leftOut = new Set<string>();
  #sure = true;

  constructor(options: { repair: boolean; cutoff: number; tell: (finding: Finding) => void }) {
    this.repair = options.repair;
    this.cutoff = options.cutoff;
    this.#tell = options.tell;
  }

  /** Returns whether every possible referrer could be read: otherwise nothing is treated as an orphan. */
  get sure(): boolean {
    return this.#sure;
  }

  /** Records a finding and repairs it if requested and possible. @returns whether it was repaired */
  async note(kind: FindingKind, where: string, what: string, mend?: Mend): Promise<boolean> {
    const mended = this.repair && mend !== undefined && (await mend().catch(unlessHeld));
    const counts = (this.#counts[kind] ??= { found: 0, mended: 0 });
    counts.found += 1;
    if (mended) counts.mended += 1;
    const unmended = this.repair && mend !== undefined ? 'moved' : 'found';
    this.#tell({ kind, where, what, state: mended ? 'mended' : 'loss' in findingKinds[kind] ? 'lost' : unmended });
    return mended;
  }

  /** Stops the search for orphans: an item left unread may refer to them. */
  unsure(reason: string): void {
    this.#sure = false;
    this.leaveOut(`orphans were not looked for: ${reason}`);
  }

  leaveOut(what: string): void {
    if (this.#leftOut.size < maxReasons) this.#leftOut.add(what);
  }

  isYoung(time: number): boolean {
    return !(time < this.cutoff);
  }

  report(): ScrubReport {
    return { ...this.seen, findings: this.#counts, leftOut: [...this.#leftOut] };
  }
}

/** What a backup needs is left alone. */
function unlessHeld(error: unknown): false {
  if (error instanceof BlobsHeld) return false;
  throw error;
}

const maxReasons = 100;
