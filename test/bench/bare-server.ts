import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, promises as files } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/*
 * The least a store must do: hash the body as S3 does (MD5 and SHA-256), write a file, respond. No signatures, no metadata, no listings,
 * and no sync: a crash may lose what was answered.
 *
 *   node --import tsx test/bench/bare-server.ts <directory>
 */

const folder = process.argv[2]!;
const fileOf = (url: string): string => join(folder, url.split('?', 1)[0]!.replaceAll('/', '_'));
/** Files up to this size are read and written in one go. */
const shortFile = 64 * 1024;
const chunkSize = 2 ** 20;
let uploads = 0;

async function put(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  const temporary = join(folder, `upload-${(uploads += 1)}`);
  const hash = (chunk: Buffer): void => {
    md5.update(chunk);
    sha256.update(chunk);
  };
  if (Number(incoming.headers['content-length']) <= shortFile) {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    hash(bytes);
    await files.writeFile(temporary, bytes);
  } else {
    incoming.on('data', hash);
    await pipeline(incoming, createWriteStream(temporary, { highWaterMark: chunkSize }));
  }
  sha256.digest();
  await files.rename(temporary, fileOf(incoming.url!));
  answer.writeHead(200, { etag: `"${md5.digest('hex')}"`, 'content-length': 0 }).end();
}

async function get(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const file = await files.open(fileOf(incoming.url!));
  const { size } = await file.stat();
  if (size > shortFile) {
    answer.writeHead(200, { 'content-length': size });
    await pipeline(createReadStream('', { fd: file, highWaterMark: chunkSize }), answer);
    return;
  }
  const { buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
  await file.close();
  answer.writeHead(200, { 'content-length': size }).end(buffer);
}

async function head(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { size } = await files.stat(fileOf(incoming.url!));
  answer.writeHead(200, { 'content-length': size }).end();
}

async function remove(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
  await files.unlink(fileOf(incoming.url!));
  answer.writeHead(204).end();
}

const operations: Readonly<Record<string, typeof put>> = { PUT: put, GET: get, HEAD: head, DELETE: remove };

const server = createServer((incoming, answer) => {
  operations[incoming.method!]!(incoming, answer).catch((error: unknown) => answer.destroy(error as Error));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
