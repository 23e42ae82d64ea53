import { computed, signal, type Signal } from '@preact/signals';
import type { S3Client } from '../../s3/client.ts';
import { listObjects, type Entry } from '../../s3/listing.ts';
import { isFailure } from '../../s3/failure.ts';
import type { ShownRows } from './selection.ts';

export type SortKey = 'name' | 'size' | 'modified';

export interface Sort {
  readonly by: SortKey;
  readonly down: boolean;
}

/** A page of the listing: its position, the number of its entries and, unless it is far out of view, the entries. */
interface LoadedPage {
  readonly token: string | undefined;
  readonly start: number;
  readonly count: number;
  entries: readonly Entry[] | undefined;
}

/** The maximum number of pages in memory. In a longer folder, pages far out of view are read again when they are scrolled to. */
const maxPages = 200;

/** The maximum number of pages that are read in advance: folders can be shown first once all are known. */
const eagerPages = 3;

/**
 * The contents of a folder, read page by page as it is scrolled, and completely only for sorting. Listings have the order of names; a
 * complete listing is shown in the chosen order, folders first.
 */
export class ListingModel implements ShownRows {
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix: string;
  readonly count = signal(0);
  readonly isComplete = signal(false);
  readonly isLoading = signal(false);
  readonly error = signal<unknown>(undefined);
  readonly sort: Signal<Sort>;
  /** Changes when any row changes. */
  readonly version = signal(0);
  private readonly filter: string;
  private pages: LoadedPage[] = [];
  private next: string | undefined;
  private readonly stop = new AbortController();
  private readonly wantsAll = signal(false);
  /** All entries in the order shown, if all are known and in memory. */
  private readonly arranged = computed((): readonly Entry[] | undefined => {
    void this.version.value;
    if (!this.isComplete.value || this.pages.some(({ entries }) => entries === undefined)) return undefined;
    return arrange(
      this.pages.flatMap(({ entries }) => entries!),
      this.sort.value,
    );
  });

  /** The first row in view. */
  private shown = 0;

  constructor(client: S3Client, bucket: string, prefix: string, filter: string, sort: Sort) {
    this.client = client;
    this.bucket = bucket;
    this.prefix = prefix;
    this.filter = filter;
    this.sort = signal(sort);
    const isByName = sort.by === 'name' && !sort.down;
    this.wantsAll.value = !isByName;
    void this.loadMore(isByName ? eagerPages : Infinity);
  }

  /** New pages go to the end. Rows move when all are known, which puts folders first, and when they are sorted. */
  get order(): object {
    return this.arranged.value ?? this;
  }

  /** The entry of a row; undefined while it is read again. */
  at(index: number): Entry | undefined {
    const arranged = this.arranged.value;
    if (arranged !== undefined) return arranged[index];
    void this.version.value;
    const page = this.pageOf(index);
    return page?.entries?.[index - page.start];
  }

  /** The entries of these rows, both included, without those that are being read again. */
  between(from: number, to: number): readonly Entry[] {
    const arranged = this.arranged.value;
    if (arranged !== undefined) return arranged.slice(from, to + 1);
    return this.pages.flatMap(({ start, entries }) =>
      start > to || entries === undefined ? [] : entries.slice(Math.max(0, from - start), to + 1 - start),
    );
  }

  /** All known entries, in the order shown. */
  all(): readonly Entry[] {
    return this.arranged.value ?? this.pages.flatMap(({ entries }) => entries ?? []);
  }

  /** Returns a function that is true for a key that may exist: it is listed, or in a part that was not read yet. */
  mayHave(): (key: string) => boolean {
    const known = new Set(this.all().map(({ key }) => key));
    const last = this.pages.at(-1)?.entries?.at(-1)?.key ?? '';
    return (key) => known.has(key) || (!this.isComplete.value && key > last);
  }

