import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../linearizability/random.ts';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import type { PooledClient, PooledResponse } from '../support/clients/pooled-client.ts';
import { queryOf, type Unsigned } from '../support/clients/signer.ts';

const buckets = { plain: 'plain', versioned: 'versioned' } as const;

const KiB = 1024;
const keysOfClient = 30;
/** Most objects are small: in the table, in one file, in several buffers. */
const sizes = { 100: 20, [4 * KiB]: 30, [32 * KiB]: 10, [33 * KiB]: 15, [200 * KiB]: 15, [1536 * KiB]: 10 };
const weights = {
  ...{ put: 26, get: 30, range: 6, head: 6, list: 5, delete: 8, 'delete several': 1, copy: 4, rename: 3 },
  ...{ tag: 3, upload: 2, 'aborted upload': 1, 'put version': 3, 'delete versions': 1.5 },
};
/** After a broken connection, a write may still be on its way to the process that commits. */
const pause = 500;
const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';

/** The totals of all clients of a run. */
export interface Tally {
  requests: number;
  /** Requests whose connection broke because a worker was killed. */
  unanswered: number;
  /** Requests that were answered 503, and sent again. */
  refused: number;
  /** Multipart uploads that were begun. */
  uploads: number;
  /** Answers that no order of the requests explains. */
  readonly faults: string[];
  /** The latencies of the answered requests since the last sample, in milliseconds. */
  latencies: number[];
}

/** An answer other than those that a request may have. */
class Unexpected extends Error {}

/** The bytes of an object, by their MD5; null: there is no object. */
type Content = string | null;

/** A client with keys of its own. It records the possible contents of each: one or, after requests without an answer, several. */
export class SoakClient {
  readonly #name: string;
  readonly #http: PooledClient;
  readonly #random: Random;
  readonly #tally: Tally;
  readonly #objects = new Map<string, readonly Content[]>();
  /** Requests that abort uploads which may be open. */
  readonly #uploads: Unsigned[] = [];

  constructor(name: string, http: PooledClient, random: Random, tally: Tally) {
    this.#name = name;
    this.#http = http;
    this.#random = random;
    this.#tally = tally;
  }

  /** Creates the buckets of all clients. */
  static async prepare(http: PooledClient): Promise<void> {
    const requests: Unsigned[] = [
      ...Object.values(buckets).map((bucket) => ({ method: 'PUT', path: `/${bucket}` })),
      { method: 'PUT', path: `/${buckets.versioned}`, query: 'versioning', body: versioning },
    ];
    for (const request of requests) {
      const { status, text } = await http.send(request);
      if (status !== 200) throw new Error(text);
    }
  }

  /** Sends about a request each interval, in milliseconds, until it is stopped. */
  async run(interval: number, isStopped: () => boolean): Promise<void> {
    let next = performance.now() + this.#random.next() * interval;
    while (!isStopped()) {
      const wait = next - performance.now();
      if (wait > 0) await sleep(wait);
      // After a pause, it does not catch up.
      next = Math.max(next + 2 * this.#random.next() * interval, performance.now() - interval);
      await this.#reporting(() => this.#step(this.#random.weighted(weights)));
    }
  }

  /** Deletes everything of this client. */
  async clear(): Promise<void> {
    for (const key of this.#objects.keys()) await this.#reporting(() => this.#delete(key));
    for (let at = 0; at < keysOfClient; at += 1) await this.#reporting(() => this.#deleteVersions(this.#key(at)));
    await this.#reporting(() => this.#abortUploads());
  }

  async #reporting(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (error instanceof Unexpected) this.#tally.faults.push(error.message);
      else if (!(error instanceof Unanswered)) throw error;
    }
  }

