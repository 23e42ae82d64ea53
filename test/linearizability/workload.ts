import { Contents, exchange, uploadParts, type Send, type Sendable } from './exchange.ts';
import { Histories, History } from './history.ts';
import type { Answer, Request } from './objects.ts';
import { Random } from './random.ts';

/** The buckets, with their initial versioning. The versioning of the last one changes during the run. */
const buckets = { plain: 'off', versioned: 'on', suspended: 'suspended' } as const;
type BucketName = keyof typeof buckets;
const groupsOfBucket = 3;
const keysOfGroup = 3;
/** Clients that share a group. */
const clientsOfGroup = 3;

/** Sizes around the thresholds of the blob store: a few bytes, in the table, in a file, and more than a buffer. */
const sizes = [32, 100, 1152, 4096, 40_000, 300 * 1024];
/** The number of versions of a key that an audit leaves. */
const keptVersions = 3;

const weights = {
  ...{ put: 16, 'put if absent': 6, 'put if match': 6, upload: 3, delete: 8, 'delete version': 5 },
  ...{ get: 16, head: 8, range: 6, 'get version': 4, list: 6, 'list versions': 3, copy: 6, rename: 6 },
  ...{ 'set tag': 4, 'get tag': 4, 'set ACL': 3, 'get ACL': 3, 'set versioning': 0.5 },
} as const;

/** How often a client sends each request, compared with others. */
type Weights = Readonly<Record<keyof typeof weights, number>>;

interface Place {
  readonly bucket: BucketName;
  readonly prefix: string;
  readonly history: History;
  /** The version ids of a key that clients learned from answers, and the ETag that they saw last. */
  readonly ids: Map<string, string[]>;
  readonly etags: Map<string, string>;
}

/**
 * Clients that send random requests to nine groups of three keys in three buckets. The seed determines the requests of each client, but not
 * the order in which they are carried out.
 */
export class Workload {
  readonly histories: Histories;
  /** The largest body, in bytes. */
  readonly #sizes: readonly number[];
  readonly #places: readonly Place[];
  readonly #contents = new Contents();
  readonly #seed: number;
  readonly #weights: Weights;
  #turns = 0;

  constructor(seed: number, maxSize = Infinity, more: Partial<Weights> = {}) {
    this.#seed = seed;
    this.#weights = { ...weights, ...more };
    this.#sizes = sizes.filter((size) => size <= maxSize);
    this.#places = (Object.keys(buckets) as BucketName[]).flatMap((bucket) =>
      Array.from({ length: groupsOfBucket }, (_, group) => {
        const prefix = `${group}/`;
        const keys = Array.from({ length: keysOfGroup }, (_key, key) => `${prefix}${key}`);
        const history = new History(`${bucket}/${prefix}`, buckets[bucket], keys);
        return { bucket, prefix, history, ids: new Map(), etags: new Map() };
      }),
    );
    this.histories = new Histories(this.#places.map(({ history }) => history));
  }

  /** Creates the buckets. */
  async prepare(send: Send): Promise<void> {
    for (const [bucket, versioning] of Object.entries(buckets)) {
      const made = [await send({ method: 'PUT', path: `/${bucket}` })];
      if (versioning !== 'off') {
        const status = versioning === 'on' ? 'Enabled' : 'Suspended';
        const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
        made.push(await send({ method: 'PUT', path: `/${bucket}`, query: 'versioning', body }));
      }
      const failed = made.find(({ status }) => status !== 200);
      if (failed) throw new Error(`${bucket} was answered ${failed.status}: ${failed.text}`);
    }
  }

  /**
   * Runs all clients until they are stopped.
   * @param connect makes the connection of a client, and again when it broke
   */
  async run(connect: () => { send: Send; close: () => void }, isStopped: () => boolean): Promise<void> {
    this.#turns += 1;
    const clients = this.#places.flatMap((place, group) =>
      Array.from({ length: clientsOfGroup }, async (_, client) => {
        const random = new Random(this.#seed * 1_000_003 + this.#turns * 1009 + group * clientsOfGroup + client);
        let connection = connect();
        while (!isStopped()) {
          try {
            await this.#step(connection.send, place, random);
          } catch (error) {
            if (!isBroken(error)) throw error;
            connection.close();
            connection = connect();
          }
        }
        connection.close();
      }),
    );
    await Promise.all(clients);
  }

