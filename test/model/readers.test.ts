import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { composeEmbeddedService, type EmbeddedService, type Stores } from '../../local/server/embedded-service.ts';
import { ephemeralStores } from '../../local/server/data-directory/ephemeral-stores.ts';
import { defaultOptions, type StartOptions } from '../../shared/command-line/start-options.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { Fields, type ResponseMessage } from '../../shared/http/message.ts';
import type { BlobRef } from '../../shared/ports/blob-store.ts';
import { runs } from '../support/runs/runs.ts';
import { alice } from '../support/programs/server.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';

/*
 * Slow readers, copies and uploads on two processes of a service, while everything that they read is deleted, overwritten and released, in
 * random order. The blob store is stricter than a real one: the blob is looked up again every few bytes, so an open file does not help a
 * reader.
 */

const host = 'stillage.test';
const chunk = 7;

/** Delays answers, which may be out of date by then. */
function late(table: Stores['table'], turns: () => number): Stores['table'] {
  const wait = async <Answer>(answer: Answer): Promise<Answer> => {
    for (let left = turns(); left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
    return answer;
  };
  const over: Partial<Stores['table']> = {
    get: (key) => table.get(key).then(wait),
    getTogether: (keys) => table.getTogether(keys).then(wait),
  };
  return overridden(table, over);
}

function overridden<Store extends object>(store: Store, over: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = over[name as keyof Store] ?? Reflect.get(target, name);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** Fails a read as soon as its blob is removed. */
function strict(blobs: Stores['blobs'], told: { removed: number }): Stores['blobs'] {
  const read = async function* (ref: BlobRef, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const some of bytes) {
      for (let at = 0; at < some.length; at += chunk) {
        await blobs.describe(ref);
        yield some.subarray(at, at + chunk);
      }
    }
  };
  const over: Partial<Stores['blobs']> = {
    read: async (ref, size, range) => read(ref, await blobs.read(ref, size, range)),
    remove: async (refs) => {
      told.removed += refs.length;
      await blobs.remove(refs);
    },
  };
  return overridden(blobs, over);
}

/** Reproducible choices from a seed: https://en.wikipedia.org/wiki/Linear_congruential_generator */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns an integer from 0 up to but not including `limit`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}

interface Reading {
  readonly chunks: AsyncIterator<Uint8Array>;
  readonly wanted: Buffer;
  readonly got: Buffer[];
}

class World {
  readonly problems: unknown[] = [];
  readonly told = { removed: 0 };
  readonly #random: Choices;
  readonly #stores: Stores;
  readonly #services: EmbeddedService[] = [];
  /** The contents of all versions ever put. The metadata of a version has its index. */
  readonly #contents: Buffer[] = [];
  #readings: Reading[] = [];
  #uploads: { readonly finish: () => void; readonly answered: Promise<ResponseMessage> }[] = [];
  #working: Promise<void>[] = [];

