import { decodeAcl, isPublicGrant, type Acl } from '../../access/acl.ts';
import { logDelivery, type AccessKeys, type Account } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import { Fields } from '../../http/message.ts';
import { neverAborted } from '../../ports/event-loop.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { ObjectAuthorisation } from '../../storage/version-changes/object-authorisation.ts';
import { countingGrants } from '../acls/acl-restrictions.ts';
import { RequestAuthoriser } from '../authorisation/request-authoriser.ts';
import { RequestView } from '../authorisation/request-view.ts';
import { measuredBytes } from '../bodies/measured-bytes.ts';
import { storeObject } from '../objects/store-object.ts';
import type { Services } from '../operation.ts';
import { logKey, uniquePart } from './log-keys.ts';
import type { LogBatch, LogBatches, LogDestination, LogSpool } from './log-spool.ts';

/** Objects that are stored at a time. */
const concurrency = 2;

interface Deps {
  readonly services: Services;
  readonly accessKeys: AccessKeys;
  readonly randomness: Randomness;
  readonly telemetry: Telemetry;
  readonly spool: LogSpool;
  /** Bytes of a destination that are delivered before their time. */
  readonly early: number;
}

/** What became of records, for metrics. */
export interface LogCounts {
  readonly objects: number;
  readonly delivered: number;
  /** By the reason: the code of an error, or `NoRoom`. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** Delivers the records of access logs: an object for each destination, as often as it is asked to. */
export class LogDelivery {
  readonly #deps: Deps;
  readonly #dropped: Record<string, number> = {};
  #objects = 0;
  #delivered = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get counts(): LogCounts {
    return { objects: this.#objects, delivered: this.#delivered, dropped: this.#dropped };
  }

  /** Takes records. If there is no room for them, they are dropped. */
  add(batch: LogBatch): void {
    const { spool, early } = this.#deps;
    const bytes = spool.add(batch);
    if (bytes === undefined) this.drop('NoRoom', batch.records);
    else if (bytes >= early && bytes - batch.lines.length < early) void this.#soon([batch.to]);
  }

  /** Counts records that are lost. */
  drop(reason: string, records: number): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + records;
  }

  /** Delivers all records that wait. What cannot be stored now waits on, as far as there is room. */
  deliver(): Promise<void> {
    return this.#soon(this.#deps.spool.destinations());
  }

  /** One after the other, so that a destination has no two deliveries at a time. */
  #soon(destinations: readonly string[]): Promise<void> {
    const waiting = destinations.values();
    const worker = async (): Promise<void> => {
      for (const to of waiting) await this.#deliverTo(to);
    };
    const run = this.#running.then(() => Promise.all(Array.from({ length: concurrency }, worker)));
    this.#running = run;
    return run.then(() => undefined);
  }

  async #deliverTo(to: string): Promise<void> {
    const { spool, telemetry } = this.#deps;
    const batches = spool.take(to);
    if (batches.length === 0) return;
    try {
      await this.#store(JSON.parse(to) as LogDestination, batches);
    } catch (error) {
      const isLasting = error instanceof S3Error && error.status < 500;
      if (!isLasting) telemetry.problem('an access log could not be stored', error);
      for (const batch of batches) {
        if (isLasting || spool.add(batch) === undefined) this.drop(codeOf(error), batch.records);
      }
    }
  }

  /** @throws S3Error if nothing could be delivered */
  async #store(to: LogDestination, batches: LogBatches): Promise<void> {
    const { services, randomness } = this.#deps;
    const { buckets, projects, clock, settings } = services;
    const [bucket, project] = await Promise.all([buckets.load(to.target), projects.project(to.project)]);
    // Its name may be that of another bucket meanwhile.
    if (project === undefined || bucket.project !== to.project || bucket.objectLock?.defaultRetention) {
      throw new S3Error('InvalidTargetBucketForLogging');
    }
    const account = await projects.account(project);
    const moment = { account: account.accountNumber, region: settings.region, now: clock.now() };
    const key = logKey(to, { ...moment, unique: uniquePart(randomness) });

    // What the owner allows may depend on the logged bucket.
    const allowed: LogBatch[] = [];
    let authorisation: ObjectAuthorisation | undefined;
    for (const batch of batches) {
      const granted = await this.#authorise(bucket, key, batch.source, account);
      if (granted === undefined) continue;
      allowed.push(batch);
      authorisation ??= granted;
    }
    if (authorisation === undefined) throw new S3Error('AccessDenied');

    const bytes = Buffer.from(allowed.map(({ lines }) => lines).join(''), 'latin1');
    const upload = {
      headers: { ...plainHeaders, acl: undefined },
      encryption: () => ({ kind: 'none' }) as const,
      conditions: noConditions,
      acl: aclOf(to, bucket),
    };
    const payload = measuredBytes(once(bytes), bytes.length, 'CRC64NVME');
    await storeObject(upload, {
      ...services,
      authorisation,
      bucket,
      caller: callerFor(allowed[0]!.source, account),
      payload,
    });
    this.#objects += 1;
    this.#delivered += countOf(allowed);
    if (allowed.length < batches.length) this.drop('AccessDenied', countOf(batches) - countOf(allowed));
  }

  /** Returns undefined if the owner of the target does not let the service put the records of this bucket there. */
  async #authorise(
    bucket: Bucket,
    key: string,
    source: string,
    account: Account,
  ): Promise<ObjectAuthorisation | undefined> {
    const { services, accessKeys: keys } = this.#deps;
    const { buckets, objects, projects, uploads, clock, settings } = services;
    const view = new RequestView({ buckets, objects }, bucket);
    const deps = {
      buckets,
      projects,
      uploads,
      view,
      keys,
      origin: { by: 'log delivery' } as const,
      signal: neverAborted,
    };
    const authoriser = new RequestAuthoriser(deps, {
      caller: callerFor(source, account),
      scheme: 'anonymous',
      time: clock.now(),
      remoteAddress: undefined,
      secure: true,
      tlsVersion: undefined,
      region: settings.region,
      signedAt: () => undefined,
      fields: new Fields(),
    });
    try {
      return await authoriser.authorise([{ action: 'PutObject', bucket: bucket.name, key }], { bucket, key });
    } catch (error) {
      if (error instanceof S3Error && error.code === 'AccessDenied') return undefined;
      throw error;
    }
  }
}

const noConditions = { prefix: '', ifMatch: undefined, ifAbsent: undefined } as const;

const plainHeaders = {
  systemMetadata: { contentType: 'text/plain' },
  storageClass: 'STANDARD',
  lock: {},
  headers: {},
  metadata: {},
  tags: [],
} as const;

function callerFor(source: string, account: Account) {
  const sourceArn = `arn:aws:s3:::${source}`;
  return { kind: 'service', name: logDelivery, sourceArn, sourceAccount: account } as const;
}

/** Returns the ACL of a log object, as far as its bucket allows one now. */
function aclOf({ grants = [] }: LogDestination, bucket: Bucket): Acl {
  const { blockPublicAcls = false } = bucket.publicAccessBlock ?? {};
  const shared = countingGrants(decodeAcl(grants), bucket).filter(
    (grant) => !(blockPublicAcls && isPublicGrant(grant)),
  );
  return [{ grantee: { project: bucket.project }, permission: 'FULL_CONTROL' }, ...shared];
}

function countOf(batches: LogBatches): number {
  return batches.reduce((sum, { records }) => sum + records, 0);
}

function codeOf(error: unknown): string {
  return error instanceof S3Error ? error.code : 'InternalError';
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