  /** Reads everything while no other request runs, and removes old versions so that few are left. */
  async audit(send: Send): Promise<void> {
    const audits = this.#places.map(async (place) => {
      const { keys } = place.history;
      const shown = await this.#send(send, place, { request: { do: 'list versions' } });
      await this.#send(send, place, { request: { do: 'list' } });
      for (const key of keys) {
        await this.#send(send, place, { request: { do: 'get', via: 'GET', key } });
        await this.#send(send, place, { request: { do: 'get tag', key } });
        await this.#send(send, place, { request: { do: 'get ACL', key } });
        const ids = (shown?.versions?.[key] ?? []).map(([id]) => id);
        for (const version of ids.slice(keptVersions)) {
          await this.#send(send, place, { request: { do: 'delete', key, version } });
        }
        place.ids.set(key, ids.slice(0, keptVersions).toReversed());
      }
    });
    await Promise.all(audits);
  }

  async #step(send: Send, place: Place, random: Random): Promise<void> {
    const sendable = await this.#choose(send, place, random);
    if (sendable) await this.#send(send, place, sendable);
  }

  async #send(send: Send, place: Place, sendable: Sendable): Promise<Answer | undefined> {
    const { request } = sendable;
    const { bucket, prefix } = place;
    const others = this.#places.filter((other) => other.bucket === bucket);
    const groups = (request.do === 'set versioning' ? others : [place]).map(({ history }) => history);
    const answer = await this.histories.record(groups, request, () =>
      exchange(send, bucket, prefix, sendable, this.#contents),
    );
    if (answer !== undefined && answer.status < 300) learn(place, request, answer);
    return answer;
  }

  async #choose(send: Send, place: Place, random: Random): Promise<Sendable | undefined> {
    const { history, ids, etags, bucket } = place;
    const key = random.oneOf(history.keys);
    const known = ids.get(key) ?? [];
    const what = known.length > 5 && random.next() < 0.3 ? 'delete version' : random.weighted(this.#weights);
    const to = random.oneOf(history.keys.filter((other) => other !== key));
    const version = known.length === 0 ? undefined : random.oneOf(known);
    switch (what) {
      case 'put':
      case 'put if absent':
      case 'put if match': {
        const seen = etags.get(key);
        const match = seen === undefined ? {} : { condition: { etag: seen } };
        const condition = { put: {}, 'put if absent': { condition: 'absent' }, 'put if match': match } as const;
        const content = this.#contents.fresh(random.oneOf(this.#sizes));
        const etag = this.#contents.add(content);
        const tag = random.next() < 0.3 ? { tag: `tag-${etag.slice(0, 6)}` } : {};
        const acl = random.next() < 0.2 ? { acl: 'public-read' as const } : {};
        return { request: { do: 'put', via: 'PUT', key, etag, ...tag, ...acl, ...condition[what] }, content };
      }
      case 'upload': {
        const parts = Array.from({ length: 1 + random.below(2) }, () =>
          this.#contents.fresh(random.oneOf(this.#sizes)),
        );
        const made = await uploadParts(send, `/${bucket}/${key}`, parts);
        if (made === undefined) return undefined;
        const etag = this.#contents.add(made.content);
        const condition = random.next() < 0.3 ? { condition: 'absent' as const } : {};
        return { request: { do: 'put', via: 'Complete', key, etag, ...condition }, ...made };
      }
      case 'get':
        return { request: { do: 'get', via: 'GET', key } };
      case 'head':
        return { request: { do: 'get', via: 'HEAD', key } };
      case 'range':
        return { request: { do: 'get', via: 'range', key } };
      case 'get version':
        if (version === undefined) return undefined;
        return { request: { do: 'get', via: random.oneOf(['GET', 'HEAD'] as const), key, version } };
      case 'delete':
        return { request: { do: 'delete', key } };
      case 'delete version':
        if (version === undefined) return undefined;
        ids.set(
          key,
          known.filter((id) => id !== version),
        );
        return { request: { do: 'delete', key, version } };
      case 'copy':
      case 'rename':
        return { request: { do: what, from: key, to } };
      case 'set tag':
        return { request: { do: 'set tag', key, tag: random.oneOf(['', `tag-${random.below(1e6)}`]) } };
      case 'set ACL':
        return { request: { do: 'set ACL', key, acl: random.oneOf(['private', 'public-read'] as const) } };
      case 'get tag':
      case 'get ACL':
        return { request: { do: what, key } };
      case 'list':
      case 'list versions':
        return { request: { do: what } };
      case 'set versioning':
        if (bucket !== 'suspended') return undefined;
        return { request: { do: 'set versioning', to: random.oneOf(['on', 'suspended'] as const) } };
    }
  }
}

function learn({ ids, etags }: Place, request: Request, { id, etag }: Answer): void {
  if (!('key' in request)) return;
  const { key } = request;
  if (request.do === 'put') etags.set(key, request.etag);
  if (etag !== undefined) etags.set(key, etag);
  const known = ids.get(key) ?? [];
  const isGone = request.do === 'delete' && request.version !== undefined;
  if (id !== undefined && !isGone && !known.includes(id)) ids.set(key, [...known, id]);
}

/** Returns true for the error of a request whose connection broke before the response was complete. */
function isBroken(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'HPE_INVALID_EOF_STATE'].includes(code);
}
