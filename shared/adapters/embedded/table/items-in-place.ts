import type { Database } from 'lmdb';
import { stepsPerTurn } from '../../../ports/event-loop.ts';
import type { ItemVisitor, Position } from '../../../ports/item-view.ts';
import type { VisitRange } from '../../../ports/key-value-table.ts';
import { rangeOf } from '../../encoded-table/item-key.ts';
import { KeyOrder, type Boundaries } from './boundaries.ts';
import { EncodedItemView } from './encoded-item-view.ts';
import type { LmdbEnvironment } from './lmdb-environment.ts';
import { inDirection } from './range-in-direction.ts';

/** The cost of finding an item by its key. To read the next one costs one step. */
const stepsToSeek = 4;
/** The bytes of an item that are copied in one additional step. */
const bytesPerStep = 4096;

/** Shows items in the buffers of the engine, which hold them until it reads the next one. */
export class ItemsInPlace {
  readonly #items: Database<undefined, Buffer>;
  readonly #boundaries: Boundaries;
  /** Shows the item that the engine has read last. Used by one visit at a time, as visits do not wait for anything. */
  #view = new EncodedItemView('', []);
  #valueSize = 0;
  /** Used by one visit at a time. */
  readonly #order = new KeyOrder();

  constructor(environment: LmdbEnvironment, boundaries: Boundaries) {
    this.#boundaries = boundaries;
    this.#items = environment.database('items', {
      keyEncoder: {
        writeKey: (key: Uint8Array, target: Buffer, start: number): number => {
          target.set(key, start);
          return start + key.length;
        },
        readKey: (bytes: Buffer, start: number, end: number): undefined => {
          this.#order.next(bytes, start, end);
          this.#view.setKey(bytes, start, end);
        },
      },
      encoder: {
        encode: () => {
          throw new Error('items are not written in place');
        },
        decode: (bytes: Buffer, size: number): undefined => {
          this.#view.setValue(bytes, size);
          this.#valueSize = size;
        },
      },
    });
  }

  /** Does what {@link KeyValueTable.visit} promises, in one go: as much as fits into a turn of the event loop. */
  visit(pk: string, { prefix, reverse = false, ...start }: VisitRange, visitor: ItemVisitor): Position | undefined {
    const view = (this.#view = new EncodedItemView(pk, visitor.columns));
    let steps = 0;
    for (let position: Position | undefined = start; position !== undefined;) {
      const range = rangeOf(pk, { prefix, reverse, ...position });
      this.#boundaries.enter(range, reverse);
      this.#order.begin(reverse);
      position = undefined;
      steps += stepsToSeek;
      let isEmpty = true;
      // The view shows what the iterator has read.
      for (const _ of this.#items.getRange(inDirection(range, reverse))) {
        if (isEmpty) this.#boundaries.begin(range, reverse, view.encodedKey());
        isEmpty = false;
        const wanted = visitor.visit(view);
        if (wanted === 'stop') return undefined;
        view.verify();
        steps += 1 + this.#valueSize / bytesPerStep;
        position = wanted;
        if (steps >= stepsPerTurn) return wanted ?? { after: view.sortKey() };
        if (wanted !== undefined) break;
      }
      if (position === undefined) this.#boundaries.leave(range, reverse, isEmpty ? undefined : view.encodedKey());
    }
    return undefined;
  }
}
