import { deepStrictEqual } from 'node:assert';
import { feedRecord } from '../../../shared/adapters/cloud/dynamodb/feed-records.ts';
import {
  marshalItem,
  unmarshalItem,
  type StoredImage,
} from '../../../shared/adapters/cloud/dynamodb/attribute-values.ts';
import { headerSize, readHeader } from '../../../shared/adapters/embedded/blobs/blob-file.ts';
import { decodeItem, encodeItem } from '../../../shared/adapters/encoded-table/item-encoding.ts';
import { decodeItemKey, encodeItemKey } from '../../../shared/adapters/encoded-table/item-key.ts';
import { attachment, fileNameOf } from '../../../shared/http/fields/content-disposition.ts';
import { formatHttpDate, parseHttpDate } from '../../../shared/http/fields/dates.ts';
import { encodeName } from '../../../shared/http/url-encoding.ts';
import { readListingToken, writeListingToken } from '../../../shared/storage/listings/listing-token.ts';
import type { Attributes } from '../../../shared/ports/key-value-table.ts';
import { type Parser, bytesOf } from './parser.ts';

const isDamage = (error: unknown): boolean => (error as Error).name === 'ItemDamaged';
const sample: Attributes = {
  a: 'text',
  b: 1,
  c: true,
  d: new Uint8Array([1, 2]),
  e: ['x', 1],
  f: { g: 'h' },
  i: -1.5,
  j: '',
};

/** The parsers of stored data, and of values that clients and feeds return. */
export const stored: Readonly<Record<string, Parser>> = {
  'stored item': {
    pieces: [encodeItem(sample), encodeItem({}), encodeItem({ a: 1 }), encodeItem({ text: 'é'.repeat(70) })].map(
      (bytes) => bytes.toString('latin1'),
    ),
    // Encoding and decoding a decoded item again does not change it.
    read: (text) => {
      const item = decodeItem(bytesOf(text));
      deepStrictEqual(decodeItem(encodeItem(item)), item);
      return item;
    },
    refuses: isDamage,
  },
  'key of an item': {
    pieces: ['a', 'b', '\0', '\x01', '\xff', '/', 'object/'],
    around: ['a|', 'b'],
    read: (text) => {
      const [pk, sk] = [text.slice(0, text.indexOf('|') + 1), text.slice(text.indexOf('|') + 1)].map((part) =>
        Buffer.from(part).toString(),
      );
      if (pk === '' || sk === '') return undefined;
      deepStrictEqual(decodeItemKey(encodeItemKey({ pk: pk!, sk: sk! })), { pk, sk });
      return pk;
    },
    refuses: (error) => (error as Error).message.includes('bytes together'),
  },
  'header of a blob': {
    pieces: ['stillage', '\x01', '\0', '\xff'],
    read: (text) => readHeader(Buffer.concat([bytesOf(text), Buffer.alloc(headerSize)]).subarray(0, headerSize)),
  },
  'image of an item': {
    pieces: [
      '{"S":"a"}',
      '{"N":"1"}',
      '{"BOOL":true}',
      '{"B":"AQI="}',
      '{"L":[]}',
      '{"M":{"a":{"S":"b"}}}',
      '"__proto__":',
      '"_pk":',
      '"a":',
      ',',
      '{"SS":["a"]}',
    ],
    around: ['{"pk":{"S":"p"},"sk":{"S":"s"},"x":{"S":"y"},"z":', '}'],
    read: (text) => {
      const image = jsonOf(text) as StoredImage | undefined;
      if (image === undefined) return undefined;
      const item = unmarshalItem(image);
      deepStrictEqual(unmarshalItem(marshalItem(item.key, item.attributes) as StoredImage), item);
      return feedRecord('shard', { dynamodb: { SequenceNumber: '1', Keys: image, NewImage: image } }).key;
    },
    refuses: (error) => error instanceof TypeError || error instanceof RangeError,
  },
  'continuation token': {
    pieces: [writeListingToken(Buffer.alloc(32), ['a'], { after: 'key' }), 'A', '-', '_', '=', '+', '/'],
    read: (text) => {
      const key = Buffer.alloc(32);
      const position = { after: Buffer.from(text).toString() };
      deepStrictEqual(readListingToken(key, ['a'], writeListingToken(key, ['a'], position)), position);
      return readListingToken(key, ['a'], text);
    },
  },
  'names in answers': {
    pieces: ['a', 'é', '/', ' ', '%', '"', "'", ';', '\\', '😀'],
    read: (text) => {
      const name = Buffer.from(text).toString();
      deepStrictEqual(decodeURIComponent(encodeName(name).replaceAll('+', ' ')), name);
      const date = parseHttpDate(text);
      if (date !== undefined) deepStrictEqual(parseHttpDate(formatHttpDate(date)), date);
      return fileNameOf(attachment(name));
    },
  },
};

function jsonOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
