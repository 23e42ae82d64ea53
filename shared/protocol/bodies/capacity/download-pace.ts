import type { Limits } from '../../limits.ts';
import { EndedBody } from '../ended-body.ts';

/** How long the debt of callers is kept at least after it is paid, in milliseconds. */
const tidying = 60_000;

/** How long a caller that has used up its grace may take for a chunk, in milliseconds. */
const shortGrace = 1000;

/** Milliseconds by which downloads of one caller that have ended were too slow, at a moment. Time pays for them. */
interface Debt {
  milliseconds: number;
  at: number;
}

/**
 * Tells which clients take their responses so slowly that they may be cut off, if others need their places. Each response may wait
 * `readerGrace` longer for its client than the bytes that the client has taken would take at `readerRate`. What a caller has begun, and
 * abandoned, counts for its later responses: otherwise it could begin a new one whenever the former is late.
 */
export class DownloadPace {
  readonly #limits: Pick<Limits, 'readerGrace' | 'readerRate'>;
  readonly #now: () => number;
  readonly #debts = new Map<string, Debt>();
  #tidied = 0;

  /** @param now returns milliseconds of a clock that is never set */
  constructor(limits: Pick<Limits, 'readerGrace' | 'readerRate'>, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Returns a body whose client is watched. @param caller a project, or the address of a stranger */
  watch(body: AsyncIterable<Uint8Array>, caller: string, onEnd: () => void): WatchedDownload {
    return new WatchedDownload(body, {
      onEnd,
      now: this.#now,
      allowed: (bytes) => (1000 * bytes) / this.#limits.readerRate,
      grace: () => this.#limits.readerGrace - this.#debtOf(caller),
      owe: (milliseconds) => this.#owe(caller, milliseconds),
    });
  }

  #debtOf(caller: string): number {
    const debt = this.#debts.get(caller);
    return debt ? Math.max(0, debt.milliseconds - (this.#now() - debt.at)) : 0;
  }

  #owe(caller: string, milliseconds: number): void {
    const now = this.#now();
    // A debt that no pause paid would make a caller's every download dispensable for hours.
    const left = Math.min(2 * this.#limits.readerGrace, this.#debtOf(caller) + milliseconds);
    if (left > 0) this.#debts.set(caller, { milliseconds: left, at: now });
    else this.#debts.delete(caller);
    if (now - this.#tidied < tidying) return;
    this.#tidied = now;
    for (const [name, debt] of this.#debts) if (now - debt.at > debt.milliseconds) this.#debts.delete(name);
  }
}

interface Watch {
  readonly onEnd: () => void;
  readonly now: () => number;
  /** Returns the milliseconds for bytes. */
  readonly allowed: (bytes: number) => number;
  /** Returns the milliseconds that the client may wait in addition. */
  readonly grace: () => number;
  /** Adds milliseconds to what the caller owes. */
  readonly owe: (milliseconds: number) => void;
}

/** A body in progress that knows how slow its client is. */
export class WatchedDownload extends EndedBody {
  readonly #watch: Watch;
  /** Milliseconds that the client took longer than allowed for the chunks up to now. */
  #debt = 0;
  /** Milliseconds of all waits for the client. */
  #waited = 0;
  /** The chunk that was handed out last, until the client has taken it. */
  #chunk: { readonly bytes: number; readonly since: number } | undefined;
  #hasEnded = false;

  constructor(body: AsyncIterable<Uint8Array>, watch: Watch) {
    super(body, watch.onEnd);
    this.#watch = watch;
  }

  /** Returns the milliseconds by which the client is late; zero or less if it is not. */
  lateness(): number {
    const grace = this.#watch.grace();
    if (grace > 0) return this.#owed() - grace;
    const waits = this.#chunk ? this.#watch.now() - this.#chunk.since : 0;
    return Math.max(this.#owed(), waits - shortGrace);
  }

  override async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#taken();
    const next = await super.next();
    if (next.done === true) this.#end(this.#debt);
    else this.#chunk = { bytes: next.value.byteLength, since: this.#watch.now() };
    return next;
  }

  override async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#taken();
    this.#end(this.#waited);
    return super.return();
  }

  #owed(): number {
    if (this.#chunk === undefined) return this.#debt;
    const { bytes, since } = this.#chunk;
    return Math.max(0, this.#debt + this.#watch.now() - since - this.#watch.allowed(bytes));
  }

  #taken(): void {
    if (this.#chunk === undefined) return;
    this.#debt = this.#owed();
    this.#waited += this.#watch.now() - this.#chunk.since;
    this.#chunk = undefined;
  }

  #end(owed: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#watch.owe(owed);
  }
}
