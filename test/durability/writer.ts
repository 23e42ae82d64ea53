import { textOf } from '../support/clients/expect-error.ts';
import type { PooledClient, PooledResponse } from '../support/clients/pooled-client.ts';
import { assembled, contentOf, type Attempt, type Content, type Journal } from './journal.ts';

/** Sizes around the thresholds of the blob store: empty, a few bytes, a header's size, one buffer, more than one. */
const sizes = [0, 1, 100, 1152, 4096, 65_536, 262_144 - 1152, 262_144, 300 * 1024];
const keysOfWriter = 12;

let count = 0;

/** One of many clients, which changes objects without a pause until its connection breaks. */
export class Writer {
  readonly #client: PooledClient;
  readonly #bucket: string;
  readonly #name: string;
  readonly #journal: Journal;
  acknowledged = 0;

  constructor(client: PooledClient, bucket: string, name: string, journal: Journal) {
    this.#client = client;
    this.#bucket = bucket;
    this.#name = name;
    this.#journal = journal;
  }

  /** Resolves when the connection breaks. @throws Error if the service answers with an error that it has no reason for */
  async run(): Promise<void> {
    try {
      for (;;) {
        await this.#change();
        this.acknowledged += 1;
      }
    } catch (error) {
      if (!isBroken(error)) throw error;
    }
  }

  async #change(): Promise<void> {
    const dice = Math.random();
    if (dice < 0.6) await this.#put(this.#someKey(), anySize());
    else if (dice < 0.75) await this.#createIfAbsent();
    else if (dice < 0.9) await this.#upload(this.#someKey(), [anySize() + 1, anySize()]);
    else await this.#delete(this.#someKey());
  }

  #someKey(): string {
    return `${this.#name}/${Math.floor(Math.random() * keysOfWriter)}`;
  }

  async #put(key: string, size: number): Promise<void> {
    const content = this.#fresh(size);
    const attempt = this.#journal.attempt(key, content);
    const response = await this.#send('PUT', key, '', content.bytes);
    this.#expect(response, [200], content);
    attempt.acknowledge();
  }

  /** Several writers try to be the first of a key. */
  async #createIfAbsent(): Promise<void> {
    count += 1;
    const key = `claims/${Math.floor(count / 4)}`;
    const content = this.#fresh(100);
    const attempt = this.#journal.attempt(key, content, true);
    const response = await this.#send('PUT', key, '', content.bytes, { 'if-none-match': '*' });
    this.#expect(response, [200, 409, 412], content);
    settle(attempt, response);
  }

  async #upload(key: string, partSizes: readonly number[]): Promise<void> {
    const created = await this.#send('POST', key, 'uploads');
    this.#expect(created, [200]);
    const upload = `uploadId=${textOf(created.text, 'UploadId')}`;
    const parts = partSizes.map((size) => this.#fresh(size));
    let list = '';
    for (const [index, part] of parts.entries()) {
      this.#expect(await this.#send('PUT', key, `partNumber=${index + 1}&${upload}`, part.bytes), [200], part);
      list += `<Part><PartNumber>${index + 1}</PartNumber><ETag>${part.etag}</ETag></Part>`;
    }
    const attempt = this.#journal.attempt(key, assembled(parts));
    const document = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`;
    this.#expect(await this.#send('POST', key, upload, document), [200]);
    attempt.acknowledge();
  }

  async #delete(key: string): Promise<void> {
    const attempt = this.#journal.attempt(key, 'absent');
    this.#expect(await this.#send('DELETE', key), [204]);
    attempt.acknowledge();
  }

  #fresh(size: number): Content {
    count += 1;
    return contentOf(`${this.#name} ${count}`, size);
  }

  #send(
    method: string,
    key: string,
    query = '',
    body: string | Uint8Array = '',
    headers: Record<string, string> = {},
  ): Promise<PooledResponse> {
    return this.#client.send({ method, path: `/${this.#bucket}/${key}`, query, body, headers });
  }

  #expect(response: PooledResponse, statuses: readonly number[], content?: Content): void {
    const { status, headers, text } = response;
    const isRight =
      statuses.includes(status) && (status !== 200 || content === undefined || headers.etag === content.etag);
    if (!isRight) throw new Error(`answered ${status} with the ETag ${headers.etag}: ${text}`);
  }
}

function settle(attempt: Attempt, { status }: PooledResponse): void {
  if (status === 200) attempt.acknowledge();
  else attempt.refuse();
}

function anySize(): number {
  return sizes[Math.floor(Math.random() * sizes.length)]!;
}

function isBroken(error: unknown): boolean {
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'HPE_INVALID_EOF_STATE'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}
