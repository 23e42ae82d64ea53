import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { asService, byOperator } from '../../shared/storage/version-changes/service-authorisation.ts';
import { composeServices } from '../../functions/compose/services.ts';
import type { Projects } from '../../shared/access/identity.ts';
import { BucketPurge } from '../../shared/storage/removal/bucket-purge.ts';
import * as keyParts from '../../shared/storage/table/keys/key-parts.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { Manifests } from '../../shared/storage/objects/manifests.ts';
import { Objects } from '../../shared/storage/objects/objects.ts';
import { ReleaseQueue } from '../../shared/storage/removal/release-queue.ts';
import { Release } from '../../shared/storage/removal/release.ts';
import { Uploads } from '../../shared/storage/uploads/uploads.ts';
import { decodeObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';
import { encodeContent } from '../../shared/storage/versions/stored-values.ts';
import type { Version } from '../../shared/storage/versions/versions.ts';
import type { Attributes, KeyValueTable } from '../../shared/ports/key-value-table.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import type { Services, Settings } from '../../shared/protocol/operation.ts';
import { alarmAdapters } from '../support/storage/fixed-deps.ts';
import { Actor, ActorClock, SeededRandomness, type Spot, type Time } from './actor.ts';
import { MemoryBlobs } from './memory-blobs.ts';
import { ActorTable, DirectTable, feedSpot, ModelTable, type LateWrite } from './model-table.ts';
import { bucketName, eventsOf, perform, uploadKey, type Request } from './requests.ts';
import type { World } from './scheduler.ts';
import { isLinearizable, type SpecState, type SpecVersion } from './specification.ts';
import { Watcher } from './watcher.ts';

/** Removed rules, to show the resulting hole: decorators of ports, and subclasses of repositories. */
export interface Mutation {
  /** Decorates the table of an actor's repositories. */
  readonly table?: (table: KeyValueTable, actor: string) => KeyValueTable;
  /** Decorates the table of the follower that releases bytes. */
  readonly releaseTable?: (table: KeyValueTable) => KeyValueTable;
  readonly services?: (services: Services, adapters: Adapters, actor: string) => Services;
}

export type Adapters = Parameters<typeof composeServices>[0];

/** The initial state, and the requests of the actors. */
export interface Scenario {
  readonly versioning: 'off' | 'on' | 'suspended';
  /** The versions of each key, newest first: `null` or the name of the writer, with `!` after a delete marker. The scenario has no other keys. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  readonly actors: Readonly<Record<string, Request | { readonly do: 'release' }>>;
  /** Whether there is an open upload to the key `k` with one part. */
  readonly upload?: true;
  readonly freeChecks?: true;
  /** Whether the items of a transaction become visible to plain reads one after the other. */
  readonly apart?: true;
  readonly crashes?: number;
  /** The actors that may crash; all by default. */
  readonly mayCrash?: readonly string[];
  /** The number of writes whose answer may be lost. */
  readonly lost?: number;
  /** The number of accesses that the table may throttle. */
  readonly busy?: number;
  /** The number of times that the clock may advance during accesses, and by how many milliseconds. */
  readonly stall?: number;
  readonly stalls?: readonly number[];
  readonly latency?: number;
  /** The milliseconds by which the clocks of actors are wrong. */
  readonly skew?: Readonly<Record<string, number>>;
  readonly mutation?: Mutation;
}

/** The settings of a model's services. */
export const modelSettings: Settings = {
  region: 'here',
  xmlNamespace: '',
  allUsersGroupUri: '',
  limits: { ...defaultLimits, minimumPartBytes: 0 },
  tokenKey: new Uint8Array(32),
};
/** No projects: the scenarios look none up. */
export const noProjects: Projects = {
  project: async () => undefined,
  byEmail: async () => undefined,
  byNumber: async () => undefined,
  account: async (project) => ({ ...project, accountNumber: '123456789012' }),
  principalId: async () => undefined,
};
const minute = 60 * 1000;
const day = 24 * 60 * minute;
const beginning = Date.UTC(2030, 0, 1);

/** The initial state of a scenario, written once by the repositories themselves and copied for every run. */
interface Seed {
  readonly table: ModelTable;
  readonly blobs: MemoryBlobs;
  readonly watcher: Watcher;
  readonly now: number;
  readonly bucketId: string;
  readonly upload: string | undefined;
  readonly states: ReadonlyMap<string, SpecState>;
}

/** Returns a function that creates the same initial state of the scenario each time. */
export async function prepare(scenario: Scenario): Promise<() => World> {
  const seed = await plant(scenario);
  return () => new ScenarioWorld(scenario, seed);
}

async function plant(scenario: Scenario): Promise<Seed> {
  const table = new ModelTable();
  const blobs = new MemoryBlobs();
  const watcher = new Watcher(table, blobs);
  const direct = new DirectTable(table, 'seed');
  const time = { now: beginning };
  table.observe = (changes, by, before) => watcher.look(changes, by, before);
  const services = (name: string): Services => servicesFor(direct, blobs, name, time);
  const seeds = services('seed');
  await seeds.buckets.create(byOperator, bucketName, 'owner', 100);

  const write = async (key: string, version: string, at: number): Promise<void> => {
    const marker = version.endsWith('!');
    const name = version.replace('!', '');
    const isNull = name.startsWith('null');
    direct.by = name;
    const { versioning } = await seeds.buckets.load(bucketName);
    if (!isNull && versioning !== 'on')
      await seeds.buckets.setVersioning(asService(await seeds.buckets.load(bucketName)), 'on');
    if (isNull && versioning === 'on')
      await seeds.buckets.setVersioning(asService(await seeds.buckets.load(bucketName)), 'suspended');
    if (isNull && marker && versioning === 'off')
      await seeds.buckets.setVersioning(asService(await seeds.buckets.load(bucketName)), 'suspended');
    time.now = beginning + 10_000 + at * 1000;
    const request: Request = marker ? { do: 'delete', key } : { do: 'put', key };
    const actor = new Actor(name, true, async () => undefined);
    const answer = await perform(request, actor, { services: services(name), watcher, upload: undefined });
    if (!Array.isArray(answer)) throw new Error(`cannot plant ${version}: ${String(answer)}`);
  };
  for (const [key, versions] of Object.entries(scenario.keys)) {
    for (const [at, version] of versions.toReversed().entries()) await write(key, version, at);
  }
  const { versioning, id: bucketId } = await seeds.buckets.load(bucketName);
  if (versioning !== scenario.versioning) {
    if (scenario.versioning === 'off') throw new Error('a bucket cannot have been versioned and be off');
    await seeds.buckets.setVersioning(asService(await seeds.buckets.load(bucketName)), scenario.versioning);
  }
  const upload = scenario.upload && (await plantUpload(services, watcher));
  time.now = beginning + 60_000;
  const keys = Object.keys(scenario.keys);
  const states = new Map(keys.map((key) => [key, stateOf(table, watcher, key, upload)]));
  return { table, blobs, watcher, now: time.now, bucketId, upload, states };
}

async function plantUpload(services: (name: string) => Services, watcher: Watcher): Promise<string> {
  const { buckets, uploads } = services('upload');
  const bucket = await buckets.load(bucketName);
  const upload = await uploads.create(asService(bucket, uploadKey), {
    ...{ owner: 'upload', initiator: 'upload', contentType: undefined, encryption: undefined, checksum: undefined },
    objectAttributes: { headers: {}, metadata: {}, tags: [] },
  });
  const actor = new Actor('first', true, async () => undefined);
  await perform({ do: 'upload part' }, actor, { services: services('first'), watcher, upload });
  return upload;
}

function servicesFor(table: KeyValueTable, blobs: MemoryBlobs, name: string, time: Time): Services {
  return composeServices(directAdapters(table, blobs, name, time), { projects: noProjects, settings: modelSettings });
}

function directAdapters(table: KeyValueTable, blobs: MemoryBlobs, name: string, time: Time): Adapters {
  const clock = {
    now: () => time.now,
    sleep: async (milliseconds: number) => void (time.now += milliseconds),
  };
  const randomness = new SeededRandomness(name);
  return { table, blobs: blobs.of(name, () => time.now), clock, randomness, managedKey: undefined, ...alarmAdapters };
}

/** The state of one run. */
class ScenarioWorld implements World {
  readonly actors: readonly Actor[];
  readonly table: ModelTable;
  readonly time: Time;
  readonly late: LateWrite[] = [];
  readonly stock: World['stock'];
  readonly stalls: readonly number[];
  readonly latency: number;
  readonly #scenario: Scenario;
  readonly #seed: Seed;
  readonly #blobs: MemoryBlobs;
  readonly #watcher: Watcher;

  constructor(scenario: Scenario, seed: Seed) {
    this.#scenario = scenario;
    this.#seed = seed;
    this.table = new ModelTable(seed.table);
    this.#blobs = new MemoryBlobs(seed.blobs);
    this.#watcher = new Watcher(this.table, this.#blobs, seed.watcher);
    this.table.observe = (changes, by, before) => this.#watcher.look(changes, by, before);
    this.#blobs.watch = (ref) => this.#watcher.release(ref);
    this.time = { now: seed.now };
    const { crashes = 0, lost = 0, busy = 0, stall = 0, stalls = [], latency = Infinity } = scenario;
    this.stock = { crash: crashes, lost, busy, stall };
    this.stalls = stalls;
    this.latency = latency;
    this.actors = Object.entries(scenario.actors).map(([name, request]) => this.#actor(name, request));
  }

  mayCrash = (actor: Actor): boolean => this.#scenario.mayCrash?.includes(actor.name) ?? true;

  rest(): ReturnType<World['rest']> {
    return this.#blobs.hash;
  }

  wrong(): string | undefined {
    return this.#watcher.wrong;
  }

  async check(): Promise<string | undefined> {
    const thrown = this.actors.find(({ result }) => typeof result === 'string' && result.startsWith('threw'));
    if (thrown) return `${thrown.name} ${String(thrown.result)}`;
    return this.#judgeAnswers() ?? (await this.#judgeLeftovers()) ?? (await this.#judgeBytes());
  }

  #judgeAnswers(): string | undefined {
    const keys = Object.keys(this.#scenario.keys);
    for (const key of keys) {
      const events = this.actors
        .filter(({ isClient }) => isClient)
        .flatMap((actor) => {
          const request = this.#scenario.actors[actor.name] as Request;
          return eventsOf(actor, request, key, this.#watcher, keys.length > 1);
        });
      const end = stateOf(this.table, this.#watcher, key, this.#seed.upload);
      if (isLinearizable(events, this.#seed.states.get(key)!, end)) continue;
      const answers = this.actors.map(({ name, result, crashed }) => [name, crashed ? 'crashed' : result]);
      return `not linearizable at ${key}: ${JSON.stringify(answers)} ended in ${JSON.stringify(end)}`;
    }
    return undefined;
  }

  /** Checks that the versions that an aborted request left in a removed bucket are purged with its tombstone. */
  async #judgeLeftovers(): Promise<string | undefined> {
    const id = this.table.truth(itemKey.bucket(bucketName))?.['id'];
    if (id !== this.#seed.bucketId) {
      this.time.now += 11 * minute;
      const adapters = directAdapters(new DirectTable(this.table, 'the bucket purge'), this.#blobs, 'purge', this.time);
      const manifests = new Manifests(adapters);
      const buckets = new Buckets(adapters);
      await new BucketPurge({
        ...adapters,
        objects: new Objects({ ...adapters, buckets, recorder: undefined }),
        uploads: new Uploads({ ...adapters, buckets, manifests }),
      }).sweep();
    }
    for (const { key } of this.table.items()) {
      const object = keyParts.version(key);
      if (object && object.bucketId !== id) return `I8: ${object.key} is left in a bucket that is gone`;
    }
    return undefined;
  }

  /** Delivers the whole feed twice, the second time in reverse order; then every version must have its bytes, and no others may be left. */
  async #judgeBytes(): Promise<string | undefined> {
    const { queue, release } = this.#release(new DirectTable(this.table, 'release'), 'the end');
    const records = [...this.table.log];
    for (const record of [...records, ...records.toReversed()]) await queue.follow([record]);
    for (const later of [0, day, 8 * day]) {
      this.time.now += later;
      await release.sweep();
    }
    const wrong = this.#watcher.wrong ?? this.#watcher.without();
    if (wrong !== undefined || !this.#clean) return wrong;
    const used = new Set([...this.#watcher.living().flatMap(({ blobs }) => blobs), ...this.#partsOfOpenUpload()]);
    const orphan = [...this.#blobs.kept.keys()].find((ref) => !used.has(ref));
    return orphan && `nobody refers to ${orphan}`;
  }

  #partsOfOpenUpload(): readonly string[] {
    const { upload } = this.#seed;
    const items = upload === undefined ? undefined : this.table.partitions.get(`upload/${upload}`);
    if (items?.get('-')?.['state'] !== 'open') return [];
    return [...items.values()].flatMap(({ blob }) => (typeof blob === 'string' ? [blob] : []));
  }

  /** Whether no actor crashed and no answer was lost. */
  get #clean(): boolean {
    return this.stock.crash === (this.#scenario.crashes ?? 0) && this.stock.lost === (this.#scenario.lost ?? 0);
  }

  #actor(name: string, request: Request | { readonly do: 'release' }): Actor {
    const isClient = request.do !== 'release';
    const actor: Actor = new Actor(name, isClient, () =>
      request.do === 'release' ? this.#follower(actor) : this.#client(actor, request),
    );
    return actor;
  }

  #client(actor: Actor, request: Request): Promise<unknown> {
    const adapters = this.#adapters(actor);
    const { mutation } = this.#scenario;
    const given = composeServices(adapters, { projects: noProjects, settings: modelSettings });
    const services = mutation?.services?.(given, adapters, actor.name) ?? given;
    return perform(request, actor, { services, watcher: this.#watcher, upload: this.#seed.upload });
  }

  /** Follows the feed to its end at each read, record by record, and frees released bytes at once. */
  async #follower(actor: Actor): Promise<unknown> {
    const { table } = this.#adapters(actor);
    const { queue, release } = this.#release(table, actor.name);
    let done = 0;
    for (let round = 0; round < 2; round += 1) {
      await table.get(feedSpot);
      const records = this.table.log.slice(done);
      done = this.table.log.length;
      for (const record of records) actor.see(0, record);
      for (const record of records) await queue.follow([record]);
      await release.sweep();
    }
    return 'followed';
  }

  #release(table: KeyValueTable, name: string): { readonly queue: ReleaseQueue; readonly release: Release } {
    const adapters = directAdapters(
      this.#scenario.mutation?.releaseTable?.(table) ?? table,
      this.#blobs,
      name,
      this.time,
    );
    const manifests = new Manifests(adapters);
    const uploads = new Uploads({ ...adapters, buckets: new Buckets(adapters), manifests });
    return {
      // Sequentially: only the scheduler decides what runs concurrently.
      queue: new ReleaseQueue({ ...adapters, uploads, grace: 0, width: 1 }),
      release: new Release({ ...adapters, manifests, uploads, concurrency: { partitions: 1, entries: 1 } }),
    };
  }

  #adapters(actor: Actor): Adapters {
    const { freeChecks = false, apart = false, skew, mutation } = this.#scenario;
    const rules = { freeChecks, apart, quiet };
    const table = new ActorTable(this.table, actor, rules, () => this.time.now, this.late);
    return {
      table: mutation?.table?.(table, actor.name) ?? table,
      blobs: this.#blobs.of(actor.name, () => this.time.now),
      clock: new ActorClock(actor, this.time, skew?.[actor.name] ?? 0),
      randomness: new SeededRandomness(actor.name),
      managedKey: undefined,
      ...alarmAdapters,
    };
  }
}

/** The garbage queue has one user, and items under a new id are unknown to others before the commit that refers to them. */
function quiet({ pk, sk }: Spot): boolean {
  return pk.startsWith('garbage/') || pk.startsWith('details/') || (pk.startsWith('content/m') && sk !== 'refs');
}

/** Returns the state of a key in the table in the terms of the specification. */
function stateOf(table: ModelTable, watcher: Watcher, key: string, upload: string | undefined): SpecState {
  const bucket = table.truth(itemKey.bucket(bucketName));
  if (bucket === undefined) return { versioning: undefined, versions: [] };
  const state = upload !== undefined && key === uploadKey ? uploadState(table, watcher, upload) : undefined;
  const rest = state === undefined ? {} : { upload: state };
  const versions = watcher.chainOf(bucket['id'] as string, key).map((version): SpecVersion => {
    const { instance, named, marker, content } = version;
    const tag = objectAttributesOf(table, version).tags[0]?.[1];
    return { label: watcher.labelOf(instance), named, marker, content: content && encodeContent(content), tag };
  });
  return { versioning: bucket['versioning'] as 'off' | 'on' | 'suspended', versions, ...rest };
}

function objectAttributesOf(
  table: ModelTable,
  { objectAttributes }: Version,
): ReturnType<typeof decodeObjectAttributes> {
  if (!('details' in objectAttributes)) return objectAttributes;
  return decodeObjectAttributes(table.truth(itemKey.details(objectAttributes.details)) ?? {});
}

function uploadState(table: ModelTable, watcher: Watcher, upload: string): SpecState['upload'] {
  const item = table.truth({ pk: `upload/${upload}`, sk: '-' });
  const state = item?.['state'];
  if (state === 'open' || state === 'aborted') return state;
  const version = (item?.['result'] as Attributes | undefined)?.['version'];
  return { completed: version === 'null' ? 'null' : watcher.labelOf(version as string) };
}