  /** Called with the rows in view. Reads the next page, and dropped pages again. */
  show(first: number, last: number): void {
    if (last >= this.count.value - 200) void this.loadMore(1);
    if (this.arranged.peek() !== undefined) return;
    for (const index of [first, last]) {
      const page = this.pageOf(index);
      if (page !== undefined && page.entries === undefined) void this.reload(page);
    }
    this.shown = first;
    this.evict();
  }

  /** Sorts, after reading the rest. */
  sortBy(by: SortKey): void {
    const { by: before, down } = this.sort.value;
    this.sort.value = { by, down: by === before ? !down : by !== 'name' };
    this.wantsAll.value = true;
    void this.loadMore(Infinity);
  }

  /** Reads the rest, so that all can be selected. */
  async loadAll(): Promise<void> {
    this.wantsAll.value = true;
    await this.loadMore(Infinity);
  }

  /** Reads the rest, keeping the last pages in memory. */
  async loadToEnd(): Promise<void> {
    this.shown = Infinity;
    await this.loadMore(Infinity);
  }

  close(): void {
    this.stop.abort();
  }

  private loading: Promise<void> | undefined;

  private async loadMore(pages: number): Promise<void> {
    if (this.loading !== undefined) {
      await this.loading;
      if (pages === 1) return;
    }
    if (this.isComplete.value || this.stop.signal.aborted) return;
    this.loading = this.read(pages).finally(() => (this.loading = undefined));
    await this.loading;
  }

  private async read(pages: number): Promise<void> {
    this.isLoading.value = true;
    this.error.value = undefined;
    try {
      for (let read = 0; read < pages && !this.isComplete.value; read++) {
        const token = this.next;
        const page = await this.list(token);
        if (this.stop.signal.aborted) return;
        const entries = this.withoutSelf(page.entries);
        this.pages.push({ token, start: this.count.value, count: entries.length, entries });
        this.next = page.next;
        this.count.value += entries.length;
        this.isComplete.value = page.next === undefined;
        this.evict();
        this.version.value++;
      }
    } catch (error) {
      if (!isFailure(error, 'Aborted')) this.error.value = error;
    } finally {
      this.isLoading.value = false;
    }
  }

  private list(token: string | undefined) {
    const prefix = this.prefix + this.filter;
    return listObjects(this.client, this.bucket, { prefix, folders: true, token, signal: this.stop.signal });
  }

  /** A created folder is an object, but not an entry of itself. */
  private withoutSelf(entries: readonly Entry[]): readonly Entry[] {
    return entries.filter(({ key }) => key !== this.prefix);
  }

  private async reload(page: LoadedPage): Promise<void> {
    page.entries = [];
    try {
      const { entries } = await this.list(page.token);
      page.entries = this.withoutSelf(entries).slice(0, page.count);
    } catch {
      page.entries = undefined;
    }
    this.version.value++;
  }

  private pageOf(index: number): LoadedPage | undefined {
    let [low, high] = [0, this.pages.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.pages[middle]!.start <= index) low = middle;
      else high = middle - 1;
    }
    return this.pages[low];
  }

  private evict(): void {
    if (this.wantsAll.peek()) return;
    const kept = this.pages.filter(({ entries }) => entries !== undefined);
    if (kept.length <= maxPages) return;
    const shown = Math.min(this.shown, this.count.peek());
    const distance = ({ start }: LoadedPage): number => Math.abs(start - shown);
    kept.sort((a, b) => distance(b) - distance(a));
    for (const page of kept.slice(0, kept.length - maxPages)) page.entries = undefined;
  }
}

function arrange(entries: readonly Entry[], { by, down }: Sort): readonly Entry[] {
  const folders = entries.filter(({ kind }) => kind === 'folder');
  const objects = entries.filter((entry) => entry.kind === 'object');
  if (by === 'size') objects.sort((a, b) => a.size - b.size);
  if (by === 'modified') objects.sort((a, b) => a.modified - b.modified);
  if (down) {
    objects.reverse();
    if (by === 'name') folders.reverse();
  }
  return [...folders, ...objects];
}
