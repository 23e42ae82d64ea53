import { describe, expect, it } from 'vitest';
import { day, hour } from '../../../../shared/ports/durations.ts';
import { applyLifecycle } from '../../../../shared/lifecycle/apply-lifecycle.ts';
import { realDays } from '../../../../shared/lifecycle/lifecycle.ts';
import { LifecyclePasses } from '../../../../shared/lifecycle/lifecycle-passes.ts';
import { BucketPurge } from '../../../../shared/storage/removal/bucket-purge.ts';
import { asService } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { LockedVersion } from '../../../../shared/storage/versions/object-lock.ts';
import type { Version } from '../../../../shared/storage/versions/versions.ts';
import { sortableTime } from '../../../../shared/storage/table/keys/ids.ts';
import { itemKey, partition } from '../../../../shared/storage/table/keys/keys.ts';
import { LayoutTooNew, claimLayout, layoutKey } from '../../../../shared/storage/table/layout.ts';
import { keepLockTime } from '../../../../shared/storage/table/lock-clock.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { person, PipelineInProcess, type Answered } from '../../../support/storage/pipeline-in-process.ts';
import type { Unsigned } from '../../../support/clients/signer.ts';

const owner = person('owner');
const writer = person('writer', 'owner');
const randomness = new CountedBytes();

class World {
  readonly clock = new SetClock();
  readonly service = new PipelineInProcess([owner, writer], { clock: this.clock });

  static async begun(): Promise<World> {
    const world = new World();
    const headers = { 'x-amz-bucket-object-lock-enabled': 'true' };
    expect((await world.send({ method: 'PUT', path: '/bucket', headers })).status).toBe(200);
    return world;
  }

  send(request: Unsigned, by = owner): Promise<Answered> {
    return this.service.send(request, by);
  }

  /** Puts an object. @param mode the period is an hour */
  async put(mode?: 'GOVERNANCE' | 'COMPLIANCE', hold?: 'ON', key = 'key'): Promise<string> {
    const headers = {
      'content-md5': 'ndTkYSaMgDT1yFZOFVxnpg==',
      ...(mode && {
        'x-amz-object-lock-mode': mode,
        'x-amz-object-lock-retain-until-date': new Date(this.clock.time + hour).toISOString(),
      }),
      ...(hold && { 'x-amz-object-lock-legal-hold': hold }),
    };
    const answer = await this.send({ method: 'PUT', path: `/bucket/${key}`, body: 'x', headers });
    expect(answer.status, answer.text).toBe(200);
    return answer.header('x-amz-version-id')!;
  }

  remove(id: string, headers: Record<string, string> = {}, by = owner): Promise<Answered> {
    return this.send({ method: 'DELETE', path: '/bucket/key', query: `versionId=${id}`, headers }, by);
  }

  async find(id: string, key = 'key'): Promise<Version | undefined> {
    return this.service.services.objects.find(await this.service.services.buckets.load('bucket'), key, id);
  }

  /** Lets time go by, as a running service does. */
  async live(milliseconds: number): Promise<void> {
    const end = this.clock.time + milliseconds;
    while (this.clock.time < end) {
      this.clock.time = Math.min(end, this.clock.time + hour);
      await this.keepTime();
    }
  }

  keepTime(): Promise<void> {
    return keepLockTime({ table: this.service.table, clock: this.clock, randomness });
  }
}

const locked = expect.objectContaining({ status: 403, code: 'AccessDenied' }) as unknown;
const gone = expect.objectContaining({ status: 204 }) as unknown;
const bypass = { 'x-amz-bypass-governance-retention': 'true' };

