import { computed, signal } from '@preact/signals';
import type { Entry } from '../../s3/listing.ts';

/** What is selected: entries chosen one by one, or rows from one to another, of which there may be very many. */
interface Chosen {
  readonly size: number;
  /** Returns whether an entry is among them. The row where it is shown makes the answer quick. */
  has(key: string, row?: number): boolean;
  list(): readonly Entry[];
}

class ByKey implements Chosen {
  private readonly entries: ReadonlyMap<string, Entry>;

  constructor(entries: ReadonlyMap<string, Entry>) {
    this.entries = entries;
  }

  get size(): number {
    return this.entries.size;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  list(): readonly Entry[] {
    return [...this.entries.values()];
  }
}

/** Rows that follow one another. Their keys are gathered only when an entry is asked about that stands elsewhere. */
class Rows implements Chosen {
  private readonly first: number;
  private readonly entries: readonly Entry[];
  private keys: ReadonlySet<string> | undefined;

  constructor(first: number, entries: readonly Entry[]) {
    this.first = first;
    this.entries = entries;
  }

  get size(): number {
    return this.entries.length;
  }

  has(key: string, row = -1): boolean {
    if (this.entries[row - this.first]?.key === key) return true;
    this.keys ??= new Set(this.entries.map((entry) => entry.key));
    return this.keys.has(key);
  }

  list(): readonly Entry[] {
    return this.entries;
  }
}

const nothing = new Rows(0, []);

/** The selection in a list, as in a file manager: one row, several, ranges; and the row of the keyboard's cursor. */
export class Selection {
  readonly cursor = signal(-1);
  private readonly chosen = signal<Chosen>(nothing);
  readonly size = computed(() => this.chosen.value.size);
  private anchor = -1;

  /** Selects one row alone. */
  only(index: number, entry: Entry | undefined): void {
    this.cursor.value = this.anchor = index;
    this.chosen.value = entry === undefined ? nothing : new Rows(index, [entry]);
  }

  /** Adds a row, or takes it away. */
  toggle(index: number, entry: Entry | undefined): void {
    this.cursor.value = this.anchor = index;
    if (entry === undefined) return;
    const next = new Map(this.list().map((each) => [each.key, each]));
    if (!next.delete(entry.key)) next.set(entry.key, entry);
    this.chosen.value = new ByKey(next);
  }

  /** Selects from the row that was selected last to this one. @param between the entries of these rows, both included */
  extend(index: number, between: (from: number, to: number) => readonly Entry[]): void {
    const anchor = Math.max(0, this.anchor);
    const from = Math.min(anchor, index);
    this.cursor.value = index;
    this.chosen.value = new Rows(from, between(from, Math.max(anchor, index)));
  }

  all(entries: readonly Entry[]): void {
    this.chosen.value = new Rows(0, entries);
  }

  /** Takes entries off. */
  retain(isKept: (key: string) => boolean): void {
    const before = this.list();
    const kept = before.filter(({ key }) => isKept(key));
    if (kept.length < before.length) this.chosen.value = new ByKey(new Map(kept.map((entry) => [entry.key, entry])));
  }

  clear(): void {
    this.chosen.value = nothing;
    this.anchor = this.cursor.value;
  }

  /** @param row where the entry is shown, which makes the answer quick */
  has(key: string, row?: number): boolean {
    return this.chosen.value.has(key, row);
  }

  list(): readonly Entry[] {
    return this.chosen.value.list();
  }
}
