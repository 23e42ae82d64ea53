import { batch, computed, signal } from '@preact/signals';
import type { Entry } from '../../s3/listing.ts';

/** The rows of a list, as they are shown now. */
export interface ShownRows {
  /** A different object after rows have moved. Adding entries at the end moves none. */
  readonly order: object;
  /** Returns the entry of a row; undefined while it is read. */
  at(index: number): Entry | undefined;
  /** Returns the entries of these rows, both included. */
  between(from: number, to: number): readonly Entry[];
  all(): readonly Entry[];
}

/** The position at which an entry is shown. */
interface Position {
  readonly row: number;
  readonly order: object;
}

/** The selected entries: chosen one by one, or a range of rows, which may be very long. */
interface Chosen {
  readonly size: number;
  has(key: string, at?: Position): boolean;
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

/** A range of rows. Their keys are collected only when an entry is looked up after rows have moved. */
class Rows implements Chosen {
  private readonly first: number;
  private readonly entries: readonly Entry[];
  private readonly order: object;
  private keys: ReadonlySet<string> | undefined;

  constructor(first: number, entries: readonly Entry[], order: object) {
    this.first = first;
    this.entries = entries;
    this.order = order;
  }

  get size(): number {
    return this.entries.length;
  }

  has(key: string, at?: Position): boolean {
    if (at !== undefined) {
      const there = this.entries[at.row - this.first];
      if (there?.key === key) return true;
      if (there === undefined && at.order === this.order) return false;
    }
    this.keys ??= new Set(this.entries.map((entry) => entry.key));
    return this.keys.has(key);
  }

  list(): readonly Entry[] {
    return this.entries;
  }
}

const nothing = new ByKey(new Map());

/** The selection in a list, as in a file manager: one row, several, ranges; and the row of the keyboard's cursor. */
export class Selection {
  /** The row of the cursor; -1: none. */
  readonly cursor = signal(-1);
  private readonly chosen = signal<Chosen>(nothing);
  readonly size = computed(() => this.chosen.value.size);
  private anchor = -1;

  /** Selects one row alone. */
  only(index: number, rows: ShownRows): void {
    const entry = rows.at(index);
    this.anchor = index;
    batch(() => {
      this.cursor.value = index;
      this.chosen.value = entry === undefined ? nothing : new Rows(index, [entry], rows.order);
    });
  }

  /** Selects or deselects a row. */
  toggle(index: number, rows: ShownRows): void {
    const entry = rows.at(index);
    this.anchor = index;
    batch(() => {
      this.cursor.value = index;
      if (entry === undefined) return;
      const next = new Map(
        this.chosen
          .peek()
          .list()
          .map((each) => [each.key, each]),
      );
      if (!next.delete(entry.key)) next.set(entry.key, entry);
      this.chosen.value = new ByKey(next);
    });
  }

  /** Selects the rows from the last selected one to this one. */
  extend(index: number, rows: ShownRows): void {
    const anchor = Math.max(0, this.anchor);
    const from = Math.min(anchor, index);
    const entries = rows.between(from, Math.max(anchor, index));
    batch(() => {
      this.cursor.value = index;
      this.chosen.value = new Rows(from, entries, rows.order);
    });
  }

  all(rows: ShownRows): void {
    this.chosen.value = new Rows(0, rows.all(), rows.order);
  }

  /** Deselects entries. */
  retain(isKept: (key: string) => boolean): void {
    const before = this.chosen.peek().list();
    const kept = before.filter(({ key }) => isKept(key));
    if (kept.length < before.length) this.chosen.value = new ByKey(new Map(kept.map((entry) => [entry.key, entry])));
  }

  clear(): void {
    this.chosen.value = nothing;
    this.anchor = this.cursor.peek();
  }

  /** Returns whether an entry is selected. @param at its position, which makes the lookup fast */
  has(key: string, at?: Position): boolean {
    return this.chosen.value.has(key, at);
  }

  /** Returns the selection. A component that calls it is rendered again when the selection changes. */
  list(): readonly Entry[] {
    return this.chosen.value.list();
  }

  /** Returns the present selection. */
  now(): readonly Entry[] {
    return this.chosen.peek().list();
  }
}