/** Who asks to remove a version, and whether it goes: by what protects it. */
describe('a version whose retention has not ended', () => {
  it('goes when it has, and not a second before', async () => {
    const world = await World.begun();
    const id = await world.put('COMPLIANCE');
    await world.live(hour);
    expect(await world.remove(id)).toEqual(locked);
    await world.live(1000);
    expect(await world.remove(id)).toEqual(gone);
  });

  it('is not removed by an operator, a lifecycle rule, or the purge of its bucket', async () => {
    const world = await World.begun();
    const { buckets, objects, uploads } = world.service.services;
    const { table } = world.service;
    const ids = [await world.put('GOVERNANCE'), await world.put('COMPLIANCE'), await world.put(undefined, 'ON')];
    const bucket = await buckets.load('bucket');
    const all = async (): Promise<unknown> => Promise.all(ids.map(async (id) => (await world.find(id))?.instance));

    const removal = { by: 'operator', authorisation: asService(bucket, 'key') } as const;
    await expect(objects.remove(removal)).rejects.toThrow(LockedVersion);

    const rule = await world.send({
      ...{ method: 'PUT', path: '/bucket', query: 'lifecycle' },
      body:
        '<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration>' +
        '<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration></Rule>' +
        '</LifecycleConfiguration>',
    });
    expect(rule.status, rule.text).toBe(200);
    // Held for longer than the rules keep them.
    for (const id of ids.slice(0, 2)) {
      const mode = id === ids[0] ? 'GOVERNANCE' : 'COMPLIANCE';
      const until = new Date(world.clock.time + 9 * day).toISOString();
      const body = `<Retention><Mode>${mode}</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`;
      const request = { method: 'PUT', path: '/bucket/key', query: `retention&versionId=${id}`, body };
      expect((await world.send(request)).status).toBe(200);
    }
    const passes = new LifecyclePasses({ table, clock: world.clock, randomness });
    const pass = () =>
      applyLifecycle({ buckets, objects, uploads, passes, clock: world.clock }, { calendar: realDays, workers: 1 });
    for (let days = 0; days < 4; days += 1) {
      await world.live(day);
      await pass();
    }
    expect(await all()).toEqual(ids);
    // The current one is hidden, as by a DELETE.
    expect((await world.send({ path: '/bucket/key' })).status).toBe(404);
    // When the periods have ended, the rules are applied: only the hold has no end.
    await world.live(7 * day);
    await pass();
    expect(await all()).toEqual([undefined, undefined, ids[2]]);

    await table.write([
      { key: itemKey.bucket('bucket'), delete: true },
      { key: itemKey.tombstone(sortableTime(world.clock.time), bucket.id), put: { name: 'bucket', project: 'owner' } },
    ]);
    const purge = new BucketPurge({ table, objects, uploads, clock: world.clock });
    await world.live(2 * day);
    await purge.sweep();
    expect(table.keysOf(partition.tombstones)).toHaveLength(1);
    expect((await objects.find(bucket, 'key', ids[2]))?.instance).toBe(ids[2]);
  });

  it('is not replaced where nobody can suspend versioning, nor if somebody could', async () => {
    const world = await World.begun();
    await world.send({ method: 'PUT', path: '/other' });
    await world.send({ method: 'PUT', path: '/other/key', body: 'x' });
    const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    await world.send({ method: 'PUT', path: '/other', query: 'versioning', body: enabled });
    const lock = '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>';
    await world.send({ method: 'PUT', path: '/other', query: 'object-lock', body: lock });
    const body = '<LegalHold><Status>ON</Status></LegalHold>';
    await world.send({ method: 'PUT', path: '/other/key', query: 'legal-hold&versionId=null', body });

    const { buckets, objects } = world.service.services;
    const { table } = world.service;
    for (const versioning of ['suspended', 'off']) {
      const item = (await table.get(itemKey.bucket('other')))!;
      await table.write([{ key: itemKey.bucket('other'), put: { ...item, versioning } }]);
      world.clock.time += hour;
      expect(await world.send({ method: 'PUT', path: '/other/key', body: 'y' })).toEqual(locked);
      expect(await world.send({ method: 'DELETE', path: '/other/key' })).toEqual(locked);
      const from = { 'x-amz-rename-source': '/other/key' };
      const rename = { method: 'PUT', path: '/other/moved', query: 'renameObject', headers: from };
      expect((await world.send(rename)).status).not.toBe(500);
      expect(await objects.find(await buckets.load('other'), 'key', 'null')).toMatchObject({ legalHold: 'ON' });
    }
  });

  it('does not go because it was locked after a removal had read it', async () => {
    const world = await World.begun();
    const id = await world.put();
    const { objects, buckets } = world.service.services;
    const bucket = await buckets.load('bucket');
    const authorisation = asService(bucket, 'key', id);
    const guard = (): void => {
      // Between the read and the commit.
      pending ??= objects.relock(asService(bucket, 'key', id), { legalHold: 'ON' });
    };
    let pending: Promise<unknown> | undefined;
    const write = world.service.table.write.bind(world.service.table);
    world.service.table.write = async (changes, ...rest) => {
      const isRemoval = changes.some((change) => 'delete' in change);
      if (isRemoval) await pending;
      return write(changes, ...rest);
    };
    const removal = { by: 'request', authorisation, owner: 'owner-id', guard } as const;
    await expect(objects.remove(removal)).rejects.toThrow(LockedVersion);
    expect(await world.find(id)).toMatchObject({ legalHold: 'ON' });
  });
});

