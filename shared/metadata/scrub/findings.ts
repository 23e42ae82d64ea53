/**
 * What a scrub can find. `means` and `mending` are what an operator reads; a finding without `mending` is never touched.
 * `loss`: bytes or texts that somebody stored are not there any more.
 */
export const findingKinds = {
  'missing-blob': { loss: true, means: 'a version whose bytes are not in the blob store' },
  'cut-blob': { loss: true, means: 'a version whose blob has another size than it was stored with' },
  'missing-manifest': { loss: true, means: 'a version of several parts whose list of parts is gone or not whole' },
  'missing-details': { loss: true, means: 'a version whose headers, metadata and tags are gone' },
  'missing-document': { loss: true, means: 'a bucket that points to a document which is not there' },
  unreadable: { loss: true, means: 'an item that is not of the form of its kind' },
  'broken-history': {
    means: 'a current version that does not fit the noncurrent ones, or noncurrent ones without a current version',
    mending: 'current version, counts and links are stated anew from the versions that are there, in order of age',
  },
  'missing-holder': {
    means: 'a living version that is not among the references to the content it shares',
    mending: 'it is added',
  },
  'dead-holder': {
    means: 'a reference to shared content by a version that is gone',
    mending: 'it is removed; content without references is freed',
  },
  'orphan-blob': { means: 'bytes that no version, part or manifest refers to', mending: 'they are removed' },
  'orphan-manifest': { means: 'a list of parts that no version refers to', mending: 'it is removed' },
  'orphan-details': { means: 'headers, metadata and tags that no version refers to', mending: 'they are removed' },
  'orphan-document': { means: 'a document that its bucket does not point to', mending: 'it is removed' },
  'orphan-part': { means: 'a part of an upload that is not there', mending: 'its item is removed' },
  'unlisted-upload': { means: 'an open upload that is not in the list of its bucket', mending: 'it is listed' },
  'listed-upload': { means: 'a listed upload that is not open', mending: 'it is taken off the list' },
  'unfinished-upload': {
    means: 'an upload that ended long ago and was not cleared up',
    mending: 'parts that were not picked are removed, then the upload itself',
  },
  'stale-transition': {
    means: 'a bucket that has been closing, or settling its versioning, for longer than that can take',
    mending: 'the mark is removed',
  },
  'unlisted-bucket': { means: 'a bucket that is not among those of its project', mending: 'it is added' },
  'listed-bucket': { means: 'an entry of a project for a bucket that is not its', mending: 'it is removed' },
  'bucket-count': { means: 'a project that counts its buckets wrong', mending: 'they are counted anew' },
  'lost-bucket': {
    means: 'remains of a bucket that is gone, and waits for no sweep',
    mending: 'it is put among the removed buckets, and so swept soon',
  },
  'overdue-garbage': { means: 'released content that was not freed long after its time', mending: 'it is freed' },
  'overdue-grave': {
    means: 'a tombstone of a removed bucket that was not purged long after its time',
    mending: 'the bucket is purged',
  },
  usage: { means: 'counters of a bucket that differ from what it holds', mending: 'they are set to what was counted' },
} as const satisfies Record<string, { readonly loss?: true; readonly means: string; readonly mending?: string }>;

export type FindingKind = keyof typeof findingKinds;

/** Something that is not as it should be. */
export interface Finding {
  readonly kind: FindingKind;
  /** Which item, blob or bucket: text that may hold any character of a key. */
  readonly where: string;
  readonly what: string;
  /** `lost`: nothing can be done. `moved`: it changed while it was looked at, so it was left alone. */
  readonly state: 'found' | 'mended' | 'moved' | 'lost';
}

/** What a scrub has seen and found. */
export interface ScrubReport {
  readonly items: number;
  readonly blobs: number;
  /** How often each kind was found, and how many of them were mended; kinds that were not found are left out. */
  readonly findings: Readonly<Partial<Record<FindingKind, { readonly found: number; readonly mended: number }>>>;
  /** Why the search for orphans, or the count of a bucket, was left out. */
  readonly leftOut: readonly string[];
}

/** Does a mend. False: what it was based on has changed meanwhile, and nothing was written. */
export type Mend = () => Promise<boolean>;

/** The book of one scrub: what was seen and found, and whether to mend. */
export class Findings {
  readonly repair: boolean;
  /** What began at this moment or later may be work in progress, and is left alone. */
  readonly cutoff: number;
  readonly seen = { items: 0, blobs: 0 };
  readonly #tell: (finding: Finding) => void;
  readonly #counts: Partial<Record<FindingKind, { found: number; mended: number }>> = {};
  readonly #leftOut = new Set<string>();
  #sure = true;

  constructor(options: { repair: boolean; cutoff: number; tell: (finding: Finding) => void }) {
    this.repair = options.repair;
    this.cutoff = options.cutoff;
    this.#tell = options.tell;
  }

  /** Whether everything that may refer to something else could be read: only then an orphan is one. */
  get sure(): boolean {
    return this.#sure;
  }

  /** Notes a finding and, if that is wanted and there is a way, mends it. @returns whether it was mended */
  async note(kind: FindingKind, where: string, what: string, mend?: Mend): Promise<boolean> {
    const mended = this.repair && mend !== undefined && (await mend());
    const counts = (this.#counts[kind] ??= { found: 0, mended: 0 });
    counts.found += 1;
    if (mended) counts.mended += 1;
    const unmended = this.repair && mend !== undefined ? 'moved' : 'found';
    this.#tell({ kind, where, what, state: mended ? 'mended' : 'loss' in findingKinds[kind] ? 'lost' : unmended });
    return mended;
  }

  /** From now on nothing is taken for an orphan: what was left unread may refer to it. */
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

const maxReasons = 100;
