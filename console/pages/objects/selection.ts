import { computed, signal } from '@preact/signals';
import type { Entry } from '../../s3/listing.ts';

/** The selection in a list, as in a file manager: one row, several, ranges; and the row of the keyboard's cursor. */
export class Selection {
  readonly cursor = signal(-1);
  readonly entries = signal<ReadonlyMap<string, Entry>>(new Map());
  readonly size = computed(() => this.entries.value.size);
  private anchor = -1;

  /** Selects one row alone. */
  only(index: number, entry: Entry | undefined): void {
    this.cursor.value = this.anchor = index;
    this.entries.value = entry === undefined ? new Map() : new Map([[entry.key, entry]]);
  }

  /** Adds a row, or takes it away. */
  toggle(index: number, entry: Entry | undefined): void {
    this.cursor.value = this.anchor = index;
    if (entry === undefined) return;
    const next = new Map(this.entries.value);
    if (!next.delete(entry.key)) next.set(entry.key, entry);
    this.entries.value = next;
  }

  /** Selects from the row that was selected last to this one. */
  extend(index: number, at: (index: number) => Entry | undefined): void {
    const from = Math.max(0, this.anchor);
    const next = new Map<string, Entry>();
    for (let each = Math.min(from, index); each <= Math.max(from, index); each++) {
      const entry = at(each);
      if (entry !== undefined) next.set(entry.key, entry);
    }
    this.cursor.value = index;
    this.entries.value = next;
  }

  all(entries: readonly Entry[]): void {
    const next = new Map<string, Entry>();
    for (const entry of entries) next.set(entry.key, entry);
    this.entries.value = next;
  }

  clear(): void {
    this.entries.value = new Map();
    this.anchor = this.cursor.value;
  }

  has(key: string): boolean {
    return this.entries.value.has(key);
  }

  list(): readonly Entry[] {
    return [...this.entries.value.values()];
  }
}