describe('the bypass of governance', () => {
  it('needs the right to it and the header, and a Deny is heeded', async () => {
    const world = await World.begun();
    const id = await world.put('GOVERNANCE');
    expect(await world.remove(id)).toEqual(locked);
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:BypassGovernanceRetention' };
    const policy = { Version: '2012-10-17', Statement: [{ ...statement, Resource: 'arn:aws:s3:::bucket/*' }] };
    const request = { method: 'PUT', path: '/bucket', query: 'policy', body: JSON.stringify(policy) };
    expect((await world.send(request)).status).toBe(204);
    expect(await world.remove(id, bypass, writer)).toEqual(locked);
    const many = `<Delete><Object><Key>key</Key><VersionId>${id}</VersionId></Object></Delete>`;
    const deleted = await world.send({ method: 'POST', path: '/bucket', query: 'delete', body: many, headers: bypass });
    expect(deleted.text).toContain('<Code>AccessDenied</Code>');
    const lifted = { method: 'PUT', path: '/bucket/key', query: 'retention', body: '<Retention/>', headers: bypass };
    expect(await world.send(lifted)).toEqual(locked);
    await world.send({ method: 'DELETE', path: '/bucket', query: 'policy' });
    expect(await world.remove(id, bypass, writer)).toEqual(gone);
  });
});

describe('conditions of policies', () => {
  it.each([
    ['StringNotEquals', 's3:object-lock-mode', 'COMPLIANCE', false],
    ['StringEquals', 's3:object-lock-mode', 'GOVERNANCE', false],
    ['StringEquals', 's3:object-lock-mode', 'COMPLIANCE', true],
    ['NumericGreaterThan', 's3:object-lock-remaining-retention-days', '9', false],
    ['NumericGreaterThan', 's3:object-lock-remaining-retention-days', '10', true],
    ['DateGreaterThan', 's3:object-lock-retain-until-date', '2026-01-05T00:00:00Z', false],
    ['DateGreaterThan', 's3:object-lock-retain-until-date', '2026-02-05T00:00:00Z', true],
  ])('Deny if %s %s %s', async (operator, key, value, isAllowed) => {
    const world = await World.begun();
    await world.put();
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:PutObjectRetention' };
    const condition = { [operator]: { [key]: value } };
    const Statement = [{ ...statement, Resource: 'arn:aws:s3:::bucket/*', Condition: condition }];
    const body = JSON.stringify({ Version: '2012-10-17', Statement });
    expect((await world.send({ method: 'PUT', path: '/bucket', query: 'policy', body })).status).toBe(204);
    const until = new Date(world.clock.time + 10 * day).toISOString();
    const document = `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`;
    const change = await world.send({ method: 'PUT', path: '/bucket/key', query: 'retention', body: document });
    expect(change.status).toBe(isAllowed ? 200 : 403);
    const headers = {
      'content-md5': 'ndTkYSaMgDT1yFZOFVxnpg==',
      'x-amz-object-lock-mode': 'GOVERNANCE',
      'x-amz-object-lock-retain-until-date': until,
    };
    const put = await world.send({ method: 'PUT', path: '/bucket/new', body: 'x', headers });
    expect(put.status).toBe(isAllowed ? 200 : 403);
  });

  it('know the legal hold', async () => {
    const world = await World.begun();
    await world.put();
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:PutObjectLegalHold' };
    const condition = { StringEquals: { 's3:object-lock-legal-hold': 'OFF' } };
    const Statement = [{ ...statement, Resource: 'arn:aws:s3:::bucket/*', Condition: condition }];
    const body = JSON.stringify({ Version: '2012-10-17', Statement });
    await world.send({ method: 'PUT', path: '/bucket', query: 'policy', body });
    const hold = (status: string) =>
      world.send({
        ...{ method: 'PUT', path: '/bucket/key', query: 'legal-hold' },
        body: `<LegalHold><Status>${status}</Status></LegalHold>`,
      });
    expect((await hold('ON')).status).toBe(200);
    expect(await hold('OFF')).toEqual(locked);
  });

  it('hide a lock from those who may read the object only', async () => {
    const world = await World.begun();
    await world.put('GOVERNANCE', 'ON');
    const Action = ['s3:GetObjectRetention', 's3:GetObjectLegalHold'];
    const Statement = [{ Effect: 'Deny', Principal: '*', Action, Resource: 'arn:aws:s3:::bucket/*' }];
    const headers = async (): Promise<unknown> => {
      const { header } = await world.send({ method: 'HEAD', path: '/bucket/key' });
      return ['mode', 'retain-until-date', 'legal-hold'].map((name) => header(`x-amz-object-lock-${name}`));
    };
    const until = new Date(world.clock.time + hour).toISOString().replace('.000', '');
    expect(await headers()).toEqual(['GOVERNANCE', until, 'ON']);
    const body = JSON.stringify({ Version: '2012-10-17', Statement });
    await world.send({ method: 'PUT', path: '/bucket', query: 'policy', body });
    expect(await headers()).toEqual([undefined, undefined, undefined]);
  });
});