  #step(what: keyof typeof weights): Promise<unknown> {
    const key = this.#someKey();
    switch (what) {
      case 'put':
        return this.#put(key);
      case 'get':
        return this.#get(key);
      case 'range':
        return this.#send({ path: this.#path(key), headers: { range: 'bytes=10-4099' } }, [206, 404, 416]);
      case 'head':
        return this.#send({ method: 'HEAD', path: this.#path(key) }, [200, 404]);
      case 'list':
        return this.#list();
      case 'delete':
        return this.#delete(key);
      case 'delete several':
        return this.#deleteSeveral([key, this.#someKey(), this.#someKey()]);
      case 'copy':
        return this.#copy(key, this.#someKey());
      case 'rename':
        return this.#rename(key, this.#someKey());
      case 'tag':
        return this.#send({ method: 'PUT', path: this.#path(key), query: 'tagging', body: tagging }, [200, 404]);
      case 'upload':
        return this.#upload(key, true);
      case 'aborted upload':
        return this.#upload(key, false);
      case 'put version':
        return this.#send({ method: 'PUT', path: `/${buckets.versioned}/${key}`, body: this.#bytes() }, [200]);
      case 'delete versions':
        return this.#deleteVersions(key);
    }
  }

  #put(key: string): Promise<unknown> {
    const body = this.#bytes();
    return this.#change({ [key]: md5(body) }, { method: 'PUT', path: this.#path(key), body }, [200]);
  }

  async #get(key: string): Promise<void> {
    const { status, body } = await this.#send({ path: this.#path(key) }, [200, 404]);
    const found = status === 200 ? md5(body) : null;
    if (this.#contentsOf(key).includes(found)) return;
    throw new Unexpected(`GET ${key}: ${String(found)} is none of ${this.#contentsOf(key).join(', ')}`);
  }

  async #list(): Promise<void> {
    const { text } = await this.#send(
      { path: `/${buckets.plain}`, query: queryOf({ prefix: `${this.#name}/` }) },
      [200],
    );
    const listed = new Set(textsOf(text, 'Key'));
    for (const [key, contents] of this.#objects) {
      if (contents.length > 1 || listed.has(key) === (contents[0] !== null)) continue;
      throw new Unexpected(`LIST: ${key} is ${listed.has(key) ? '' : 'not '}listed`);
    }
  }

  #delete(key: string): Promise<unknown> {
    return this.#change({ [key]: null }, { method: 'DELETE', path: this.#path(key) }, [204]);
  }

  #deleteSeveral(keys: readonly string[]): Promise<unknown> {
    const gone = Object.fromEntries(keys.map((key) => [key, null]));
    return this.#change(
      gone,
      deletion(
        buckets.plain,
        keys.map((key) => ({ key })),
      ),
      [200],
    );
  }

  async #copy(from: string, to: string): Promise<void> {
    const contents = this.#contentsOf(from);
    if (contents.length > 1 || contents[0] === null || from === to) return;
    const headers = { 'x-amz-copy-source': this.#path(from) };
    await this.#change({ [to]: contents[0]! }, { method: 'PUT', path: this.#path(to), headers }, [200]);
  }

  async #rename(from: string, to: string): Promise<void> {
    const contents = this.#contentsOf(from);
    if (contents.length > 1 || contents[0] === null || from === to) return;
    const headers = { 'x-amz-rename-source': this.#path(from) };
    const request = { method: 'PUT', path: this.#path(to), query: 'renameObject', headers };
    await this.#change({ [from]: null, [to]: contents[0]! }, request, [200]);
  }

  /** @param isCompleted false: it is aborted */
  async #upload(key: string, isCompleted: boolean): Promise<void> {
    const path = this.#path(key);
    const { text } = await this.#send({ method: 'POST', path, query: 'uploads' }, [200]);
    const uploadId = textOf(text, 'UploadId')!;
    this.#tally.uploads += 1;
    this.#uploads.push({ method: 'DELETE', path, query: queryOf({ uploadId }) });
    const parts = [this.#bytes(), this.#bytes()];
    const listed: string[] = [];
    for (const [at, body] of parts.entries()) {
      const query = queryOf({ partNumber: String(at + 1), uploadId });
      const { headers } = await this.#send({ method: 'PUT', path, query, body }, [200]);
      listed.push(`<Part><PartNumber>${at + 1}</PartNumber><ETag>${headers.etag!}</ETag></Part>`);
    }
    if (isCompleted) {
      const body = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
      const request = { method: 'POST', path, query: queryOf({ uploadId }), body };
      await this.#change({ [key]: md5(Buffer.concat(parts)) }, request, [200]);
    }
    await this.#abortUploads();
  }

  /** Aborts the uploads that it has begun, most of which are completed. Others would take up space for ever. */
  async #abortUploads(): Promise<void> {
    for (let upload = this.#uploads[0]; upload !== undefined; upload = this.#uploads[0]) {
      await this.#send(upload, [204, 404]);
      this.#uploads.shift();
    }
  }

  async #deleteVersions(key: string): Promise<void> {
    const { text } = await this.#send(
      { path: `/${buckets.versioned}`, query: `versions&${queryOf({ prefix: key })}` },
      [200],
    );
    const ids = textsOf(text, 'VersionId');
    const versions = textsOf(text, 'Key').map((one, at) => ({ key: one, versionId: ids[at]! }));
    if (versions.length > 0) await this.#send(deletion(buckets.versioned, versions), [200]);
  }

  /** Sends a change. Without an answer, both the previous and the new contents are possible. */
  async #change(
    wanted: Readonly<Record<string, Content>>,
    request: Unsigned,
    statuses: readonly number[],
  ): Promise<void> {
    const keep = (certain: boolean): void => {
      for (const [key, content] of Object.entries(wanted)) {
        this.#objects.set(key, certain ? [content] : [...new Set([...this.#contentsOf(key), content])]);
      }
    };
    try {
      await this.#send(request, statuses);
      keep(true);
    } catch (error) {
      keep(false);
      throw error;
    }
  }

  async #send(request: Unsigned, statuses: readonly number[]): Promise<PooledResponse> {
    const began = performance.now();
    let response: PooledResponse;
    try {
      response = await this.#http.send(request);
    } catch (cause) {
      this.#tally.unanswered += 1;
      await sleep(pause);
      throw new Unanswered(cause);
    }
    this.#tally.requests += 1;
    this.#tally.latencies.push(performance.now() - began);
    const { status, text } = response;
    if (status === 503) {
      this.#tally.refused += 1;
      await sleep(pause);
      throw new Unanswered(text);
    }
    if (statuses.includes(status) && !(status === 200 && text.startsWith('<?xml') && text.includes('<Error>')))
      return response;
    throw new Unexpected(
      `${request.method ?? 'GET'} ${request.path}?${request.query ?? ''}: ${status} ${text.slice(0, 500)}`,
    );
  }

  #contentsOf(key: string): readonly Content[] {
    return this.#objects.get(key) ?? [null];
  }

  #bytes(): Buffer {
    return randomBytes(1 + this.#random.below(Number(this.#random.weighted(sizes))));
  }

  #someKey(): string {
    return this.#key(this.#random.below(keysOfClient));
  }

  #key(at: number): string {
    return `${this.#name}/key-${at}`;
  }

  #path(key: string): string {
    return `/${buckets.plain}/${key}`;
  }
}

/** It is not known whether a request was carried out. */
class Unanswered extends Error {
  constructor(cause: unknown) {
    super('a request had no answer', { cause });
  }
}

const tagging = '<Tagging><TagSet><Tag><Key>name</Key><Value>value</Value></Tag></TagSet></Tagging>';

interface Deleted {
  readonly key: string;
  readonly versionId?: string;
}

function deletion(bucket: string, objects: readonly Deleted[]): Unsigned {
  const listed = objects.map(({ key, versionId }) => {
    const version = versionId === undefined ? '' : `<VersionId>${versionId}</VersionId>`;
    return `<Object><Key>${key}</Key>${version}</Object>`;
  });
  const body = `<Delete><Quiet>true</Quiet>${listed.join('')}</Delete>`;
  return { method: 'POST', path: `/${bucket}`, query: 'delete', body, headers: { 'content-md5': md5Base64(body) } };
}

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

function md5Base64(text: string): string {
  return createHash('md5').update(text).digest('base64');
}
