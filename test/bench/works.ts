import type { Contestant } from './contestants.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const parts = 8;

/** A piece of work, done so many times by so many callers at once. Names of keys carry the round, so that none meets another. */
export interface Work {
  readonly name: string;
  readonly callers: number;
  readonly count: number;
  /** How many bytes one of them moves, if those are what counts. */
  readonly bytes?: number;
  /** Whether a server can do it that knows PUT, GET and HEAD only. */
  readonly isPlain: boolean;
  /** What must be there before, and is not measured. */
  prepare?(server: Contestant, round: number): Promise<unknown>;
  act(server: Contestant, at: number, round: number): Promise<unknown>;
}

export const bucket = '/bench';
const smallCount = 2000;
const small = Buffer.alloc(4 * KiB, 'x');
const large = Buffer.alloc(64 * MiB, 'x');
const part = large.subarray(0, large.length / parts);
const smallPath = (at: number): string => `${bucket}/small/${at % smallCount}`;
const largePath = (at: number): string => `${bucket}/large/${at % 4}`;
const doomed = (round: number, at: number): string => `doomed/${round}/${at}`;

/** The order counts: what is read was written by those before. */
export const works: readonly Work[] = [
  {
    name: 'PUT 4 KiB, 1 caller',
    callers: 1,
    count: 50,
    isPlain: true,
    act: (server, at, round) => server.send({ method: 'PUT', path: `${bucket}/alone/${round}/${at}`, body: small }),
  },
  {
    name: 'PUT 4 KiB, 32 callers',
    callers: 32,
    count: smallCount,
    isPlain: true,
    act: (server, at) => server.send({ method: 'PUT', path: smallPath(at), body: small }),
  },
  {
    name: 'GET 4 KiB, 32 callers',
    callers: 32,
    count: 4000,
    isPlain: true,
    act: (server, at) => server.send({ method: 'GET', path: smallPath(at) }),
  },
  {
    name: 'HEAD, 32 callers',
    callers: 32,
    count: 4000,
    isPlain: true,
    act: (server, at) => server.send({ method: 'HEAD', path: smallPath(at) }),
  },
  {
    name: 'PUT 64 MiB, 2 callers',
    callers: 2,
    count: 4,
    bytes: large.length,
    isPlain: true,
    act: (server, at) => server.send({ method: 'PUT', path: largePath(at), body: large }),
  },
  {
    name: 'GET 64 MiB, 2 callers',
    callers: 2,
    count: 8,
    bytes: large.length,
    isPlain: true,
    act: (server, at) => server.send({ method: 'GET', path: largePath(at) }),
  },
  {
    name: `64 MiB in ${parts} parts at once`,
    callers: 1,
    count: 3,
    bytes: large.length,
    isPlain: true,
    act: (server, at, round) => uploadInParts(server, `${bucket}/parts/${round}/${at}`),
  },
  {
    name: 'copy 64 MiB',
    callers: 2,
    count: 50,
    isPlain: false,
    act: (server, at, round) => copy(server, largePath(at), `${bucket}/copies/${round}/${at}`),
  },
  {
    name: 'copy 4 KiB, 32 callers',
    callers: 32,
    count: 500,
    isPlain: false,
    act: (server, at, round) => copy(server, smallPath(at), `${bucket}/small-copies/${round}/${at}`),
  },
  {
    name: 'LIST 1,000 keys',
    callers: 4,
    count: 200,
    isPlain: false,
    act: (server) => server.send({ method: 'GET', path: bucket, query: 'list-type=2&prefix=small%2F' }),
  },
  {
    name: 'LIST with a delimiter',
    callers: 4,
    count: 400,
    isPlain: false,
    act: (server) => server.send({ method: 'GET', path: bucket, query: 'delimiter=%2F&list-type=2' }),
  },
  {
    name: 'DeleteObjects, 1,000 keys',
    callers: 1,
    count: 1,
    isPlain: false,
    prepare: (server, round) =>
      each(1000, 32, (at) => server.send({ method: 'PUT', path: `${bucket}/${doomed(round, at)}`, body: small })),
    act: (server, _at, round) => {
      const keys = Array.from({ length: 1000 }, (_, at) => `<Object><Key>${doomed(round, at)}</Key></Object>`);
      return server.send({ method: 'POST', path: bucket, query: 'delete=', body: `<Delete>${keys.join('')}</Delete>` });
    },
  },
];

/** Does something so many times, by so many callers at once. */
export async function each(count: number, callers: number, act: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function copy(server: Contestant, from: string, to: string): Promise<void> {
  await server.send({ method: 'PUT', path: to, headers: { 'x-amz-copy-source': from } });
}

/** As a client uploads what is large. Where there are no uploads, each part is an object. */
async function uploadInParts(server: Contestant, path: string): Promise<void> {
  if (!server.isStore) {
    await each(parts, parts, (at) => server.send({ method: 'PUT', path: `${path}/${at}`, body: part }));
    return;
  }
  const begun = await server.send({ method: 'POST', path, query: 'uploads=' });
  const id = /<UploadId>(.+?)<\/UploadId>/.exec(begun)![1]!;
  const etags: string[] = [];
  await each(parts, parts, async (at) => {
    const query = `partNumber=${at + 1}&uploadId=${encodeURIComponent(id)}`;
    etags[at] = await server.send({ method: 'PUT', path, query, body: part });
  });
  const listed = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
  await server.send({ method: 'POST', path, query: `uploadId=${encodeURIComponent(id)}`, body });
}
