import { signal } from '@preact/signals';
import { isFailure } from '../../s3/failure.ts';
import type { Entry } from '../../s3/listing.ts';
import type { ShownRows } from './selection.ts';

/** Reads pages of objects or versions, and stops when the signal is aborted. */
type Pages<Item> = (signal: AbortSignal) => AsyncIterable<readonly Item[]>;

/** Entries that are shown as they are found in a listing, in its order. */
export class FoundEntries<Item> implements ShownRows {
  readonly order = this;
  readonly hits = signal<readonly Entry[]>([]);
  /** The number of items searched. */
  readonly looked = signal(0);
  readonly isComplete = signal(false);
  readonly error = signal<unknown>(undefined);
  private readonly stopping = new AbortController();

  /** @param entryOf returns the entry that an item shows, or undefined */
  constructor(pages: Pages<Item>, entryOf: (item: Item) => Entry | undefined) {
    void this.run(pages, entryOf);
  }

  at(index: number): Entry | undefined {
    return this.hits.value[index];
  }

  between(from: number, to: number): readonly Entry[] {
    return this.hits.value.slice(from, to + 1);
  }

  all(): readonly Entry[] {
    return this.hits.value;
  }

  stop(): void {
    this.stopping.abort();
    this.isComplete.value = true;
  }

  private async run(pages: Pages<Item>, entryOf: (item: Item) => Entry | undefined): Promise<void> {
    try {
      for await (const page of pages(this.stopping.signal)) {
        if (this.stopping.signal.aborted) return;
        const found = page.map(entryOf).filter((entry) => entry !== undefined);
        if (found.length > 0) this.hits.value = [...this.hits.value, ...found];
        this.looked.value += page.length;
      }
    } catch (error) {
      if (!isFailure(error, 'Aborted')) this.error.value = error;
    }
    this.isComplete.value = true;
  }
}
