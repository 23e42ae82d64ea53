/**
 * Items shown in place, to visitors that read a few attributes of each: see {@link KeyValueTable.visit}. An adapter
 * need not create an object for an item, and a listing of a thousand items creates none.
 */

/** The item that a visitor is shown. Valid only until the visitor returns. */
export interface ItemView {
  /** The bytes that contain the sort key, in UTF-8, from {@link keyStart} (inclusive) to {@link keyEnd} (exclusive). */
  readonly keyBytes: Uint8Array;
  readonly keyStart: number;
  readonly keyEnd: number;

  /** Returns the sort key. */
  sortKey(): string;

  /**
   * Returns a number, or undefined if the item has no such attribute.
   * @param column the index of its name among the visitor's columns
   * @throws ItemDamaged if the item cannot be decoded, or the attribute has another type
   */
  number(column: number): number | undefined;

  /**
   * Copies bytes, or a text in UTF-8, to the start of `target`, as much of it as fits.
   * @param column the index of its name among the visitor's columns
   * @returns its whole size in bytes, or −1 if the item has no such attribute
   * @throws ItemDamaged if the item cannot be decoded, or the attribute has another type
   */
  copy(column: number, target: Uint8Array): number;

  /** Returns whether a value that {@link copy} copies is a text rather than bytes. */
  isText(column: number): boolean;
}

/** A position in a partition: at the sort key `from` (inclusive), or after the sort key `after` (exclusive). */
export interface Position {
  readonly from?: string;
  readonly after?: string;
}

/** Visits items in order, and reads some of their attributes. */
export interface ItemVisitor {
  /** The names of the attributes that it reads. */
  readonly columns: readonly string[];

  /**
   * Shows the next item. Must not use the table.
   * @returns `stop`; or a later position, from which it wants to continue, although it may be shown items before that;
   *   or undefined for the next item
   */
  visit(item: ItemView): 'stop' | Position | undefined;
}
