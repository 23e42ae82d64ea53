import { createHash } from 'node:crypto';
import { operations } from '../../functions/operations.ts';
import { composeServices } from '../../functions/compose/services.ts';
import { accountKey } from '../../shared/storage/table/keys/account-keys.ts';
import { Accounts } from '../../shared/accounts/accounts.ts';
import type { Acl } from '../../shared/access/acl.ts';
import { accountNumber } from '../../shared/accounts/account-numbers.ts';
import { EventQueue } from '../../shared/events/event-queue.ts';
import { EventTargets } from '../../shared/events/event-targets.ts';
import { WebhookTargets } from '../../shared/events/webhook-targets.ts';
import type { Bucket } from '../../shared/storage/buckets/bucket.ts';
import { eventKey } from '../../shared/storage/table/keys/event-keys.ts';
import { timedId } from '../../shared/storage/table/keys/ids.ts';
import { loadDigest } from '../../shared/checksums/running-digest.ts';
import { Fields } from '../../shared/http/message.ts';
import { asService, byOperator } from '../../shared/storage/version-changes/service-authorisation.ts';
import { noObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';
import type { CurrentVersion } from '../../shared/storage/versions/versions.ts';
import type { Attributes, Change, ItemKey, KeyValueTable } from '../../shared/ports/key-value-table.ts';
import { aclDocument, grantsOf } from '../../shared/protocol/acls/acl-document.ts';
import { policyDocument } from '../../shared/protocol/authorisation/bucket-policy.ts';
import type { Services } from '../../shared/protocol/operation.ts';
import { Pipeline } from '../../shared/protocol/pipeline.ts';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import { alarmAdapters, openSecrets } from '../support/storage/fixed-deps.ts';
import { signed } from '../support/clients/signer.ts';
import { Actor, ActorClock, SeededRandomness, type Time } from './actor.ts';
import { canonical, type Hash } from './fingerprint.ts';
import { dataOperations, type Planted, type Sample } from './hostile-requests.ts';
import { MemoryBlobs } from './memory-blobs.ts';
import { ActorTable, DirectTable, feedSpot, ModelTable, type LateWrite, type TableRules } from './model-table.ts';
import { modelSettings } from './scenario.ts';
import type { World } from './scheduler.ts';

/**
 * The source of alt's permissions for the bucket `photos` and its objects. owner: the bucket is alt's. granted: main's, with ACLs that
 * grant alt everything. allowed: main's, and its policy allows alt everything. object: main's, alt may list it, and the object's ACL grants
 * alt everything. lister: main's, and alt may list it.
 */
type Setting = 'owner' | 'granted' | 'allowed' | 'object' | 'lister';

/** A concurrent change by main, after which certain requests of alt must fail. */
export interface Meddling {
  readonly setting: Setting;
  readonly versioned?: true;
  /** Set if the bucket has object lock. */
  readonly locks?: true;
  /** The loss: the name of the bucket, alt's permissions, the version, the upload, or the possibility to remove the versions. */
  readonly takes: 'name' | 'rights' | 'version' | 'upload' | 'removal';
  /** Set if the change is to an account. */
  readonly accounts?: true;
  /** Set if alt's requests are those of a role. */
  readonly byRole?: true;
  /** The key of alt's requests, instead of `k`. */
  readonly key?: string;
  readonly act: (world: Meddler) => Promise<unknown>;
}

/** What is not about the bucket. */
const ofAccounts: ReadonlySet<OperationName> = new Set([
  ...(['CreateBucket', 'Iam', 'Sts'] as const),
  ...(['PutWebhook', 'DeleteWebhook', 'RotateWebhookSecret'] as const),
]);

/** The services for a concurrent change: without a scheduler, and without authorisation. */
export interface Meddler extends Services {
  readonly table: KeyValueTable;
  readonly planted: Planted;
  /** Puts a private object owned by main. */
  readonly putPrivate: (key: string) => Promise<unknown>;
}

export interface HostileScenario {
  readonly operation: OperationName;
  readonly sample: Sample;
  readonly meddling: Meddling;
  readonly freeChecks: boolean;
}

const hour = 60 * 60 * 1000;
const beginning = Date.UTC(2030, 0, 1);
/** The milliseconds for which a body is held back: less than the image of a bucket may be used, or more than an access key may be cached. */
const heldFor = { briefly: 500, long: 3000 } as const;
const host = 'stillage.test';
const keyOfAlt = { accessKeyId: 'KEYOFALT', secretAccessKey: 'secret of alt' };
const roleOfAlt = { project: 'alt', name: 'role', id: 'id-of-role' };
const partBytes = 'part of alt';
const secret = 'secret of main';

const fullControl = (project: string): Acl[number] => ({ grantee: { project }, permission: 'FULL_CONTROL' });
const read = (project: string): Acl[number] => ({ grantee: { project }, permission: 'READ' });

function policyOf(effect: 'Allow' | 'Deny'): Attributes {
  const Resource = ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*', 'arn:aws:s3:::empty'];
  const Statement = [{ Effect: effect, Principal: { AWS: 'alt' }, Action: 's3:*', Resource: Resource.slice(0, 2) }];
  return policyDocument(
    JSON.stringify({ Version: '2012-10-17', Statement }),
    new Map([['alt', { project: 'alt' }]]),
    false,
  );
}

interface Seed {
  readonly table: ModelTable;
  readonly blobs: MemoryBlobs;
  readonly planted: Planted;
  readonly now: number;
}

/** Returns a function that creates the same initial state of a scenario each time. */
export async function prepareHostile(scenario: HostileScenario): Promise<() => HostileWorld> {
  const { setting, versioned } = scenario.meddling;
  const locks = scenario.meddling.locks ?? locking.has(scenario.operation);
  const name = `${setting} ${versioned === true} ${locks}`;
  const seed = seeds.get(name) ?? plant(scenario.meddling, locks);
  seeds.set(name, seed);
  const planted = await seed;
  return () => new HostileWorld(scenario, planted);
}

/** The initial states of scenarios, which are copied. */
const seeds = new Map<string, Promise<Seed>>();

/** The operations that need a bucket with object lock. Its versioning cannot be suspended, as another operation does. */
const locking: ReadonlySet<OperationName> = new Set(['PutObjectRetention', 'PutObjectLegalHold']);

async function plant({ setting, versioned }: Meddling, locks: boolean): Promise<Seed> {
  // Compiled now, since the scheduler waits only for the table and the clock.
  await loadDigest('CRC64NVME');
  const table = new ModelTable();
  const blobs = new MemoryBlobs();
  const time = { now: beginning };
  const direct = new DirectTable(table, 'seed');
  const { services, accounts } = compose(direct, blobs, 'seed', directClock(time), time);
  for (const [id, key] of [
    ['main', undefined],
    ['alt', keyOfAlt],
  ] as const) {
    const users = [{ name: 'user', keys: key ? [key] : [] }];
    await accounts.ensure({ project: `${id}@customer-of-${id}`, id, displayName: id, users });
  }
  await direct.write([
    {
      key: accountKey.role('alt', roleOfAlt.name),
      put: { id: roleOfAlt.id, created: beginning, attached: ['aws/FullAccess'], inline: {}, r: 'planted' },
    },
  ]);
  const session = await services.sessions.begin({
    kind: 'role',
    role: roleOfAlt,
    name: 'session',
    issued: beginning,
    expires: beginning + 24 * hour,
  });
  const owner = setting === 'owner' ? 'alt' : 'main';
  const { buckets, objects, monitoring, publicLinks } = services;
  await buckets.create(byOperator, 'own', 'alt', 10);
  await buckets.create(byOperator, 'empty', owner, 10);
  await buckets.create(byOperator, 'photos', owner, 10);
  const load = async () => asService(await buckets.load('photos'));
  await buckets.documents.set(await load(), 'cors', { rules: [] });
  await buckets.documents.set(await load(), 'website', { index: 'index.html' });
  await buckets.documents.set(await load(), 'lifecycle', { rules: [], minimumSize: 'all_storage_classes_128K' });
  await buckets.documents.set(await load(), 'tagging', { tags: [['a', 'b']] });
  if (setting === 'granted') {
    await buckets.documents.set(await load(), 'acl', aclDocument([fullControl('main'), fullControl('alt')]));
  }
  if (setting === 'allowed') await buckets.documents.set(await load(), 'policy', policyOf('Allow'));
  if (setting === 'owner') await buckets.documents.set(await load(), 'policy', policyOf('Allow'));
  if (setting === 'object' || setting === 'lister') {
    await buckets.documents.set(await load(), 'acl', aclDocument([fullControl('main'), read('alt')]));
  }
  const acl =
    setting === 'granted' || setting === 'object' ? [fullControl(owner), fullControl('alt')] : [fullControl(owner)];
  for (const key of ['j', 'k', 'hidden']) await putObject(services, key, owner, 'old', acl);
  let marker: CurrentVersion | undefined;
  if (versioned) {
    await buckets.setVersioning(await load(), 'on');
    if (locks) await buckets.setObjectLock(await load(), {});
    const authorisation = asService(await buckets.load('photos'), 'hidden');
    marker = (await objects.remove({ by: 'request', authorisation, owner })).currentVersion;
  }
  await monitoring.buckets.turn(await load(), 'on');
  const bucket = await buckets.load('photos');
  await monitoring.alarms.put(
    asService(bucket),
    'old',
    {
      ...{ description: '', metric: 'NumberOfObjects', statistic: 'Maximum', comparison: 'GreaterThanThreshold' },
      ...{ threshold: 1, period: 300, evaluationPeriods: 1, datapointsToAlarm: 1, treatMissingData: 'missing' },
      ...{ actionsEnabled: false, actions: { OK: [], ALARM: [], INSUFFICIENT_DATA: [] } },
    } as never,
    10,
  );
  await plantEvents(services, direct, bucket);
  const version = await objects.find(bucket, 'k');
  const { link } = await publicLinks.create(asService(bucket, 'k'), version!, 24 * hour);
  // The initiator may abort an upload whatever ACLs and policies say.
  const initiator = setting === 'granted' || setting === 'allowed' ? 'main' : 'alt';
  const upload = await plantUpload(services, blobs, initiator);
  time.now += hour;
  const partEtag = createHash('md5').update(partBytes).digest('hex');
  return {
    ...{ table, blobs, now: time.now },
    planted: { owner, upload, partEtag, link: link.id, marker: marker?.instance, session },
  };
}

/** Plants a webhook of alt, which has an account number, and one of the bucket's owner, with an event that was given up. */
async function plantEvents({ eventTargets }: Services, table: KeyValueTable, { id, project }: Bucket): Promise<void> {
  await accountNumber(table, 'alt');
  const definition = { url: 'https://hooks.example/', batch: 1, format: 's3' } as const;
  for (const of of new Set(['alt', project])) await eventTargets!.webhooks.add(of, 'old', definition, 10);
  const letter = { webhook: 'old', subject: `${id}/k`, record: '{}', reason: 'the host answered 500' };
  await table.write([
    { key: eventKey.deadLetter(project, timedId(beginning, new SeededRandomness('letter'))), put: letter },
  ]);
}

async function plantUpload({ buckets, uploads }: Services, blobs: MemoryBlobs, initiator: string): Promise<string> {
  const bucket = await buckets.load('photos');
  const authorisation = asService(bucket, 'k');
  const id = await uploads.create(authorisation, {
    ...{ owner: initiator, initiator, contentType: undefined, encryption: undefined, checksum: undefined },
    objectAttributes: noObjectAttributes,
  });
  const owned = { bucketId: bucket.id, key: 'k' };
  const { ref } = await blobs.of('part', () => beginning).write(bytesOf(partBytes), owned);
  const md5 = createHash('md5').update(partBytes).digest();
  const upload = await uploads.findOpen(bucket, 'k', id);
  await uploads.addPart(authorisation, upload, {
    number: 1,
    size: partBytes.length,
    md5,
    checksum: undefined,
    blob: ref,
  });
  return id;
}

async function putObject(
  services: Services,
  key: string,
  owner: string,
  text: string,
  acl: Acl,
): Promise<CurrentVersion> {
  const { buckets, objects, blobs } = services;
  const bucket = await buckets.load('photos');
  const { ref, size } = await blobs.write(bytesOf(text), { bucketId: bucket.id, key });
  return objects.put(asService(bucket, key), {
    ...{ marker: false, size, md5: createHash('md5').update(text).digest(), owner },
    ...{ content: { kind: 'blob', ref }, contentType: undefined, checksum: undefined, encryption: undefined },
    objectAttributes: { ...noObjectAttributes, ...grantsOf(acl, owner) },
  });
}

function directClock(time: Time) {
  return { now: () => time.now, sleep: async (milliseconds: number) => void (time.now += milliseconds) };
}

function compose(table: KeyValueTable, blobs: MemoryBlobs, name: string, clock: Services['clock'], time: Time) {
  const accounts = new Accounts({ table, secrets: openSecrets, clock });
  const adapters = {
    ...{ table, clock, randomness: new SeededRandomness(name), managedKey: undefined, ...alarmAdapters },
    blobs: blobs.of(name, () => time.now),
  };
  const caller = {
    call: async () => ({ outcome: 'answered', status: 204 }) as const,
    refusal: async () => undefined,
  };
  const eventTargets = new EventTargets({
    webhooks: new WebhookTargets(adapters),
    queue: new EventQueue(adapters),
    caller,
  });
  return {
    accounts,
    services: composeServices(adapters, {
      ...{ projects: accounts, settings: modelSettings, deliversAccessLogs: true },
      eventTargets,
    }),
  };
}

/** The table of alt's request. Records the last image that it read of each item. */
class WatchedTable extends ActorTable {
  readonly lastSeen = new Map<string, { readonly item: string; readonly afterBody: boolean; readonly at: number }>();
  /** The images of each item that were read after the body had arrived. */
  readonly seenSince = new Map<string, Set<string>>();
  isBodyThere = false;
  #looks = 0;

  override async get(key: ItemKey): Promise<Attributes | undefined> {
    const item = await super.get(key);
    const name = nameOf(key);
    const image = canonical(item);
    this.lastSeen.set(name, { item: image, afterBody: this.isBodyThere, at: (this.#looks += 1) });
    if (this.isBodyThere) this.seenSince.set(name, (this.seenSince.get(name) ?? new Set()).add(image));
    return item;
  }
}

/** A held request by alt, which may continue at any moment, and a concurrent change by main that revokes what it was authorised on. */
class HostileWorld implements World {
  readonly actors: readonly Actor[];
  readonly table: ModelTable;
  readonly time: Time;
  readonly late: LateWrite[] = [];
  readonly stock = { crash: 0, lost: 0, busy: 0, stall: 0 };
  readonly stalls: readonly number[] = [];
  readonly latency = Infinity;
  readonly inOrder = true;
  /** The status of every response to alt. */
  readonly answers = new Set<number>();
  readonly mayCrash = (): boolean => false;
  readonly #scenario: HostileScenario;
  readonly #planted: Planted;
  readonly #blobs: MemoryBlobs;
  readonly #watched: WatchedTable;
  /** The images of the changed items before main's change; undefined until it happens. */
  #taken: Map<string, string> | undefined;
  #newBucket: string | undefined;
  #wasHeld = false;
  #wrong: string | undefined;

  constructor(scenario: HostileScenario, seed: Seed) {
    this.#scenario = scenario;
    this.#planted = seed.planted;
    this.table = new ModelTable(seed.table);
    this.#blobs = new MemoryBlobs(seed.blobs);
    this.time = { now: seed.now };
    // The time of reading an account is irrelevant if no account changes.
    const quiet: TableRules['quiet'] = ({ pk }) =>
      scenario.meddling.accounts === undefined && /^(key|account|customer)\//.test(pk);
    const rules: TableRules = { freeChecks: scenario.freeChecks, apart: false, quiet };
    const alt: Actor = new Actor('alt', true, () => this.#request(alt));
    const main: Actor = new Actor('main', false, () => this.#meddle(main, rules));
    this.#watched = new WatchedTable(this.table, alt, rules, () => this.time.now, this.late);
    this.actors = [alt, main];
    const before = new Map<string, string>();
    this.table.observe = (changes, by, was) => {
      if (by === 'main') {
        for (const { key } of changes) if (!before.has(nameOf(key))) before.set(nameOf(key), canonical(was(key)));
        this.#taken = before;
      }
      if (by === 'alt') this.#judge(changes, was);
    };
  }

  rest(): Hash {
    return this.#blobs.hash;
  }

  wrong(): string | undefined {
    return this.#wrong;
  }

  async check(): Promise<string | undefined> {
    const { operation, meddling, freeChecks } = this.#scenario;
    const [alt] = this.actors;
    if (this.#wrong !== undefined) return this.#wrong;
    const leaked = [...this.#blobs.kept].find(
      ([ref, { bytes }]) => ref.startsWith('bytes-of-alt') && Buffer.from(bytes).toString() === secret,
    );
    if (leaked) return 'alt has a copy of what main keeps private';
    const isRefused = (alt!.result as number) >= 400 && (alt!.result as number) < 500;
    // Where a commit is not exact, data may still be written to a bucket that was just removed; it is removed with the bucket.
    const mustFail =
      meddling.takes === 'name'
        ? !ofAccounts.has(operation) && (freeChecks || !dataOperations.has(operation))
        : meddling.takes === 'rights' && this.#mustKeepRights;
    if (this.#wasHeld && mustFail && !isRefused) {
      return `${operation} answers ${String(alt!.result)} though what it was authorised on was gone before its body came`;
    }
    return undefined;
  }

  /** Whether lost permissions matter at the commit: they do not for data, and permissions for a bucket do not for the creation of another. */
  get #mustKeepRights(): boolean {
    const { operation, meddling } = this.#scenario;
    return !dataOperations.has(operation) && (!ofAccounts.has(operation) || meddling.accounts === true);
  }

  async #request(actor: Actor): Promise<unknown> {
    const clock = new ActorClock(actor, this.time, 0);
    const { services, accounts } = compose(this.#watched, this.#blobs, 'alt', clock, this.time);
    const pipeline = new Pipeline({
      services,
      operations,
      accessKeys: accounts,
      telemetry: { request: () => undefined, problem: () => undefined, note: () => undefined },
      hostNames: { domain: host, websiteDomain: `website.${host}` },
      signing: {},
      consoleOrigins: new Set(),
      requestId: () => 'tx',
      hostId: 'host',
    });
    const { sample, meddling } = this.#scenario;
    const asked = sample(this.#planted);
    const { key = 'k' } = meddling;
    const text = (value: string): string =>
      value.replaceAll('/photos/k', `/photos/${key}`).replaceAll('<Key>k<', `<Key>${key}<`);
    const body = text((asked.body as string | undefined) ?? ' ');
    const headers = Object.fromEntries(
      Object.entries(asked.headers ?? {}).map(([name, value]) => [name, value === null ? null : text(value)]),
    );
    const { session } = this.#planted;
    const {
      target,
      headers: sent,
      method,
    } = signed(
      host,
      {
        ...{ ...asked, path: text(asked.path), body },
        headers: meddling.byRole ? { ...headers, 'x-amz-security-token': session.sessionToken } : headers,
      },
      { key: meddling.byRole ? session : keyOfAlt, time: this.time.now },
    );
    const response = await pipeline.handle({
      ...{ method, target, fields: new Fields(sent), secure: true, remoteAddress: '192.0.2.7' },
      body: this.#held(Buffer.from(body), clock),
    });
    const code = typeof response.body === 'string' ? /<Code>(\w+)<\/Code>/.exec(response.body)?.[1] : undefined;
    // DeleteObjects reports the result of each key in the body.
    const status = operationFailed(response.body) || code === 'SlowDown' ? 403 : response.status;
    this.answers.add(status);
    return status;
  }

  async *#held(bytes: Buffer, clock: ActorClock): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, -1);
    await clock.sleep(this.#scenario.meddling.accounts ? heldFor.long : heldFor.briefly);
    this.#watched.isBodyThere = true;
    this.#wasHeld = this.#taken !== undefined;
    yield bytes.subarray(-1);
  }

  async #meddle(actor: Actor, rules: TableRules): Promise<unknown> {
    // This read conflicts with every access, so the scheduler tries it between any two steps of alt's.
    await new ActorTable(this.table, actor, rules, () => this.time.now, this.late).get(feedSpot);
    const table = new DirectTable(this.table, 'main');
    const { services } = compose(table, this.#blobs, 'main', directClock(this.time), this.time);
    const putPrivate = (key: string): Promise<unknown> =>
      putObject(services, key, 'main', secret, [fullControl('main')]);
    const { takes, act } = this.#scenario.meddling;
    await act({ ...services, table, planted: this.#planted, putPrivate });
    if (takes === 'name') this.#newBucket = (await services.buckets.load('photos')).id;
    return 'done';
  }

  #judge(changes: readonly Change[], was: (key: ItemKey) => Attributes | undefined): void {
    if (this.#taken === undefined || this.#wrong !== undefined) return;
    const effects = changes.filter((change) => isEffect(change, was(change.key)));
    const wrong = effects.find((change) => this.#isWrong(change, changes, was(change.key)));
    if (wrong) {
      const { operation } = this.#scenario;
      this.#wrong = `${operation} changes ${nameOf(wrong.key)} after what it was authorised on was taken away`;
    }
  }

  #isWrong(change: Change, changes: readonly Change[], was: Attributes | undefined): boolean {
    const { operation, meddling, freeChecks } = this.#scenario;
    const { pk, sk } = change.key;
    const image = 'put' in change ? change.put : undefined;
    switch (meddling.takes) {
      case 'name':
        return (
          pk === 'bucket/photos' ||
          pk.includes('main') ||
          (this.#newBucket !== undefined && `${pk}/${sk}`.includes(this.#newBucket))
        );
      case 'rights':
        if (!this.#mustKeepRights) return false;
        return freeChecks || !this.#hadLooked();
      case 'version': {
        const { key = 'k' } = meddling;
        // A request for a specific older version is still authorised on that version.
        const isCurrent = pk.startsWith('head/') && sk === key;
        return isCurrent || pk.startsWith('link') || canonical(image).includes('bytes-of-main');
      }
      case 'upload':
        if (operation !== 'CompleteMultipartUpload' && operation !== 'AbortMultipartUpload') return false;
        return pk.startsWith('head/') || pk.startsWith('upload/');
      case 'removal': {
        // It may have moved: from current to noncurrent, or back.
        const left = changes.find((other) => 'put' in other && other.put['i'] === was?.['i']);
        return was?.['lh'] === 'ON' && !(left && 'put' in left && left.put['lh'] === 'ON');
      }
    }
  }

  /**
   * Whether, where a commit cannot be exact, the last read of the bucket or account followed the body and returned the previous image. Then
   * the request is ordered before the change.
   */
  #hadLooked(): boolean {
    const rights = /^(bucket|key|account|customer)\//;
    const looks = [...this.#taken!].flatMap(([name, before]) => {
      if (!rights.test(name)) return [];
      // DeleteObjects deletes its keys concurrently, after one read of the bucket for each.
      if (this.#scenario.operation === 'DeleteObjects' && this.#watched.seenSince.get(name)?.has(before)) return [];
      const seen = this.#watched.lastSeen.get(name);
      return seen === undefined ? [] : [{ ...seen, before }];
    });
    // ACLs and tags of an object are committed directly after a read of its bucket.
    const sets = /^(Put|Delete)Object(Acl|Tagging)$/.test(this.#scenario.operation);
    const currentVersions = [...this.#watched.lastSeen].filter(([name]) => sets && name.startsWith('head/'));
    const since = Math.max(0, ...currentVersions.map(([, { at }]) => at));
    return looks.every(({ item, afterBody, at, before }) => afterBody && item === before && at > since);
  }
}

/**
 * Returns whether a write has an effect. Items that nothing refers to yet have none; nor have the note of an imminent change to a bucket,
 * the history of a deleted alarm, the reason that an alarm gives for an unchanged state, or the version of the format.
 */
function isEffect(change: Change, before: Attributes | undefined): boolean {
  const { pk, sk } = change.key;
  if (
    pk === 'deployment' ||
    /^(doc|details|garbage|alarm-history)\//.test(pk) ||
    (pk.startsWith('content/') && sk !== 'refs')
  )
    return false;
  if (!/^(bucket|alarm)\//.test(pk) || !('put' in change) || before === undefined) return true;
  return canonical(withoutNotes(change.put)) !== canonical(withoutNotes(before));
}

function withoutNotes({ r: _, ct: __, cu: ___, st: ____, su: _____, reason: ______, ...rest }: Attributes): Attributes {
  return rest;
}

function operationFailed(body: unknown): boolean {
  return typeof body === 'string' && body.includes('<DeleteResult') && body.includes('<Error>');
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk} ${sk}`;
}

const change =
  (key: (world: Meddler) => ItemKey, put: (item: Attributes) => Attributes | undefined) =>
  async (world: Meddler): Promise<void> => {
    const of = key(world);
    const next = put((await world.table.get(of)) ?? {});
    const renewed = next && { ...next, r: `taken-${nameOf(of)}` };
    await world.table.write([renewed ? { key: of, put: renewed } : { key: of, delete: true }]);
  };
const suspended = (item: Attributes): Attributes => ({ ...item, suspended: true });

/** No concurrent change: alt's request succeeds. */
export const idle: Meddling = { setting: 'owner', takes: 'rights', act: async () => undefined };

/** Every concurrent change that revokes something from a request. */
export const meddlings = {
  'the name is freed and taken by another': {
    ...{ setting: 'owner', takes: 'name' },
    act: async ({ buckets, objects, putPrivate }) => {
      for (const name of ['photos', 'empty']) {
        const bucket = await buckets.find(name);
        for (const key of bucket ? ['j', 'k', 'hidden', 'moved', 'copy'] : []) {
          await objects.remove({ by: 'request', authorisation: asService(bucket!, key, 'null'), owner: 'project' });
        }
        // alt may have removed it already.
        if (bucket) await buckets.remove(asService(bucket));
        await buckets.create(byOperator, name, 'main', 10);
      }
      await putPrivate('k');
    },
  },
  'its ACLs are revoked': {
    ...{ setting: 'granted', takes: 'rights' },
    act: async ({ buckets, objects }) => {
      const bucket = await buckets.load('photos');
      await buckets.documents.set(asService(bucket), 'acl', undefined);
      for (const key of ['j', 'k']) {
        const version = await objects.find(bucket, key);
        if (version) await objects.revise(asService(bucket, key), ({ grants: _, ...rest }) => rest);
      }
    },
  },
  'a policy denies': {
    ...{ setting: 'granted', takes: 'rights' },
    act: async ({ buckets }) =>
      buckets.documents.set(asService(await buckets.load('photos')), 'policy', policyOf('Deny')),
  },
  'the policy that allowed is removed': {
    ...{ setting: 'allowed', takes: 'rights' },
    act: async ({ buckets }) => buckets.documents.set(asService(await buckets.load('photos')), 'policy', undefined),
  },
  'the key is removed': {
    ...{ setting: 'owner', takes: 'rights', accounts: true },
    act: change(
      () => accountKey.accessKey(keyOfAlt.accessKeyId),
      () => undefined,
    ),
  },
  'the key is suspended': {
    ...{ setting: 'owner', takes: 'rights', accounts: true },
    act: change(() => accountKey.accessKey(keyOfAlt.accessKeyId), suspended),
  },
  'the user is removed': {
    ...{ setting: 'owner', takes: 'rights', accounts: true },
    act: change(
      () => accountKey.user('alt', 'user'),
      () => undefined,
    ),
  },
  'the user is suspended': {
    ...{ setting: 'owner', takes: 'rights', accounts: true },
    act: change(() => accountKey.user('alt', 'user'), suspended),
  },
  'the project is suspended': {
    ...{ setting: 'owner', takes: 'rights', accounts: true },
    act: change(() => accountKey.project('alt'), suspended),
  },
  'the customer is suspended': {
    ...{ setting: 'owner', takes: 'rights', accounts: true },
    act: change(() => accountKey.customer('customer-of-alt'), suspended),
  },
  'the role is removed': {
    ...{ setting: 'owner', takes: 'rights', accounts: true, byRole: true },
    act: change(
      () => accountKey.role('alt', roleOfAlt.name),
      () => undefined,
    ),
  },
  'another role gets its name': {
    ...{ setting: 'owner', takes: 'rights', accounts: true, byRole: true },
    act: change(
      () => accountKey.role('alt', roleOfAlt.name),
      (item) => ({ ...item, id: 'another' }),
    ),
  },
  'the role loses its policies': {
    ...{ setting: 'owner', takes: 'rights', accounts: true, byRole: true },
    act: change(
      () => accountKey.role('alt', roleOfAlt.name),
      (item) => ({ ...item, attached: [] }),
    ),
  },
  'the project of the role is suspended': {
    ...{ setting: 'owner', takes: 'rights', accounts: true, byRole: true },
    act: change(() => accountKey.project('alt'), suspended),
  },
  'the key is created': {
    ...{ setting: 'lister', takes: 'version', key: 'new' },
    act: ({ putPrivate }) => putPrivate('new'),
  },
  'the version is replaced': {
    ...{ setting: 'object', takes: 'version' },
    act: ({ putPrivate }) => putPrivate('k'),
  },
  'a version is laid above it': {
    ...{ setting: 'object', takes: 'version', versioned: true },
    act: ({ putPrivate }) => putPrivate('k'),
  },
  'the version is deleted, and another put': {
    ...{ setting: 'object', takes: 'version' },
    act: async ({ buckets, objects, putPrivate }) => {
      await objects.remove({
        by: 'request',
        authorisation: asService(await buckets.load('photos'), 'k'),
        owner: 'main',
      });
      await putPrivate('k');
    },
  },
  'a delete marker hides it': {
    ...{ setting: 'object', takes: 'version', versioned: true },
    act: async ({ buckets, objects }) =>
      objects.remove({ by: 'request', authorisation: asService(await buckets.load('photos'), 'k'), owner: 'main' }),
  },
  'what is there is locked': {
    ...{ setting: 'owner', takes: 'removal', versioned: true, locks: true },
    act: async ({ buckets, objects }) => {
      const bucket = await buckets.load('photos');
      for (const key of ['j', 'k']) {
        const isThere = (await objects.find(bucket, key, 'null')) !== undefined;
        if (isThere) await objects.relock(asService(bucket, key, 'null'), { legalHold: 'ON' });
      }
    },
  },
  'the upload is completed': {
    ...{ setting: 'owner', takes: 'upload' },
    act: async ({ table, planted }) =>
      change(
        () => ({ pk: `upload/${planted.upload}`, sk: '-' }),
        (item) => ({ ...item, state: 'completed' }),
      )({
        table,
      } as Meddler),
  },
  'the upload is aborted': {
    ...{ setting: 'owner', takes: 'upload' },
    act: async ({ buckets, uploads, planted }) => {
      const bucket = await buckets.load('photos');
      const upload = await uploads.find(bucket, 'k', planted.upload);
      if (upload.state === 'open') await uploads.abort(asService(bucket, 'k'), planted.upload);
    },
  },
} as const satisfies Readonly<Record<string, Meddling>>;
