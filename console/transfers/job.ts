import { computed, signal, type Signal } from '@preact/signals';
import { readAhead } from './read-ahead.ts';
import { isFailure } from '../s3/failure.ts';

export type JobKind =
  | 'upload'
  | 'download'
  | 'archive'
  | 'copy'
  | 'move'
  | 'rename'
  | 'delete'
  | 'undelete'
  | 'access'
  | 'links'
  | 'revoke';
export type JobState = 'running' | 'paused' | 'offline' | 'done' | 'failed' | 'stopped';

/** A failed item of a job; the job continues with the others. */
export interface ItemFailure<T> {
  readonly item: T;
  readonly name: string;
  readonly error: unknown;
}

/** A job's work on one item: reports what it has done, and stops when told. */
export interface Work<T = unknown> {
  /** Aborted by pause and by stop. */
  readonly signal: AbortSignal;
  /** Reports the amount of the item that is done, in the job's unit. */
  readonly progress: (amount: number) => void;
  /** Reports that a part of the item failed while the rest continues. @param part what is tried again; otherwise the whole item */
  readonly fail: (name: string, error: unknown, part?: T) => void;
}

export interface JobSpec<T> {
  readonly kind: JobKind;
  /** The name of the only item, or the number of items. */
  readonly title: string;
  readonly bucket: string;
  /** Returns the commands that do the same, one for each object or folder that was chosen. */
  readonly commands: () => readonly string[];
  readonly unit: 'bytes' | 'objects';
  readonly concurrency: number;
  /** The items, as they are found. May run long: a folder's listing. */
  readonly items: (signal: AbortSignal) => AsyncIterable<readonly T[]>;
  readonly name: (item: T) => string;
  /** Returns the amount of an item in the job's unit: 1 if objects are counted. */
  readonly amount: (item: T) => number;
  readonly work: (item: T, work: Work<T>) => Promise<void>;
  /** Joins what failed, to try it again in fewer requests. */
  readonly join?: (items: readonly T[]) => readonly T[];
  /** Called when nothing is left to do, also after a stop. */
  readonly ended?: () => void;
}

const retryOffline = 5_000;

/** The pages of items that are read ahead: 20,000 objects of a folder. */
const maxPagesAhead = 20;

/** A long task of many items. It continues when an item fails, and can be paused, stopped, and repeated for failed items. */
export class Job<T = unknown> {
  readonly spec: JobSpec<T>;
  readonly id: number;
  readonly started = Date.now();
  readonly state: Signal<JobState> = signal<JobState>('running');
  readonly total = signal(0);
  readonly found = signal(0);
  readonly finished = signal(0);
  readonly isListing = signal(true);
  readonly failures = signal<readonly ItemFailure<T>[]>([]);
  /** The error that ended the job as a whole. */
  readonly error = signal<unknown>(undefined);
  /** Takes back what it did, where that is possible. */
  readonly undo = signal<(() => void) | undefined>(undefined);
  private readonly settled = signal(0);
  private readonly underWay = signal<ReadonlyMap<T, number>>(new Map());
  readonly done = computed(() => {
    let sum = this.settled.value;
    for (const amount of this.underWay.value.values()) sum += amount;
    return sum;
  });
  readonly isActive = computed(() => ['running', 'paused', 'offline'].includes(this.state.value));
  private phase = new AbortController();
  private readonly whole = new AbortController();
  private wake: (() => void)[] = [];

  constructor(id: number, spec: JobSpec<T>) {
    this.id = id;
    this.spec = spec;
    void this.run(spec.items(this.whole.signal));
  }

  pause(): void {
    if (this.state.value !== 'running' && this.state.value !== 'offline') return;
    this.state.value = 'paused';
    this.phase.abort();
  }

  resume(): void {
    if (this.state.value !== 'paused' && this.state.value !== 'offline') return;
    this.phase = new AbortController();
    this.state.value = 'running';
    for (const wake of this.wake.splice(0)) wake();
  }

  stop(): void {
    if (!this.isActive.value) return;
    this.state.value = 'stopped';
    this.whole.abort();
    this.phase.abort();
    for (const wake of this.wake.splice(0)) wake();
  }

