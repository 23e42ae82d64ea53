import { createHash } from 'node:crypto';
import { lifecycleDeps } from '../../functions/compose/lifecycle.ts';
import { day, hour } from '../../shared/ports/durations.ts';
import type { Attributes, Change, ItemKey } from '../../shared/ports/key-value-table.ts';
import * as keyParts from '../../shared/storage/table/keys/key-parts.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { decodeVersion } from '../../shared/storage/versions/versions.ts';
import {
  retentionModes,
  secondOf,
  type ObjectLock,
  type Retention,
} from '../../shared/storage/versions/object-lock.ts';
import { asService } from '../../shared/storage/version-changes/service-authorisation.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import type { CurrentRequest } from './current-request.ts';
import type { Response } from './network.ts';
import { attempt, insist, runClients, type Scenario, type Stage } from './scenario.ts';
import type { Writer } from './table-state.ts';
import { tenants, type Tenant } from './tenants.ts';

const bucket = 'kept';
const path = `/${bucket}`;
const keys = ['a', 'b', 'c'].map((name) => `${path}/${name}`);
const defaultDays = 2;
const configuration = `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>
  <Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>${defaultDays}</Days></DefaultRetention></Rule></ObjectLockConfiguration>`;
const lifecycle = `<LifecycleConfiguration>
  <Rule><ID>a</ID><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration></Rule>
  <Rule><ID>b</ID><Status>Enabled</Status><Filter/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration></Rule>
</LifecycleConfiguration>`;
const suspended = '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>';
/** A project that may do everything but what weakens a lock. */
const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: 's3:*' },
    {
      Effect: 'Deny',
      Action: ['s3:BypassGovernanceRetention', 's3:PutObjectLegalHold', 's3:PutLifecycleConfiguration'],
    },
  ].map((statement) => ({
    ...{ Principal: { AWS: tenants.limited.name }, Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`] },
    ...statement,
  })),
});
/** The largest difference between clocks, in milliseconds. */
const skew = 1000;

/** What may weaken a lock: the names of requests by the owner. */
const weakening = { bypass: 'with a bypass', lift: 'PutObjectLegalHold OFF' } as const;

/** A version that a client knows it has written, and the weakest lock that it can have. */
interface Kept {
  readonly path: string;
  readonly id: string;
  readonly body: string;
  lock: ObjectLock;
}

/**
 * A bucket with object lock. Its owner writes versions with locks of every kind, makes periods longer, bypasses governance and lifts holds,
 * while the owner, a limited project and a stranger ask for whatever would remove them, lifecycle rules apply and an operator empties the bucket.
 * Whatever is asked for, in any order, after any crash: what is locked is there, with its content and its lock.
 */
export class Locks implements Scenario {
  readonly #stage: Stage;
  readonly #kept: Kept[] = [];
  /** Which request wrote a version: it may undo that, as long as it has not been answered. */
  readonly #writtenBy = new Map<unknown, CurrentRequest>();
  #bucketId = '';

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async prepare(): Promise<void> {
    const put = { method: 'PUT', path };
    const { owner } = tenants;
    const headers = { 'x-amz-bucket-object-lock-enabled': 'true' };
    await insist(this.#stage, owner, 'CreateBucket', { ...put, headers });
    await insist(this.#stage, owner, 'PutBucketPolicy', { ...put, query: 'policy', body: policy });
    await insist(this.#stage, owner, 'PutBucketLifecycle', { ...put, query: 'lifecycle', body: lifecycle });
    const configured = { ...put, query: 'object-lock', body: configuration };
    await insist(this.#stage, owner, 'PutObjectLockConfiguration', configured);
    this.#bucketId = this.#stage.stores.table.item(itemKey.bucket(bucket))!['id'] as string;
    // So that the bucket always holds something that is locked.
    await this.#put({ retention: { mode: 'COMPLIANCE', until: secondOf(this.#now + 3650 * day) } });
  }

  async run(isOver: () => boolean): Promise<void> {
    const keeper = (): Promise<void> => this.#keep();
    const attackers = [tenants.owner, tenants.limited, tenants.limited, tenants.stranger];
    await runClients(this.#stage, isOver, [
      ...[keeper, keeper],
      ...attackers.map((by) => () => this.#attack(by)),
      () => this.#empty(),
    ]);
  }

  /** Checks that all that is locked exists, as its writer knows it. */
  async check(): Promise<void> {
    const locked = this.#kept.filter(({ lock }) => this.#isLocked(lock));
    if (locked.length === 0) throw new Error('nothing is locked that should be');
    for (const kept of locked) await this.#read(kept);
    // Others cost time, and nothing is known of them.
    this.#kept.splice(0, this.#kept.length, ...locked);
  }

  observe = (changes: readonly Change[], by: Writer, before: (key: ItemKey) => Attributes | undefined): void => {
    if (this.#bucketId === '') return;
    const left = new Map<unknown, Attributes>();
    for (const change of changes) {
      if (change.key.pk === `bucket/${bucket}` && !('put' in change)) throw new Error('a bucket with locks is removed');
      if ('put' in change && this.#isOwn(change.key)) left.set(change.put['i'], change.put);
    }
    for (const instance of left.keys()) {
      if (by.request && !this.#writtenBy.has(instance)) this.#writtenBy.set(instance, by.request);
    }
    for (const { key } of changes) {
      const was = before(key);
      if (was === undefined || !this.#isOwn(key)) continue;
      const present = left.get(was['i']);
      const isUndone = by.request !== undefined && this.#writtenBy.get(was['i']) === by.request;
      if (!isUndone) this.#mustBeAllowed(key, decodeVersion(was), present && decodeVersion(present), by);
    }
  };

  #mustBeAllowed(key: ItemKey, was: ObjectLock, is: ObjectLock | undefined, { request, process }: Writer): void {
    const { caller, operation = '' } = request ?? {};
    const isOwner = caller === tenants.owner.name;
    const lock = JSON.stringify({ retention: was.retention, legalHold: was.legalHold });
    const who = `${key.pk} ${key.sk} is locked: ${lock}, but by ${operation} of ${caller ?? process}`;
    if (was.legalHold === 'ON' && is?.legalHold !== 'ON') {
      if (is === undefined) throw new Error(`${who} it is removed`);
      if (!isOwner || operation !== weakening.lift) throw new Error(`${who} its legal hold is lifted`);
    }
    if (!was.retention || !this.#isInForce(was.retention) || isAtLeast(is?.retention, was.retention)) return;
    const mayBypass = isOwner && operation.endsWith(weakening.bypass) && was.retention.mode === 'GOVERNANCE';
    if (!mayBypass) throw new Error(`${who} it is ${is ? `locked ${JSON.stringify(is.retention)}` : 'removed'}`);
  }

  /** What the client of a backup does. */
  async #keep(): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const known = this.#kept.slice(1);
    const kind =
      known.length === 0 ? 'put' : random.weighted({ put: 5, read: 3, lengthen: 3, hold: 2, lift: 2, bypass: 2 });
    if (kind === 'put') return this.#put(this.#anyLock());
    const kept = random.oneOf(known);
    if (kind === 'read') return this.#read(kept);
    const { lock } = kept;
    switch (kind) {
      case 'lengthen': {
        const mode = lock.retention?.mode ?? random.oneOf(retentionModes);
        const retention = { mode, until: Math.max(lock.retention?.until ?? 0, this.#later()) };
        return this.#strengthen(kept, { ...lock, retention }, retain(kept, retention));
      }
      case 'hold':
        return this.#strengthen(kept, { ...lock, legalHold: 'ON' }, hold(kept, 'ON'));
      case 'lift':
        return this.#weaken(kept, { ...lock, legalHold: 'OFF' }, weakening.lift, hold(kept, 'OFF'));
      case 'bypass': {
        if (lock.retention?.mode !== 'GOVERNANCE') return;
        const { legalHold } = lock;
        const asked = random.oneOf([remove(kept), retain(kept, undefined)]);
        const name = `${asked.method} ${weakening.bypass}`;
        return this.#weaken(kept, { legalHold }, name, withBypass(asked));
      }
    }
  }

  async #put(lock: ObjectLock | undefined): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const began = this.#now;
    const key = random.oneOf(keys);
    const body = `${key} at ${began}, ${random.next()}`;
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64'), ...headersOf(lock ?? {}) };
    const put = { method: 'PUT', path: key, body, headers };
    const response = await attempt(this.#stage, tenants.owner, 'PutObject', put);
    if (response === undefined) return;
    const id = response.headers['x-amz-version-id'];
    if (typeof id !== 'string') throw new Error(`a locked version is answered ${response.status}: ${response.text}`);
    const byDefault = { mode: 'COMPLIANCE', until: secondOf(began - skew + defaultDays * day) } as const;
    this.#kept.push({ path: key, id, body, lock: { ...lock, retention: lock?.retention ?? byDefault } });
  }

  /** Sends a request that makes a lock stronger: it is once the answer says so. */
  async #strengthen(kept: Kept, lock: ObjectLock, asked: Unsigned): Promise<void> {
    const before = kept.lock;
    const response = await attempt(this.#stage, tenants.owner, 'strengthens a lock', asked);
    // Unless another client has weakened it meanwhile, in which order nobody knows.
    if (response?.status === 200 && kept.lock === before) kept.lock = lock;
  }

  /** Sends a request that makes a lock weaker. From now on it may be; if the answer does not come, at any later time. */
  async #weaken(kept: Kept, lock: ObjectLock, operation: string, asked: Unsigned): Promise<void> {
    this.#kept.splice(this.#kept.indexOf(kept), 1);
    const response = await attempt(this.#stage, tenants.owner, operation, asked);
    if (response === undefined) return;
    if (response.status >= 300) this.#kept.push(kept);
    else if (asked.method !== 'DELETE') this.#kept.push({ ...kept, lock });
  }

  async #attack(by: Tenant): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const kept = random.oneOf(this.#kept);
    const other = random.oneOf(keys.filter((key) => key !== kept.path));
    const sooner = { mode: random.oneOf(retentionModes), until: secondOf(this.#now + hour) };
    const object = `<Object><Key>${kept.path.split('/')[2]}</Key><VersionId>${kept.id}</VersionId></Object>`;
    const asked: Readonly<Record<string, Unsigned>> = {
      DeleteObject: remove(kept),
      'DeleteObject of the key': { method: 'DELETE', path: kept.path },
      DeleteObjects: { method: 'POST', path, query: 'delete', body: `<Delete>${object}</Delete>` },
      PutObjectRetention: retain(kept, sooner),
      'PutObjectRetention with nothing': retain(kept, undefined),
      RenameObject: {
        ...{ method: 'PUT', path: other, query: 'renameObject' },
        headers: { 'x-amz-rename-source': kept.path },
      },
      DeleteBucket: { method: 'DELETE', path },
      PutBucketVersioning: { method: 'PUT', path, query: 'versioning', body: suspended },
    };
    const operation = random.oneOf(Object.keys(asked));
    const unsigned = asked[operation]!;
    // Who has no right to bypass governance asks for it, too.
    const bypasses = by !== tenants.owner && random.next() < 0.3;
    const response = await attempt(this.#stage, by, operation, bypasses ? withBypass(unsigned) : unsigned);
    if (by === tenants.stranger && response && response.status < 300 && !response.text.includes('<Error>'))
      throw new Error(`a stranger's ${operation} is answered ${response.status}`);
  }

  /** Removes a current version, as `stillage bucket empty` does. What it does not get done is of no interest. */
  async #empty(): Promise<void> {
    const { deployment, stores } = this.#stage;
    const { buckets, objects } = lifecycleDeps(deployment.operator);
    const key = stores.world.scheduler.random.oneOf(keys).split('/')[2]!;
    const remove = async (): Promise<unknown> =>
      objects.remove({ by: 'operator', authorisation: asService(await buckets.load(bucket), key) });
    await remove().catch(() => undefined);
  }

  /** @throws Error unless a version is as it is known to be */
  async #read(kept: Kept): Promise<void> {
    const { path: key, id, body, lock } = kept;
    const response = await attempt(this.#stage, tenants.owner, 'GetObject', { path: key, query: `versionId=${id}` });
    // It may have been weakened, or its period have ended, meanwhile.
    if (response === undefined || !this.#kept.includes(kept) || !this.#isLocked(lock)) return;
    const shown = lockOf(response);
    const isThere = response.status === 200 && response.text === body;
    const { retention, legalHold } = lock;
    const isHeld = legalHold !== 'ON' || shown.legalHold === 'ON';
    const isRetained = !retention || !this.#isInForce(retention) || isAtLeast(shown.retention, retention);
    if (isThere && isHeld && isRetained) return;
    throw new Error(
      `the version ${id} of ${key} is locked: ${JSON.stringify(lock)}, but is answered ${response.status} ` +
        `${response.code ?? ''} ${JSON.stringify(shown)}`,
    );
  }

  /** Returns a lock for a new version; undefined: the default of the bucket. */
  #anyLock(): ObjectLock | undefined {
    const { random } = this.#stage.stores.world.scheduler;
    const retention = { mode: random.oneOf(retentionModes), until: this.#later() };
    return random.oneOf([undefined, { retention }, { retention }, { legalHold: 'ON' }, { retention, legalHold: 'ON' }]);
  }

  #later(): number {
    const { random } = this.#stage.stores.world.scheduler;
    return secondOf(this.#now + random.oneOf([hour, day, 5 * day, 30 * day]) * (1 + random.next()));
  }

  #isLocked({ retention, legalHold }: ObjectLock): boolean {
    return legalHold === 'ON' || (retention !== undefined && this.#isInForce(retention));
  }

  /** Whether a period has not ended by any clock. */
  #isInForce({ until }: Retention): boolean {
    return secondOf(this.#now + skew) <= until;
  }

  #isOwn(key: ItemKey): boolean {
    return keyParts.version(key)?.bucketId === this.#bucketId;
  }

  get #now(): number {
    return this.#stage.stores.world.scheduler.now;
  }
}

