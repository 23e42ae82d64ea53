import type { Aggregate } from './statistics.ts';

/**
 * Aggregates are packed as four little-endian doubles for each place of an item: sum, minimum, maximum and count. A
 * place without samples has a count of zero. Where a place has at most one sample, only its value is written, NaN for
 * none.
 */
const bytesPerNumber = 8;
const numbersPerAggregate = 4;

/**
 * Packs a column of aggregates.
 * @param single whether every place has at most one sample
 */
export function packColumn(column: readonly (Aggregate | undefined)[], single: boolean): Uint8Array {
  const numbers = column.flatMap((aggregate) => {
    if (single) return [aggregate?.sum ?? NaN];
    const { sum, minimum, maximum, count } = aggregate ?? { sum: 0, minimum: 0, maximum: 0, count: 0 };
    return [sum, minimum, maximum, count];
  });
  const bytes = Buffer.alloc(numbers.length * bytesPerNumber);
  numbers.forEach((number, at) => bytes.writeDoubleLE(number, at * bytesPerNumber));
  return new Uint8Array(bytes);
}

/** Unpacks the output of {@link packColumn}. */
export function unpackColumn(packed: Uint8Array, single: boolean): (Aggregate | undefined)[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const size = bytesPerNumber * (single ? 1 : numbersPerAggregate);
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, place) => {
    const number = (at: number): number => bytes.readDoubleLE(place * size + at * bytesPerNumber);
    const sum = number(0);
    if (single) return Number.isNaN(sum) ? undefined : { sum, minimum: sum, maximum: sum, count: 1 };
    const count = number(3);
    return count === 0 ? undefined : { sum, minimum: number(1), maximum: number(2), count };
  });
}
