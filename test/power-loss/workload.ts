import { textOf as elementOf } from '../support/clients/expect-error.ts';
import type { PooledClient, PooledResponse } from '../support/clients/pooled-client.ts';
import { queryOf, type Unsigned } from '../support/clients/signer.ts';
import type { Random } from '../linearizability/random.ts';
import { md5, nothing, type Version, type World } from './world.ts';

/** Sizes around the thresholds of the stores: empty, in the table, the largest in the table, a file, several buffers. */
const sizes: Readonly<Record<number, number>> = { 0: 1, 100: 6, 4096: 3, 32_768: 2, 32_769: 3, 100_000: 3, 600_000: 1 };
const keysOfClient = 4;
const maxVersions = 4;
export const sharedBuckets = ['plain', 'versioned'] as const;

const weights = {
  ...{ put: 30, delete: 8, 'delete several': 3, 'delete version': 5, copy: 8, rename: 6, tag: 5 },
  ...{ 'begin upload': 6, 'upload part': 14, complete: 8, abort: 2, setting: 5, bucket: 3 },
};

/** How often clients send each kind of request, and bodies of each size. */
export interface Mix {
  readonly weights: Readonly<Record<keyof typeof weights, number>>;
  readonly sizes: Readonly<Record<number, number>>;
}

const everything: Mix = { weights, sizes };

const none = Object.fromEntries(Object.keys(weights).map((what) => [what, 0])) as Mix['weights'];

/** Requests that store and free content in several blobs: files, and small ones that are removed in another way. */
export const storingAndFreeing: Mix = {
  weights: { ...none, delete: 10, 'begin upload': 30, 'upload part': 40, complete: 20 },
  sizes: { 100: 1, 32_769: 1 },
};

/** A request, and the possible states after it. */
interface Step {
  readonly request: Unsigned;
  /** The possible states after the request; the last one if it was acknowledged. Only requests that are several changes have more than one. */
  readonly outcomes: readonly [...World[], World];
  /** Reads values from the response that the client needs later. */
  readonly learn?: (response: PooledResponse) => void;
}

/** A request of a client as it went. */
export interface Sent {
  readonly what: string;
  /** Undefined if there was no response. */
  readonly requestId: string | undefined;
  readonly outcomes: readonly World[];
}

/**
 * A client that changes objects, uploads and settings of its own, one request after the other. It records the state after each: all of its
 * acknowledged requests, and perhaps the next one.
 */
export class Client {
  readonly name: string;
  readonly sent: Sent[] = [];
  /** ETags by the MD5 of the bytes: several, if the bytes were uploaded in parts. */
  readonly etags = new Map<string, Set<string>>();
  readonly #http: PooledClient;
  readonly #random: Random;
  readonly #mix: Mix;
  #world: World = nothing;
  /** Version ids of the versioned bucket, in the order of {@link World.objects}. */
  readonly #ids = new Map<string, string[]>();
  readonly #bytes = new Map<string, Buffer>();
  #upload: { readonly place: string; readonly id: string } | undefined;
  #count = 0;

  constructor(name: string, http: PooledClient, random: Random, mix = everything) {
    this.name = name;
    this.#http = http;
    this.#random = random;
    this.#mix = mix;
  }

  /** Sends requests until the connection breaks or it is stopped. @throws Error if one is refused */
  async run(isStopped: () => boolean): Promise<void> {
    while (!isStopped()) {
      const what = this.#random.weighted(this.#mix.weights);
      const step = this.#choose(what);
      if (step === undefined) continue;
      let response: PooledResponse;
      try {
        response = await this.#http.send(step.request);
      } catch {
        this.sent.push({ what, requestId: undefined, outcomes: step.outcomes });
        return;
      }
      const { status, headers, text } = response;
      if (status >= 300 || text.includes('<Error>')) {
        throw new Error(`${what} (${step.request.method} ${step.request.path}) was answered ${status}: ${text}`);
      }
      this.sent.push({ what, requestId: String(headers['x-amz-request-id']), outcomes: step.outcomes });
      this.#world = step.outcomes.at(-1)!;
      step.learn?.(response);
    }
  }