function isAtLeast(is: Retention | undefined, was: Retention): boolean {
  return is !== undefined && is.mode === was.mode && is.until >= was.until;
}

function headersOf({ retention, legalHold }: ObjectLock): Readonly<Record<string, string>> {
  return {
    ...(retention && {
      'x-amz-object-lock-mode': retention.mode,
      'x-amz-object-lock-retain-until-date': isoSecond(retention.until),
    }),
    ...(legalHold && { 'x-amz-object-lock-legal-hold': legalHold }),
  };
}

/** Returns what a response tells of a lock. */
function lockOf({ headers }: Response): ObjectLock {
  const mode = retentionModes.find((one) => one === headers['x-amz-object-lock-mode']);
  const until = secondOf(Date.parse(String(headers['x-amz-object-lock-retain-until-date'])));
  return {
    retention: mode && { mode, until },
    legalHold: headers['x-amz-object-lock-legal-hold'] === 'ON' ? 'ON' : undefined,
  };
}

function remove({ path: key, id }: Kept): Unsigned {
  return { method: 'DELETE', path: key, query: `versionId=${id}` };
}

function retain({ path: key, id }: Kept, retention: Retention | undefined): Unsigned {
  const period =
    retention && `<Mode>${retention.mode}</Mode><RetainUntilDate>${isoSecond(retention.until)}</RetainUntilDate>`;
  const body = `<Retention>${period ?? ''}</Retention>`;
  return { method: 'PUT', path: key, query: `retention&versionId=${id}`, body };
}

function hold({ path: key, id }: Kept, status: 'ON' | 'OFF'): Unsigned {
  const body = `<LegalHold><Status>${status}</Status></LegalHold>`;
  return { method: 'PUT', path: key, query: `legal-hold&versionId=${id}`, body };
}

function withBypass(unsigned: Unsigned): Unsigned {
  return { ...unsigned, headers: { ...unsigned.headers, 'x-amz-bypass-governance-retention': 'true' } };
}

function isoSecond(second: number): string {
  return new Date(1000 * second).toISOString();
}
