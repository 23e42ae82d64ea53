import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { formEnd, formStart, formType, signedV4 } from '../support/clients/form.ts';
import { newBlobs } from '../support/disks/blobs-on-disk.ts';
import { RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { isExternal, serviceUnderTest, type ServiceUnderTest } from '../support/programs/service-under-test.ts';
import { isShort } from '../support/runs/runs.ts';
import { anonymous, chunked, signed, chunkedAndSigned, type Unsigned } from '../support/clients/signer.ts';

/* Bodies large enough for digests in threads, which arrive in pieces of every size: of slow links, proxies, TLS records and frames. */

const kibibyte = 1024;
const pieceSizes = [1, 7, 1021, 4095, 65_537];
const lengths = [512 * kibibyte - 1, 512 * kibibyte, 513 * kibibyte, 1024 * kibibyte - 1, 1024 * kibibyte + 1];
const content = randomBytes(Math.max(...lengths));
/** So many small pieces at most: services refuse bodies of very small chunks, and a test does not write a million of them. */
const maxSmall = 2000;

function inPieces(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieces.at(-1)!.length) {
    pieces.push(bytes.subarray(at, at + (pieces.length < maxSmall ? size : 4097)));
  }
  return pieces;
}

/** A request whose body is written piece by piece. */
interface Upload {
  readonly request: Unsigned;
  readonly payloadHash?: string;
  readonly pieces: readonly (string | Uint8Array)[];
}

/** How a body of bytes is sent. Pieces of a body without frames are written one after another. */
type Way = (service: ServiceUnderTest, path: string, bytes: Buffer, size: number) => Upload;

const unsigned = 'UNSIGNED-PAYLOAD';
const put = (path: string, headers: Readonly<Record<string, string>>): Unsigned => ({ method: 'PUT', path, headers });
const framed = (length: number): Record<string, string> => ({
  'content-encoding': 'aws-chunked',
  'x-amz-decoded-content-length': String(length),
});

const ways: Readonly<Record<string, Way>> = {
  plain: (_, path, bytes, size) => ({
    request: put(path, { 'content-length': String(bytes.length) }),
    payloadHash: unsigned,
    pieces: inPieces(bytes, size),
  }),
  'in HTTP chunks': (_, path, bytes, size) => ({
    request: put(path, { 'transfer-encoding': 'chunked' }),
    payloadHash: unsigned,
    pieces: [chunked(inPieces(bytes, size))],
  }),
  'in frames': (_, path, bytes, size) => {
    const body = chunked(inPieces(bytes, size));
    const headers = { ...framed(bytes.length), 'content-length': String(body.length) };
    return { request: put(path, headers), payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', pieces: [body] };
  },
  'as a form': (service, path, bytes, size) => {
    const [, bucket, key] = path.split('/');
    const conditions = [{ bucket }, ['starts-with', '$key', '']];
    const start = formStart([['key', key!], ...signedV4(service.alice, conditions)]);
    const length = start.length + bytes.length + formEnd.length;
    return {
      request: {
        method: 'POST',
        path: `/${bucket}`,
        headers: { 'content-type': formType, 'content-length': String(length) },
      },
      pieces: [start, ...inPieces(bytes, size), formEnd],
    };
  },
};

async function send(service: ServiceUnderTest, { request, payloadHash, pieces }: Upload): Promise<RawResponse> {
  const connection = await RawConnection.open(service.url);
  try {
    const head =
      payloadHash === undefined
        ? anonymous(service.host, request)
        : signed(service.host, request, { key: service.alice, payloadHash });
    connection.write(requestBytes(head));
    for (const piece of pieces) await connection.sent(piece);
    return await connection.response(request.method);
  } finally {
    connection.close();
  }
}

/** Sends a body whose frames are signed, each after the one before. */
async function sendSigned(service: ServiceUnderTest, path: string, bytes: Buffer, size: number): Promise<RawResponse> {
  const request = put(path, framed(bytes.length));
  const payloadHash = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
  const frames = inPieces(bytes, size);
  // The length of a frame's signature does not depend on its value.
  const { seed: any } = signed(service.host, request, { key: service.alice, payloadHash });
  const length = String(chunkedAndSigned(any, frames).length);
  const head = signed(
    service.host,
    { ...request, headers: { ...request.headers, 'content-length': length } },
    { key: service.alice, payloadHash },
  );
  const connection = await RawConnection.open(service.url);
  try {
    connection.write(requestBytes({ ...head, body: chunkedAndSigned(head.seed, frames) }));
    return await connection.response('PUT');
  } finally {
    connection.close();
  }
}

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

const allWays = [...Object.keys(ways), 'in signed frames', 'as a part'];

/** All lengths; in the short form one, so that each meets every size and every way, though not both at once. */
function lengthsFor(size: number, way: string): readonly number[] {
  return isShort ? [lengths[(pieceSizes.indexOf(size) + allWays.indexOf(way)) % lengths.length]!] : lengths;
}

function uploads(service: ServiceUnderTest): void {
  describe.each(pieceSizes)('in pieces of %i bytes', (size) => {
    it.each(allWays)('is stored as it was sent: %s', async (way) => {
      const bucket = await service.bucket();
      for (const length of lengthsFor(size, way)) {
        const bytes = content.subarray(0, length);
        const path = `/${bucket}/${length}`;
        if (way === 'as a part') {
          const { text } = await service.send({ method: 'POST', path, query: 'uploads' });
          const id = /<UploadId>(.*)<\/UploadId>/.exec(text)![1]!;
          const query = `partNumber=1&uploadId=${id}`;
          const upload = ways['in frames']!(service, path, bytes, size);
          const part = await send(service, { ...upload, request: { ...upload.request, query } });
          expect([length, part.status, part.header('etag')]).toEqual([length, 200, `"${md5(bytes)}"`]);
          const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.header('etag')}</ETag></Part></CompleteMultipartUpload>`;
          expect((await service.send({ method: 'POST', path, query: `uploadId=${id}`, body })).status).toBe(200);
        } else {
          const response =
            way === 'in signed frames'
              ? await sendSigned(service, path, bytes, size)
              : await send(service, ways[way]!(service, path, bytes, size));
          const status = way === 'as a form' ? 204 : 200;
          expect([length, response.status, response.text]).toEqual([length, status, '']);
          expect(response.header('etag')).toBe(`"${md5(bytes)}"`);
        }
        expect((await service.send({ path })).body.equals(bytes)).toBe(true);
      }
    });
  });
}

describe('a body', () => {
  const service = serviceUnderTest();
  uploads(service);
});

describe.runIf(!isExternal)('a body that one of two processes takes', () => {
  const service = serviceUnderTest({ args: ['--workers', '2'] });
  uploads(service);

  it('whose checksum is wrong leaves neither an object nor bytes', async () => {
    const bucket = await service.bucket();
    const blobs = await newBlobs(service);
    const { request, ...rest } = ways['in frames']!(service, `/${bucket}/wrong`, content, 1021);
    const headers = { ...request.headers, 'x-amz-checksum-crc32': 'AAAAAA==' };
    const refused = await send(service, { ...rest, request: { ...request, headers } });
    expect([refused.status, /<Code>(.*?)<\/Code>/.exec(refused.text)?.[1]]).toEqual([400, 'BadDigest']);
    expect((await service.send({ path: request.path })).status).toBe(404);
    await blobs.expectCount(0);
  });
});
