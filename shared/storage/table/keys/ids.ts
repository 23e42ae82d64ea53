import type { Randomness } from '../../../ports/randomness.ts';

/** The alphabet of ids, in ASCII order, so that ids which begin with a time sort by it as strings. */
const alphabet = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
/** The values of the alphabet, indexed by character code. */
const values = new Uint8Array(128);
for (let value = 0; value < alphabet.length; value += 1) values[alphabet.charCodeAt(value)] = value;

const timeCharacters = 8;
/**
 * Added to times before encoding, so that ids begin with a letter (until the year 2109). The bare time would begin with
 * a hyphen, which command lines take for an option.
 */
const timeOffset = alphabet.indexOf('A') * 64 ** 7;
const counterCharacters = 3;
const counterLimit = 64 ** counterCharacters;

/**
 * A moment and a position among the writes of one key in that millisecond: 48 bits of milliseconds and 18 bits of
 * counter.
 */
export interface Sequence {
  readonly ms: number;
  readonly counter: number;
}

/**
 * Returns the sequence after a key's previous one: the clock's time, or the next after the previous if the clock is not
 * ahead.
 */
export function nextSequence(now: number, previous: Sequence | undefined): Sequence {
  if (previous === undefined || now > previous.ms) return { ms: now, counter: 0 };
  return previous.counter + 1 < counterLimit
    ? { ms: previous.ms, counter: previous.counter + 1 }
    : { ms: previous.ms + 1, counter: 0 };
}

/** Returns the sequence that an instance id begins with. */
export function sequenceOf(instance: string): Sequence {
  return {
    ms: timeOf(instance.slice(0, timeCharacters)),
    counter: decode(instance.slice(timeCharacters, timeCharacters + counterCharacters)),
  };
}

/**
 * Returns 32 characters: a sequence and 126 random bits. Clients see it as the version id, unless the version is a null
 * one.
 */
export function instanceId(sequence: Sequence, randomness: Randomness): string {
  return sortableTime(sequence.ms) + encode(sequence.counter, counterCharacters) + random(21, randomness);
}

/** Returns whether a string has the form of a version id. */
export function isVersionId(text: string): boolean {
  return /^[-0-9A-Z_a-z]{32}$/.test(text);
}

/** Returns 12 random characters, new on every write of an item: compare-and-set always compares this token. */
export function writeToken(randomness: Randomness): string {
  return random(12, randomness);
}

/** The number of partitions that hold a bucket's current versions, by the first character of its id. */
const shardCodes = { '0': 1, '1': 4, '2': 16 } as const;

export type ShardCount = (typeof shardCodes)[keyof typeof shardCodes];

/**
 * Returns 22 characters, unique per creation, so that a reused name shares nothing with the earlier bucket. The first
 * encodes the number of shards, fixed for the bucket's life: the id alone tells which partition holds a key.
 */
export function bucketId(shards: ShardCount, randomness: Randomness): string {
  const code = Object.entries(shardCodes).find(([, count]) => count === shards)![0];
  return code + random(21, randomness);
}

export function shardCount(bucketId: string): ShardCount {
  return shardCodes[bucketId.charAt(0) as keyof typeof shardCodes];
}

/** Returns an id for details, manifests, uploads or parts: the time, by which it sorts, and 20 random characters. */
export function timedId(now: number, randomness: Randomness): string {
  return sortableTime(now) + random(20, randomness);
}

/** Encodes a time as 8 characters that sort by it. */
export function sortableTime(ms: number): string {
  return encode(ms + timeOffset, timeCharacters);
}

/** Returns the creation time of an id that begins with a time. */
export function madeAt(id: string): number {
  return timeOf(id.slice(0, timeCharacters));
}

/** Does the same as {@link madeAt}, for the bytes of an id. */
export function madeAtOf(id: Uint8Array): number {
  // Two halves of 24 bits each: integers of 32 bits are faster.
  let high = 0;
  let low = 0;
  for (let at = 0; at < 4; at += 1) {
    high = (high << 6) | (values[id[at]!] ?? 0);
    low = (low << 6) | (values[id[at + 4]!] ?? 0);
  }
  return high * 64 ** 4 + low - timeOffset;
}

/** Decodes the output of {@link sortableTime}. */
export function timeOf(text: string): number {
  return decode(text) - timeOffset;
}

function random(characters: number, randomness: Randomness): string {
  let text = '';
  for (const byte of randomness.bytes(characters)) text += alphabet[byte & 63]!;
  return text;
}

function encode(value: number, characters: number): string {
  let text = '';
  for (let rest = value, left = characters; left > 0; left -= 1, rest = Math.floor(rest / 64)) {
    text = alphabet[rest % 64]! + text;
  }
  return text;
}

function decode(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at += 1) value = value * 64 + (values[text.charCodeAt(at)] ?? 0);
  return value;
}
