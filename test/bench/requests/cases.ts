import { createHash } from 'node:crypto';
import type { ScannedResponse } from './response-scanner.ts';
import type { BenchRequest, Framing } from './signed-request.ts';

/** Objects that cases find: 4 KiB, 1 MiB, 64 MiB; and many small ones, to list. */
export type Found = 'small' | 'medium' | 'large' | 'listed';

/** The size of the data before the cases run. */
export interface Filling {
  /** Keys in the bucket that is listed. */
  readonly keys: number;
}

/** Sends a request that follows from the response to an earlier one, and returns its response. @throws Error for a status of 300 or more */
type Exchange = (request: BenchRequest) => Promise<ScannedResponse>;

/** A measured case. */
export interface Case {
  readonly name: string;
  /** Connections, each of which sends one request after the other. */
  readonly connections: number;
  /** The number of bytes in one of them that counts for the rate; undefined: the number of requests counts. */
  readonly bytes?: number;
  /** Whether a server can do it that knows only PUT, GET, HEAD and DELETE of objects. */
  readonly isPlain?: boolean;
  /** Whether connections are encrypted. */
  readonly isSecure?: boolean;
  readonly finds?: readonly Found[];
  /** The requests sent before the measurement. */
  readonly prepare?: (round: number) => readonly BenchRequest[];
  /** The number of requests, which are signed beforehand. */
  readonly count: number;
  /** Whether each is sent once, and the measurement ends with the last; otherwise they are repeated. */
  readonly isOnce?: boolean;
  readonly request?: (index: number, round: number, filling: Filling) => BenchRequest;
  /** The number of bytes that the body of each response must have, if that is known. */
  readonly expectedBytes?: number;
  /** Instead of `request`: requests of which each follows from the one before. One call counts as one. */
  readonly flow?: (exchange: Exchange, round: number, index: number) => Promise<void>;
  /** Cases whose requests others send at the same time. */
  readonly beside?: readonly Case[];
}

const KiB = 1024;
const MiB = 1024 * KiB;
const small = 4 * KiB;
/** Objects that are read. */
const readSmall = 2000;
const readMedium = 32;
const readLarge = 8;
/** New keys in one measurement: no service on one machine takes more in two seconds. */
const freshCount = 12_000;

/** The buckets. The cases write to the first and the second, and list the third. */
const buckets = { objects: '/bench', versioned: '/bench-versioned', listed: '/bench-listed' } as const;

const smallPath = (at: number): string => `${buckets.objects}/small/${at % readSmall}`;
const mediumPath = (at: number): string => `${buckets.objects}/medium/${at % readMedium}`;
const largePath = (at: number): string => `${buckets.objects}/large/${at % readLarge}`;
/** Keys in a hundred folders, in order. */
const listedKey = (at: number, { keys }: Filling): string =>
  `${String(Math.floor((at * 100) / keys)).padStart(2, '0')}/${String(at).padStart(9, '0')}`;
const put = (path: string, bytes: number, framing?: Framing): BenchRequest => ({
  method: 'PUT',
  path,
  body: { bytes, ...(framing && { framing }) },
});
const each = <T>(count: number, of: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => of(at));

/** Returns the data that cases need, including the cases beside them. */
export function foundBy(some: readonly Case[]): readonly Found[] {
  return [...new Set(some.flatMap(({ finds = [], beside = [] }) => [...finds, ...foundBy(beside)]))];
}

/** Returns the requests that create the data that cases need. */
export function fillingRequests(found: readonly Found[], filling: Filling): readonly BenchRequest[] {
  const requests: Readonly<Record<Found, () => BenchRequest[]>> = {
    small: () => each(readSmall, (at) => put(smallPath(at), small)),
    medium: () => each(readMedium, (at) => put(mediumPath(at), MiB)),
    large: () => each(readLarge, (at) => put(largePath(at), 64 * MiB)),
    listed: () => each(filling.keys, (at) => put(`${buckets.listed}/${listedKey(at, filling)}`, 64)),
  };
  return found.flatMap((kind) => requests[kind]());
}

/** Creates the buckets for {@link fillingRequests}, in this order. */
export const bucketRequests: readonly BenchRequest[] = [
  ...Object.values(buckets).map((path) => ({ method: 'PUT', path }) as const),
  {
    method: 'PUT',
    path: buckets.versioned,
    query: 'versioning=',
    body: '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Enabled</Status></VersioningConfiguration>',
  },
];

/** Requests of which each is sent once. */
function fresh(name: string, connections: number, request: NonNullable<Case['request']>): Case {
  return { name, connections, count: freshCount, isOnce: true, request };
}