  /** Tries again what failed. */
  retry(): void {
    if (this.isActive.value) return;
    const items = [...new Set(this.failures.value.map(({ item }) => item))];
    const whole = this.error.value !== undefined;
    this.failures.value = [];
    this.error.value = undefined;
    this.phase = new AbortController();
    this.state.value = 'running';
    const amounts = items.reduce((sum, item) => sum + this.spec.amount(item), 0);
    this.total.value -= whole ? this.total.value : amounts;
    this.found.value -= whole ? this.found.value : items.length;
    if (whole) this.settled.value = this.finished.value = 0;
    void this.run(whole ? this.spec.items(this.whole.signal) : once(this.spec.join?.(items) ?? items));
  }

  private async run(items: AsyncIterable<readonly T[]>): Promise<void> {
    const busy = new Set<Promise<void>>();
    this.isListing.value = true;
    try {
      const pages = readAhead(items, maxPagesAhead, {
        read: (page) => {
          this.total.value += page.reduce((sum, item) => sum + this.spec.amount(item), 0);
          this.found.value += page.length;
        },
        ended: () => {
          this.isListing.value = false;
        },
      });
      for await (const page of pages) {
        for (const item of page) {
          await this.awake();
          if (this.state.value === 'stopped') return;
          const one = this.workOn(item).finally(() => busy.delete(one));
          busy.add(one);
          if (busy.size >= this.spec.concurrency) await Promise.race(busy);
        }
      }
      this.isListing.value = false;
      await Promise.all(busy);
    } catch (error) {
      await Promise.all(busy);
      if (this.state.value !== 'stopped') this.error.value = error;
    } finally {
      this.isListing.value = false;
      await Promise.all(busy);
      const failed = this.error.value !== undefined || this.failures.value.length > 0;
      if (this.state.value !== 'stopped') this.state.value = failed ? 'failed' : 'done';
      this.spec.ended?.();
    }
  }

  private async workOn(item: T): Promise<void> {
    for (;;) {
      await this.awake();
      if (this.state.value === 'stopped') return;
      const { signal } = this.phase;
      let amount = this.spec.amount(item);
      try {
        await this.spec.work(item, {
          signal,
          progress: (done) => this.progress(item, done),
          fail: (name, error, part) => {
            this.fail({ item: part ?? item, name, error });
            amount -= this.spec.amount(part ?? item);
          },
        });
        this.settle(item);
        this.settled.value += amount;
        this.finished.value += 1;
        return;
      } catch (error) {
        // What was done is still done while it pauses: only the next attempt can say how much.
        if (this.isPausedBy(signal, error)) continue;
        this.settle(item);
        if (signal.aborted) continue;
        this.fail({ item, name: this.spec.name(item), error });
        return;
      }
    }
  }

  private isPausedBy(signal: AbortSignal, error: unknown): boolean {
    if (signal.aborted) return this.state.value !== 'stopped';
    if (!isFailure(error, 'Offline') || isFinal(this.state.value)) return false;
    this.waitForNetwork();
    return true;
  }

  private fail(failure: ItemFailure<T>): void {
    this.failures.value = [...this.failures.value, failure];
  }

  private waitForNetwork(): void {
    if (this.state.value !== 'running') return;
    this.state.value = 'offline';
    const again = (): void => {
      removeEventListener('online', again);
      clearTimeout(timer);
      if (this.state.value === 'offline') this.resume();
    };
    const timer = setTimeout(again, retryOffline);
    addEventListener('online', again);
  }

  private progress(item: T, amount: number): void {
    this.underWay.value = new Map(this.underWay.value).set(item, amount);
  }

  private settle(item: T): void {
    const rest = new Map(this.underWay.value);
    if (rest.delete(item)) this.underWay.value = rest;
  }

  private async awake(): Promise<void> {
    while (this.state.value === 'paused' || this.state.value === 'offline') {
      await new Promise<void>((resolve) => this.wake.push(resolve));
    }
  }
}

const isFinal = (state: JobState): boolean => state === 'done' || state === 'failed' || state === 'stopped';

/** Items that are known already. */
export async function* once<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}