  #choose(what: keyof typeof weights): Step | undefined {
    const { objects, settings, buckets } = this.#world;
    const bucket = this.#random.oneOf(sharedBuckets);
    const place = this.#someKey(bucket);
    const versions = objects[place] ?? [];
    const path = `/${place}`;
    switch (what) {
      case 'put': {
        const bytes = this.#fresh(Number(this.#random.weighted(this.#mix.sizes)));
        const tag = this.#random.next() < 0.2 ? { tag: `t${this.#count}` } : {};
        const headers = tag.tag === undefined ? {} : { 'x-amz-tagging': `name=${tag.tag}` };
        return this.#adding(place, { method: 'PUT', path, headers, body: bytes }, { md5: md5(bytes), ...tag });
      }
      case 'delete': {
        if (bucket === 'versioned') return this.#adding(place, { method: 'DELETE', path }, { md5: null });
        return { request: { method: 'DELETE', path }, outcomes: [this.#with({ [place]: [] })] };
      }
      case 'delete several': {
        const [one, other] = [this.#someKey('plain'), this.#someKey('plain')];
        const keys = [one, other].map((each) => `<Object><Key>${each.slice('plain/'.length)}</Key></Object>`);
        const body = `<Delete>${keys.join('')}</Delete>`;
        const request = { method: 'POST', path: '/plain', query: 'delete', body, headers: checksumOf(body) };
        const gone = [{ [one]: [] }, { [other]: [] }, { [one]: [], [other]: [] }] as const;
        return { request, outcomes: gone.map((keys) => this.#with(keys)) as [World, World, World] };
      }
      case 'delete version': {
        const ids = this.#ids.get(place);
        if (ids === undefined || ids.length === 0) return undefined;
        const at = this.#random.below(ids.length);
        const query = queryOf({ versionId: ids[at]! });
        const learn = (): void => void this.#ids.set(place, ids.toSpliced(at, 1));
        const left = this.#with({ [place]: versions.toSpliced(at, 1) });
        return { request: { method: 'DELETE', path, query }, outcomes: [left], learn };
      }
      case 'copy': {
        const version = currentOf(versions);
        const target = this.#someKey(this.#random.oneOf(sharedBuckets));
        if (version === undefined || target === place) return undefined;
        const request = { method: 'PUT', path: `/${target}`, headers: { 'x-amz-copy-source': path } };
        return this.#adding(target, request, version);
      }
      case 'rename': {
        const [from, to] = [this.#someKey('plain'), this.#someKey('plain')];
        const moved = objects[from] ?? [];
        if (moved.length === 0 || from === to) return undefined;
        const headers = { 'x-amz-rename-source': `/${from}` };
        const request = { method: 'PUT', path: `/${to}`, query: 'renameObject', headers };
        return { request, outcomes: [this.#with({ [from]: [], [to]: moved })] };
      }
      case 'tag': {
        const version = currentOf(versions);
        if (version === undefined) return undefined;
        const tag = `t${(this.#count += 1)}`;
        const body = tagging(tag);
        const tagged = this.#with({ [place]: [{ ...version, tag }, ...versions.slice(1)] });
        return { request: { method: 'PUT', path, query: 'tagging', body }, outcomes: [tagged] };
      }
      case 'begin upload': {
        if (this.#upload !== undefined) return undefined;
        const uploads = { ...this.#world.uploads, [place]: {} };
        const learn = ({ text }: PooledResponse): void => {
          this.#upload = { place, id: elementOf(text, 'UploadId')! };
        };
        const request = { method: 'POST', path, query: 'uploads' };
        return { request, outcomes: [{ ...this.#world, uploads }], learn };
      }
      case 'upload part': {
        const upload = this.#upload;
        if (upload === undefined) return undefined;
        const bytes = this.#fresh(Number(this.#random.weighted(this.#mix.sizes)) + 1);
        const number = 1 + this.#random.below(3);
        const query = queryOf({ partNumber: String(number), uploadId: upload.id });
        const parts = { ...this.#world.uploads[upload.place], [number]: md5(bytes) };
        const uploads = { ...this.#world.uploads, [upload.place]: parts };
        const request = { method: 'PUT', path: `/${upload.place}`, query, body: bytes };
        return { request, outcomes: [{ ...this.#world, uploads }] };
      }
      case 'complete': {
        const upload = this.#upload;
        const parts = Object.entries(this.#world.uploads[upload?.place ?? ''] ?? {});
        if (upload === undefined || parts.length === 0) return undefined;
        const list = parts.map(([n, etag]) => `<Part><PartNumber>${n}</PartNumber><ETag>"${etag}"</ETag></Part>`);
        const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
        const whole = Buffer.concat(parts.map(([, part]) => this.#bytes.get(part)!));
        const digests = parts.map(([, part]) => Buffer.from(part, 'hex'));
        this.#keep(whole, `${md5(Buffer.concat(digests))}-${parts.length}`);
        const request = { method: 'POST', path: `/${upload.place}`, query: queryOf({ uploadId: upload.id }), body };
        const step = this.#adding(upload.place, request, { md5: md5(whole) });
        return this.#withoutUpload(upload.place, step);
      }
      case 'abort': {
        const upload = this.#upload;
        if (upload === undefined) return undefined;
        const query = queryOf({ uploadId: upload.id });
        const request = { method: 'DELETE', path: `/${upload.place}`, query };
        return this.#withoutUpload(upload.place, { request, outcomes: [this.#world] });
      }
      case 'setting': {
        const own = buckets[0];
        if (own === undefined) return undefined;
        const text = `t${(this.#count += 1)}`;
        const change = { ...settings, [`${own}?tagging`]: text };
        const request = { method: 'PUT', path: `/${own}`, query: 'tagging', body: tagging(text) };
        return { request, outcomes: [{ ...this.#world, settings: change }] };
      }
      case 'bucket': {
        const own = `${this.name}-own`;
        if (buckets.length > 0) {
          const request = { method: 'DELETE', path: `/${own}` };
          return { request, outcomes: [{ ...this.#world, buckets: [], settings: {} }] };
        }
        return { request: { method: 'PUT', path: `/${own}` }, outcomes: [{ ...this.#world, buckets: [own] }] };
      }
    }
  }

  /** A request that makes a version the current one, unless there would be too many. */
  #adding(place: string, request: Unsigned, version: Version): Step | undefined {
    if (place.startsWith('plain/')) return { request, outcomes: [this.#with({ [place]: [version] })] };
    const versions = this.#world.objects[place] ?? [];
    if (versions.length >= maxVersions) return undefined;
    const learn = ({ headers }: PooledResponse): void => {
      this.#ids.set(place, [String(headers['x-amz-version-id']), ...(this.#ids.get(place) ?? [])]);
    };
    return { request, outcomes: [this.#with({ [place]: [version, ...versions] })], learn };
  }

  #withoutUpload(place: string, step: Step | undefined): Step | undefined {
    if (step === undefined) return undefined;
    const outcomes = step.outcomes.map((world) => {
      const { [place]: _, ...uploads } = world.uploads;
      return { ...world, uploads };
    }) as [World];
    const learn = (response: PooledResponse): void => {
      this.#upload = undefined;
      step.learn?.(response);
    };
    return { request: step.request, outcomes, learn };
  }

  #with(objects: World['objects']): World {
    return { ...this.#world, objects: { ...this.#world.objects, ...objects } };
  }

  #someKey(bucket: string): string {
    return `${bucket}/${this.name}/${this.#random.below(keysOfClient)}`;
  }

  /** Unique bytes, unless there are none. */
  #fresh(size: number): Buffer {
    const bytes = Buffer.alloc(size, `${this.name} ${(this.#count += 1)} `);
    this.#keep(bytes, md5(bytes));
    return bytes;
  }

  #keep(bytes: Buffer, etag: string): void {
    const name = md5(bytes);
    this.#bytes.set(name, bytes);
    this.etags.set(name, (this.etags.get(name) ?? new Set()).add(etag));
  }
}

/** Returns the current version, unless it is a delete marker. */
function currentOf([newest]: readonly Version[]): Version | undefined {
  return newest === undefined || newest.md5 === null ? undefined : newest;
}

function tagging(tag: string): string {
  return `<Tagging><TagSet><Tag><Key>name</Key><Value>${tag}</Value></Tag></TagSet></Tagging>`;
}

function checksumOf(body: string): Record<string, string> {
  return { 'content-md5': Buffer.from(md5(Buffer.from(body)), 'hex').toString('base64') };
}
