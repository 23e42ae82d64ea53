/** Where records are delivered. Those of one destination share an object. */
export interface LogDestination {
  /** The name of the bucket. */
  readonly target: string;
  readonly prefix: string;
  readonly grants?: readonly string[] | undefined;
  /** The project that owns the logged buckets, and has to own the target. */
  readonly project: string;
  /** The logged bucket, if the key has its name. */
  readonly bucket?: string | undefined;
  /** The day of the requests, if the key has that one and not the day of the delivery. */
  readonly day?: string | undefined;
}

/** Records of one bucket. */
export interface LogBatch {
  /** A {@link LogDestination} as JSON. */
  readonly to: string;
  /** The name of the bucket that they are about. */
  readonly source: string;
  readonly records: number;
  /** Lines of ASCII. */
  readonly lines: string;
}

/** The records of a destination, by the buckets that they are about. */
export type LogBatches = readonly LogBatch[];

interface Waiting {
  records: number;
  readonly lines: string[];
}

/** Records of access logs that wait in memory, up to so many bytes. More are dropped: nobody waits for room. */
export class LogSpool {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #waiting = new Map<string, { bytes: number; readonly sources: Map<string, Waiting> }>();
  #bytes = 0;

  /** @param most bytes, of all destinations. @param mostOfOne bytes of one, so that it leaves room to others */
  constructor(most: number, mostOfOne: number) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the bytes that wait for a destination, or undefined if there is no room for the records. */
  add({ to, source, records, lines }: LogBatch): number | undefined {
    const found = this.#waiting.get(to) ?? { bytes: 0, sources: new Map<string, Waiting>() };
    const size = lines.length;
    if (this.#bytes + size > this.#most || found.bytes + size > this.#mostOfOne) return undefined;
    const waiting = found.sources.get(source) ?? { records: 0, lines: [] };
    waiting.records += records;
    waiting.lines.push(lines);
    found.sources.set(source, waiting);
    found.bytes += size;
    this.#bytes += size;
    this.#waiting.set(to, found);
    return found.bytes;
  }

  /** Takes the records of a destination out. */
  take(to: string): LogBatches {
    const found = this.#waiting.get(to);
    if (found === undefined) return [];
    this.#waiting.delete(to);
    this.#bytes -= found.bytes;
    return Array.from(found.sources, ([source, { records, lines }]) => ({
      to,
      source,
      records,
      lines: lines.join(''),
    }));
  }

  /** Returns the destinations that records wait for. */
  destinations(): readonly string[] {
    return [...this.#waiting.keys()];
  }
}
