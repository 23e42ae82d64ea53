import type { Randomness } from '../../ports/randomness.ts';

/**
 * The ids of the data model. Their alphabet is in ASCII order, so that ids which begin with a time sort by it as they stand.
 */
const alphabet = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
/** The values of the alphabet by the codes of its characters. */
const values = new Uint8Array(128);
for (let value = 0; value < alphabet.length; value += 1) values[alphabet.charCodeAt(value)] = value;

const timeCharacters = 8;
/**
 * Added to a time before it is written: ids begin with a letter then (until the year 2109), where the bare time would give
 * them a hyphen, which a command line takes for an option.
 */
const timeOffset = alphabet.indexOf('A') * 64 ** 7;
const counterCharacters = 3;
const counterLimit = 64 ** counterCharacters;

/** A moment and a place among the writes of one key in that millisecond: 48 bits of ms and 18 bits of counter. */
export interface Sequence {
  readonly ms: number;
  readonly counter: number;
}

/** The sequence that follows the key's previous one: the clock's time, or later than the previous if the clock is behind it. */
export function nextSequence(now: number, previous: Sequence | undefined): Sequence {
  if (previous === undefined || now > previous.ms) return { ms: now, counter: 0 };
  return previous.counter + 1 < counterLimit
    ? { ms: previous.ms, counter: previous.counter + 1 }
    : { ms: previous.ms + 1, counter: 0 };
}

/** The sequence an instance id begins with. */
export function sequenceOf(instance: string): Sequence {
  return {
    ms: timeOf(instance.slice(0, timeCharacters)),
    counter: decode(instance.slice(timeCharacters, timeCharacters + counterCharacters)),
  };
}

/** 32 characters: a sequence and 126 random bits. Also the version id shown to clients, unless the version is a null one. */
export function instanceId(sequence: Sequence, randomness: Randomness): string {
  return sortableTime(sequence.ms) + encode(sequence.counter, counterCharacters) + random(21, randomness);
}

/** Whether a string has the form of a version id. */
export function isVersionId(text: string): boolean {
  return /^[-0-9A-Z_a-z]{32}$/.test(text);
}

/** 12 random characters, new on every write of an item: all compare-and-set is on it. */
export function writeToken(randomness: Randomness): string {
  return random(12, randomness);
}

/** How many partitions a bucket's current versions lie in, by the first character of its id. */
const shardCodes = { '0': 1, '1': 4, '2': 16 } as const;

export type ShardCount = (typeof shardCodes)[keyof typeof shardCodes];

/**
 * 22 characters, fresh per creation, so that a name taken again shares nothing with its former life. The first says how many
 * shards the bucket has, which is fixed for its life: whoever has the id can tell where a key lies.
 */
export function bucketId(shards: ShardCount, randomness: Randomness): string {
  const code = Object.entries(shardCodes).find(([, count]) => count === shards)![0];
  return code + random(21, randomness);
}

export function shardCount(bucketId: string): ShardCount {
  return shardCodes[bucketId.charAt(0) as keyof typeof shardCodes];
}

/** For details, manifests, uploads and parts: the time, by which they sort, and 20 random characters. */
export function timedId(now: number, randomness: Randomness): string {
  return sortableTime(now) + random(20, randomness);
}

/** A time as 8 characters that sort by it. */
export function sortableTime(ms: number): string {
  return encode(ms + timeOffset, timeCharacters);
}

/** When an id was made that begins with a time. */
export function madeAt(id: string): number {
  return timeOf(id.slice(0, timeCharacters));
}

/** The time that {@link sortableTime} wrote. */
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
