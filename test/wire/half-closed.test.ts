import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { schemeOptions } from '../support/clients/certificates.ts';
import { expectError } from '../support/clients/expect-error.ts';
import { exchange, RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';

/**
 * Clients that say that they will send nothing more (`shutdown(SHUT_WR)`, `nc -N`), and wait for their answers. Of two processes, the
 * worker serves them: the primary has another connection.
 */
const deployments = ['http', 'https'].flatMap((scheme) => ['1', '2'].map((workers) => [scheme, workers] as const));

const small = Buffer.from('content');
/** More than the buffers of two sockets hold. */
const large = randomBytes(4 * 1024 * 1024);

describe.each(deployments)(
  'a client over %s that sends nothing more, to a service of %s processes,',
  (scheme, workers) => {
    let folder: string;
    let authority: string | undefined;
    let service: Service;
    const open: RawConnection[] = [];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'stillage-half-closed-'));
      const options = await schemeOptions(scheme, folder);
      authority = options.authority;
      service = await startService({ args: ['--workers', workers, ...options.tls] });
      for (const request of [
        { path: '/bucket' },
        { path: '/bucket/small', body: small },
        { path: '/bucket/large', body: large },
      ]) {
        expect((await send({ method: 'PUT', ...request })).status).toBe(200);
      }
    });
    afterEach(() => open.splice(0).forEach((connection) => connection.close()));
    afterAll(async () => {
      expect(await service.stop()).toBe(0);
      expect(service.output.stdout).not.toContain('"level":"error"');
      await rm(folder, { recursive: true });
    });

    const bytesOf = (request: Unsigned): Buffer =>
      requestBytes(signed(new URL(service.url).host, request, { key: alice }));
    const send = (request: Unsigned): Promise<RawResponse> =>
      exchange(service.url, signed(new URL(service.url).host, request, { key: alice }), authority);

    async function connect(): Promise<RawConnection> {
      const connection = await RawConnection.open(service.url, authority);
      open.push(connection);
      return connection;
    }

    /** Sends bytes at once with the end, and returns the connection. */
    async function sendAll(...bytes: readonly Uint8Array[]): Promise<RawConnection> {
      if (workers === '2') {
        const other = await connect();
        other.write(bytesOf({ path: '/bucket/small' }));
        await other.response();
      }
      const connection = await connect();
      connection.write(Buffer.concat(bytes));
      connection.end();
      return connection;
    }

    it.each([
      ['GetObject of a small object', { path: '/bucket/small' }, small],
      ['GetObject of a large object', { path: '/bucket/large' }, large],
      ['HeadObject', { method: 'HEAD', path: '/bucket/large' }, Buffer.alloc(0)],
      ['PutObject of a small object', { method: 'PUT', path: '/bucket/put', body: small }, Buffer.alloc(0)],
      ['PutObject of a large object', { method: 'PUT', path: '/bucket/put', body: large }, Buffer.alloc(0)],
      ['ListObjectsV2', { path: '/bucket', query: 'list-type=2&prefix=put' }, undefined],
      [
        'CopyObject',
        { method: 'PUT', path: '/bucket/put', headers: { 'x-amz-copy-source': '/bucket/large' } },
        undefined,
      ],
    ] as const)('is answered: %s', async (_, request: Unsigned, body) => {
      const connection = await sendAll(bytesOf(request));
      const response = await connection.response(request.method);
      expect(response.status, response.text).toBe(200);
      if (body !== undefined) expect(response.body.equals(body)).toBe(true);
      expect(await connection.closedWithin(10_000)).toBe(true);
      if (request.body !== undefined) {
        const { body: stored } = await send({ path: request.path });
        expect(stored.equals(Buffer.from(request.body))).toBe(true);
      }
    });

    it('is answered all that it has asked for, in order', async () => {
      const paths = ['/bucket/large', '/bucket/absent', '/bucket/small'];
      const connection = await sendAll(...paths.map((path) => bytesOf({ path })));
      const responses: RawResponse[] = [];
      while (responses.length < paths.length) responses.push(await connection.response());
      expect(responses.map(({ status }) => status)).toEqual([200, 404, 200]);
      expect(responses[0]!.body.equals(large)).toBe(true);
      expect(responses[2]!.body.equals(small)).toBe(true);
      expect(await connection.closedWithin(10_000)).toBe(true);
    });

    it.each([
      ['of a small body', small, {}],
      ['of a large body', large, {}],
      ['of a body that it was asked for', small, { expect: '100-continue' }],
      ['of a body without a length', small, { 'transfer-encoding': 'chunked' }],
    ])('has not sent an object, if the end %s is missing', async (_, body, headers) => {
      const isChunked = 'transfer-encoding' in headers;
      const bytes = bytesOf({ method: 'PUT', path: '/bucket/incomplete', headers, ...(isChunked ? {} : { body }) });
      const chunk = Buffer.from(`${body.length.toString(16)}\r\n${body.toString('latin1')}\r\n`, 'latin1');
      const connection = await sendAll(...(isChunked ? [bytes, chunk] : [bytes.subarray(0, -1)]));
      expectError(await connection.response('PUT'), 400, 'IncompleteBody');
      expect(await connection.closedWithin(10_000)).toBe(true);
      expectError(await send({ path: '/bucket/incomplete' }), 404, 'NoSuchKey');
    });

    it('is told if it did not finish the head of a request', async () => {
      const connection = await sendAll(bytesOf({ path: '/bucket/small' }).subarray(0, -2));
      expectError(await connection.response(), 400, 'IncompleteBody');
      expect(await connection.closedWithin(10_000)).toBe(true);
    });

    it('is not waited for if it has asked for nothing', async () => {
      const connection = await sendAll();
      expect(await connection.closedWithin(10_000)).toBe(true);
    });
  },
);