function putsOf(name: string, connections: number, bytes: number, framing?: Framing): Case {
  const folder = `${buckets.objects}/put-${bytes}-${framing ?? 'digest'}`;
  return {
    name,
    connections,
    bytes,
    isPlain: framing === undefined,
    count: bytes > MiB ? 2 : 64,
    request: (at) => put(`${folder}/${at}`, bytes, framing),
  };
}

function getsOf(name: string, connections: number, bytes: number): Case {
  const [count, path, found] =
    bytes > MiB ? ([readLarge, largePath, 'large'] as const) : ([readMedium, mediumPath, 'medium'] as const);
  const request = (at: number): BenchRequest => ({ method: 'GET', path: path(at) });
  return { name, connections, bytes, isPlain: true, finds: [found], count, request, expectedBytes: bytes };
}

function getsSmall(name: string, connections: number): Case {
  const request = (at: number): BenchRequest => ({ method: 'GET', path: smallPath(at) });
  return { name, connections, isPlain: true, finds: ['small'], count: readSmall, request, expectedBytes: small };
}

/** Listings, each from another key. @param query from the key to begin after */
function lists(name: string, connections: number, query: (from: string) => string): Case {
  const request = (at: number, _round: number, filling: Filling): BenchRequest => {
    const key = (at * 7919) % Math.max(1, filling.keys - 1000);
    return { method: 'GET', path: buckets.listed, query: query(listedKey(key, filling).replace('/', '%2F')) };
  };
  return { name, connections, finds: ['listed'], count: 500, request };
}

const newSmall = (kind: string) => (at: number, round: number) =>
  put(`${buckets.objects}/${kind}/${round}/${at}`, small);
const plainPage = (from: string): string => `list-type=2&max-keys=1000&start-after=${from}`;
const folders = (): string => 'delimiter=%2F&list-type=2&max-keys=1000';
const versionsPage = (from: string): string => `key-marker=${from}&max-keys=1000&versions=`;

const batch = 1000;
const doomed = (round: number, at: number): string => `doomed/${round}/${at}`;

function deletions(connections: number, batches: number): Case {
  return {
    name: `DeleteObjects 1,000 c${connections}`,
    connections,
    prepare: (round) => each(batches * batch, (at) => put(`${buckets.objects}/${doomed(round, at)}`, 64)),
    count: batches,
    isOnce: true,
    request: (index, round) => {
      const keys = each(batch, (at) => `<Object><Key>${doomed(round, index * batch + at)}</Key></Object>`);
      const body = `<Delete><Quiet>true</Quiet>${keys.join('')}</Delete>`;
      const digest = createHash('md5').update(body).digest('base64');
      return { method: 'POST', path: buckets.objects, query: 'delete=', headers: { 'content-md5': digest }, body };
    },
  };
}

/** The same, of the same keys again and again, in a bucket that keeps their versions: each gets another delete marker. */
function endlessDeletions(connections: number): Case {
  const { request, prepare: _, ...once } = deletions(connections, connections);
  return {
    ...once,
    name: 'DeleteObjects of 1,000',
    isOnce: false,
    request: (index) => ({ ...request!(index, 0, { keys: 0 }), path: buckets.versioned }),
  };
}

const deleted = 3000;

const deletes: Case = {
  name: 'DELETE c32',
  connections: 32,
  isPlain: true,
  prepare: (round) => each(deleted, (at) => put(`${buckets.objects}/deleted/${round}/${at}`, 64)),
  count: deleted,
  isOnce: true,
  request: (at, round) => ({ method: 'DELETE', path: `${buckets.objects}/deleted/${round}/${at}` }),
};

/** The default mix of MinIO's warp: https://github.com/minio/warp#mixed */
function mixed(at: number, round: number): BenchRequest {
  const turn = (at * 37) % 100;
  if (turn < 45) return { method: 'GET', path: smallPath(at) };
  if (turn < 75) return { method: 'HEAD', path: smallPath(at) };
  const path = (index: number): string => `${buckets.objects}/mixed/${round}/${index}`;
  // 37 * 35 = 1295: each deletes the key that was put 135 requests before.
  return turn < 90 ? put(path(at), small) : { method: 'DELETE', path: path(at - 135) };
}

const partSize = 8 * MiB;
const parts = 5;

async function multipart(exchange: Exchange, round: number, index: number): Promise<void> {
  const path = `${buckets.objects}/multipart/${round % 2}/${index % 2}`;
  const begun = await exchange({ method: 'POST', path, query: 'uploads=', keepsBody: true });
  const id = encodeURIComponent(/<UploadId>(.+?)<\/UploadId>/.exec(begun.text)![1]!);
  const listed: string[] = [];
  for (let number = 1; number <= parts; number += 1) {
    const query = `partNumber=${number}&uploadId=${id}`;
    const { head } = await exchange({ method: 'PUT', path, query, body: { bytes: partSize } });
    const etag = /\r\netag: *([^\r]*)/i.exec(head)![1]!;
    listed.push(`<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`);
  }
  const body = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
  await exchange({ method: 'POST', path, query: `uploadId=${id}`, body });
}

