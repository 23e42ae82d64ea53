import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/*
 * The least a store must do: hash the body, write a file, sync it, answer. No signatures, no metadata, no listings.
 *
 *   node --import tsx test/bench/bare-server.ts <directory>
 */

const folder = process.argv[2]!;
const fileOf = (url: string): string => join(folder, url.split('?', 1)[0]!.replaceAll('/', '_'));

const server = createServer((incoming, answer) => {
  const handle = async (): Promise<void> => {
    const path = fileOf(incoming.url!);
    if (incoming.method === 'PUT') {
      const hash = createHash('md5');
      const file = await open(path, 'w');
      for await (const chunk of incoming as AsyncIterable<Buffer>) {
        hash.update(chunk);
        await file.write(chunk);
      }
      await file.datasync();
      await file.close();
      answer.setHeader('etag', hash.digest('hex')).end();
      return;
    }
    const file = await open(path);
    answer.setHeader('content-length', (await file.stat()).size);
    if (incoming.method === 'HEAD') {
      await file.close();
      answer.end();
    } else {
      file.createReadStream({ highWaterMark: 256 * 1024 }).pipe(answer);
    }
  };
  handle().catch((error: unknown) => answer.destroy(error as Error));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