  constructor(seed: number) {
    this.#random = new Choices(seed);
    const stores = ephemeralStores(new CryptoRandomness());
    const table = late(stores.table, () => (this.#random.below(20) === 0 ? this.#random.below(3000) : 0));
    this.#stores = { ...stores, table, blobs: strict(stores.blobs, this.told) };
  }

  async start(): Promise<void> {
    const telemetry = {
      request: () => undefined,
      problem: (...problem: unknown[]) => void this.problems.push(problem),
      note: () => undefined,
    };
    const deps = { ...this.#stores, clock: new SystemClock(), randomness: new CryptoRandomness(), telemetry };
    const limit = { minimumPartBytes: 1 };
    const options: StartOptions = {
      ...defaultOptions,
      consoleOrigin: [],
      key: alice,
      buckets: ['bucket'],
      ephemeral: true,
      limit,
    };
    const first = await composeEmbeddedService(deps, options);
    const { serviceReaders, refused, mutex, logKeeper } = first.kept;
    const primary = {
      mutex,
      counters: () => first.services,
      rates: () => undefined,
      refused,
      logKeeper,
      logIsWritten: async () => true,
    };
    const second = await composeEmbeddedService({ ...deps, primary }, options);
    serviceReaders.add({
      readers: async () => {
        await sleep(this.#random.below(3));
        const state = second.readers.state();
        await sleep(this.#random.below(3));
        return state;
      },
    });
    this.#services.push(first, second);
  }

  async step(): Promise<void> {
    const kinds = [
      () => this.#put(),
      () => this.#putParts(),
      () => this.#expect({ method: 'DELETE', path: this.#path() }, [204]),
      () => this.#get(),
      () => this.#get(),
      async () => void this.#working.push(this.#get()),
      async () => void this.#working.push(this.#get()),
      () => this.#advance(),
      () => this.#advance(),
      () => this.#advance(),
      () => this.#copy(),
      () => this.#upload(),
      () => this.#finishUpload(),
      () => this.#first.actions['sweep']!(),
      async () => void this.#working.push(this.#first.actions['sweep']!().then(() => undefined)),
      () => sleep(this.#random.below(4)),
    ];
    await kinds[this.#random.below(kinds.length)]!();
  }

  /**
   * Completes all requests.
   * @returns the number of remaining blobs, and of those that versions refer to
   */
  async end(): Promise<{ readonly left: number; readonly used: number }> {
    await Promise.all(this.#working);
    while (this.#readings.length > 0) await this.#advance();
    while (this.#uploads.length > 0) await this.#finishUpload();
    await this.#first.actions['sweep']!();
    await this.#first.actions['sweep']!();
    const blobs: string[] = [];
    for await (const { ref } of this.#stores.blobs.list()) blobs.push(ref);
    const used = new Set<string>();
    for await (const { key, attributes } of this.#stores.table.scan()) {
      if (key.pk.startsWith('head/') && typeof attributes['c'] === 'string') {
        if (attributes['c'].startsWith('b')) used.add(attributes['c'].slice(1));
      }
      if (key.sk.startsWith('s/')) for (const ref of attributes['b'] as readonly string[]) used.add(ref);
    }
    return { left: blobs.length, used: used.size };
  }

  async close(): Promise<void> {
    for (const service of this.#services.toReversed()) await service.abandon();
  }

  get #first(): EmbeddedService {
    return this.#services[0]!;
  }

  #path(): string {
    return `/bucket/key-${this.#random.below(3)}`;
  }

  /** Stores a new content, and returns it with the metadata that identifies it. */
  #content(size: number): { readonly body: Buffer; readonly headers: Record<string, string> } {
    const id = this.#contents.length;
    const body = Buffer.alloc(size, `content ${id}, `);
    this.#contents.push(body);
    return { body, headers: { 'x-amz-meta-id': String(id) } };
  }

  #send(unsigned: Unsigned, body?: AsyncIterable<Uint8Array>): Promise<ResponseMessage> {
    const { method, target, headers, body: bytes } = signed(host, unsigned, { key: alice });
    return this.#services[this.#random.below(2)]!.pipeline.handle({
      ...{ method, target, fields: new Fields(headers), secure: false, remoteAddress: '192.0.2.7' },
      body: body ?? once(Buffer.from(bytes ?? '')),
    });
  }

  async #expect(unsigned: Unsigned, statuses: readonly number[]): Promise<string> {
    const response = await this.#send(unsigned);
    const text = (await bytesOf(response.body)).toString();
    expect(statuses, text).toContain(response.status);
    return response.fields.get('etag') ?? text;
  }

  async #put(): Promise<void> {
    await this.#expect({ method: 'PUT', path: this.#path(), ...this.#content(1 + this.#random.below(100)) }, [200]);
  }

  async #putParts(): Promise<void> {
    const path = this.#path();
    const { body, headers } = this.#content(120);
    const text = await this.#expect({ method: 'POST', path, query: 'uploads=', headers }, [200]);
    const id = /<UploadId>(.*)<\/UploadId>/.exec(text)![1]!;
    const parts: string[] = [];
    for (let number = 1; number <= 4; number += 1) {
      const query = `partNumber=${number}&uploadId=${id}`;
      const part = body.subarray((number - 1) * 30, number * 30);
      const etag = await this.#expect({ method: 'PUT', path, query, body: part }, [200]);
      parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`);
    }
    const document = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    await this.#expect({ method: 'POST', path, query: `uploadId=${id}`, body: document }, [200]);
  }

  async #get(): Promise<void> {
    const first = this.#random.below(40);
    const isRange = this.#random.below(2) === 0;
    const range = isRange ? { range: `bytes=${first}-` } : {};
    const { status, fields, body } = await this.#send({ path: this.#path(), headers: range });
    expect([200, 206, 404, 416]).toContain(status);
    if (status >= 300) return void (await bytesOf(body));
    const whole = this.#contents[Number(fields.get('x-amz-meta-id'))]!;
    const wanted = isRange ? whole.subarray(first) : whole;
    if (typeof body === 'string' || body instanceof Uint8Array) expect(Buffer.from(body)).toEqual(wanted);
    else this.#readings.push({ chunks: body![Symbol.asyncIterator](), wanted, got: [] });
  }

  /** Reads a few chunks or the rest, or aborts the read. */
  async #advance(): Promise<void> {
    const reading = this.#readings[this.#random.below(this.#readings.length)];
    if (reading === undefined) return;
    const finish = (): void => void (this.#readings = this.#readings.filter((one) => one !== reading));
    if (this.#random.below(12) === 0) {
      finish();
      await reading.chunks.return?.();
      return;
    }
    for (let count = 1 + this.#random.below(4); count > 0; count -= 1) {
      const next = await reading.chunks.next();
      if (next.done !== true) reading.got.push(Buffer.from(next.value));
      else {
        finish();
        expect(Buffer.concat(reading.got)).toEqual(reading.wanted);
        return;
      }
    }
  }

  /** Copies the content by reference or by reading it, possibly concurrently with the next steps. */
  async #copy(): Promise<void> {
    const reads = this.#random.below(2) === 0;
    const headers = {
      'x-amz-copy-source': this.#path(),
      ...(reads && { 'x-amz-checksum-algorithm': 'SHA1' }),
      'x-amz-metadata-directive': 'COPY',
    };
    const copying = this.#expect({ method: 'PUT', path: this.#path(), headers }, [200, 404, 400]);
    this.#working.push(copying.then(() => undefined));
    if (this.#random.below(2) === 0) await copying;
  }

  /** Starts an upload whose client is slow. */
  async #upload(): Promise<void> {
    const { body, headers } = this.#content(60);
    let finish = (): void => undefined;
    const rest = new Promise<void>((resolve) => (finish = resolve));
    const slow = async function* (): AsyncGenerator<Uint8Array> {
      yield body.subarray(0, 20);
      await rest;
      yield body.subarray(20);
    };
    const answered = this.#send({ method: 'PUT', path: this.#path(), body, headers }, slow());
    this.#uploads.push({ finish, answered });
  }

  async #finishUpload(): Promise<void> {
    const upload = this.#uploads.shift();
    upload?.finish();
    if (upload) expect((await upload.answered).status).toBe(200);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

async function bytesOf(body: ResponseMessage['body']): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const some of body) chunks.push(some);
  return Buffer.concat(chunks);
}

describe('readers of what is deleted, copied and released meanwhile', () => {
  const seeds = Array.from({ length: runs(20) }, (_, seed) => seed + 1);

  it.each(seeds)('get every byte, and leave none behind (seed %i)', async (seed) => {
    const world = new World(seed);
    await world.start();
    try {
      for (let step = 0; step < 250; step += 1) await world.step();
      const { left, used } = await world.end();
      expect(left).toBe(used);
      expect(world.told.removed).toBeGreaterThan(10);
      expect(world.problems).toEqual([]);
    } finally {
      await world.close();
    }
  });
});