describe('the clock of locks', () => {
  it('does not free what is locked because the clock of the machine has jumped forward, and again when it is set right', async () => {
    const world = await World.begun();
    const id = await world.put('COMPLIANCE');
    await world.keepTime();
    const right = world.clock.time;
    world.clock.time += 365 * day;
    expect(await world.remove(id)).toEqual(locked);
    await world.keepTime();
    expect(await world.remove(id)).toEqual(locked);
    world.clock.time = right;
    await world.keepTime();
    await world.live(2 * hour);
    expect(await world.remove(id)).toEqual(gone);
  });

  it('goes on after a jump, by the time that passes', async () => {
    const world = await World.begun();
    const id = await world.put('COMPLIANCE');
    world.clock.time += 365 * day;
    await world.live(2 * hour);
    expect(await world.remove(id)).toEqual(locked);
    await world.live(hour);
    expect(await world.remove(id)).toEqual(gone);
  });

  it('believes a machine that was off for some days', async () => {
    const world = await World.begun();
    const id = await world.put('COMPLIANCE');
    world.clock.time += 13 * day;
    expect(await world.remove(id)).toEqual(gone);
  });

  it('never goes back, and a default retention begins by the later clock', async () => {
    const world = await World.begun();
    const rule =
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>' +
      '<Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>';
    await world.send({ method: 'PUT', path: '/bucket', query: 'object-lock', body: rule });
    await world.live(2 * day);
    const now = world.clock.time;
    world.clock.time -= 30 * 365 * day;
    const id = await world.put();
    expect((await world.find(id))!.retention!.until).toBe(Math.floor((now + day) / 1000));
  });
});

describe('a table with locks', () => {
  it('is refused by the program before', async () => {
    const world = new World();
    const { table } = world.service;
    await claimLayout({ table, randomness });
    const before = { version: 2, leastReader: 2, leastWriter: 2 };
    await claimLayout({ table, randomness }, before);
    await world.send({ method: 'PUT', path: '/plain' });
    expect((await table.get(layoutKey))!['leastWriter']).toBe(2);
    const headers = { 'x-amz-bucket-object-lock-enabled': 'true' };
    await world.send({ method: 'PUT', path: '/bucket', headers });
    expect(await table.get(layoutKey)).toMatchObject({ version: 2, leastReader: 4, leastWriter: 4 });
    await claimLayout({ table, randomness }, before);
    expect(await table.get(layoutKey)).toMatchObject({ version: 2, leastReader: 4, leastWriter: 4 });
    expect(new LayoutTooNew(4, 3).message).toContain('layout 4');
  });
});