/**
 * Keys that copies are written to in turn. Each replaces an earlier copy, so that no content has more references than may share it: the
 * copies share the bytes of their source, instead of reading and writing them.
 */
const copies = 32;

function copiesOf(name: string, connections: number, found: 'small' | 'large'): Case {
  const source = found === 'small' ? smallPath : largePath;
  const request = (at: number): BenchRequest => ({
    method: 'PUT',
    path: `${buckets.objects}/copied-${found}/${at % copies}`,
    headers: { 'x-amz-copy-source': source(at) },
  });
  return { name, connections, finds: [found], count: found === 'small' ? readSmall : copies, request };
}

const listing = lists('lists', 32, plainPage);
const load = [listing, putsOf('uploads', 8, 64 * MiB), endlessDeletions(8)];
const getsUnder = (name: string, beside: readonly Case[]): Case => ({
  ...getsSmall(`GET 4 KiB c1 ${name}`, 1),
  isPlain: false,
  beside,
});

/** The cases, in the order in which they run. */
export const cases: readonly Case[] = [
  { ...fresh('PUT 4 KiB c1', 1, newSmall('alone')), isPlain: true },
  { ...fresh('PUT 4 KiB c32', 32, newSmall('new')), isPlain: true },
  getsSmall('GET 4 KiB c1', 1),
  getsSmall('GET 4 KiB c32', 32),
  { ...getsSmall('HEAD c32', 32), request: (at) => ({ method: 'HEAD', path: smallPath(at) }), expectedBytes: 0 },
  deletes,
  lists('LIST 1,000 c1', 1, plainPage),
  lists('LIST 1,000 c32', 32, plainPage),
  lists('LIST by delimiter c1', 1, folders),
  lists('LIST by delimiter c32', 32, folders),
  lists('LIST versions c1', 1, versionsPage),
  lists('LIST versions c32', 32, versionsPage),
  putsOf('PUT 1 MiB c1', 1, MiB),
  putsOf('PUT 1 MiB c32', 32, MiB),
  putsOf('PUT 64 MiB c1', 1, 64 * MiB),
  { name: 'multipart 5 × 8 MiB c1', connections: 1, bytes: parts * partSize, count: 2, flow: multipart },
  getsOf('GET 1 MiB c32', 32, MiB),
  getsOf('GET 64 MiB c1', 1, 64 * MiB),
  copiesOf('copy 4 KiB c32', 32, 'small'),
  copiesOf('copy 64 MiB c1', 1, 'large'),
  deletions(1, 3),
  {
    name: 'PUT versioned 4 KiB c32',
    connections: 32,
    count: 500,
    request: (at) => put(`${buckets.versioned}/${at}`, small),
  },
  fresh('PUT If-None-Match 4 KiB c32', 32, (at, round) => ({
    ...newSmall('if-none-match')(at, round),
    headers: { 'if-none-match': '*' },
  })),
  fresh('PUT trailer 4 KiB c32', 32, (at, round) => put(`${buckets.objects}/trailer/${round}/${at}`, small, 'trailer')),
  putsOf('PUT trailer 1 MiB c1', 1, MiB, 'trailer'),
  { ...fresh('mixed 4 KiB c32', 32, mixed), finds: ['small'], count: 2 * freshCount },
  { ...getsSmall('GET 4 KiB c32, HTTPS', 32), isSecure: true, isPlain: false },
  { ...putsOf('PUT 1 MiB c32, HTTPS', 32, MiB), isSecure: true, isPlain: false },
  getsUnder('under load', load),
];

/** A small GET alone, and while many others do long-running work. */
export const fairnessCases: readonly Case[] = [
  getsSmall('GET 4 KiB c1', 1),
  getsUnder('beside lists', [listing]),
  getsUnder('beside lists by delimiter', [lists('lists by delimiter', 32, folders)]),
  getsUnder('beside lists of versions', [lists('lists of versions', 32, versionsPage)]),
  getsUnder('beside uploads', [putsOf('uploads', 8, 64 * MiB)]),
  getsUnder('beside DeleteObjects', [endlessDeletions(8)]),
  getsUnder('under load', load),
];

/** Returns the case of a name. @throws Error if there is none */
export function caseNamed(wanted: string): Case {
  const found = [...cases, ...fairnessCases].find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`there is no case ${wanted}`);
  return found;
}
