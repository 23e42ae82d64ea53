import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  PutBucketPolicyCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  type ObjectLockRetentionMode,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import type { Key } from '../support/clients/signer.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import {
  lockedOperations,
  lockMatrix,
  lockStates,
  type LockedOperation,
  type LockState,
} from '../support/storage/lock-matrix.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';

/** Every request to a version × what locks it × who asks × whether they ask to bypass governance: docs/object-lock.md has the table. */

const service = serviceUnderTest({ alone: true });
const hour = 3_600_000;
const now = Math.floor(Date.now() / 1000) * 1000;
const [earlier, until, later] = [1, 2, 3].map((hours) => new Date(now + hours * hour));
const modes = { governance: 'GOVERNANCE', compliance: 'COMPLIANCE', 'governance and hold': 'GOVERNANCE' } as const;

/** Keys begin with what a stranger may do to them by the policy of the bucket. */
const callers = [
  { who: 'the owner', prefix: 'own', isStranger: false, mayBypass: true },
  { who: 'a stranger with the right to the operation', prefix: 'plain', isStranger: true, mayBypass: false },
  { who: 'a stranger who may bypass governance, too', prefix: 'bypass', isStranger: true, mayBypass: true },
] as const;

let bucket: string;
beforeAll(async () => {
  bucket = bucketName();
  await service.client.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: true }));
  const Principal = '*';
  const objects = (prefix: string): string => `arn:aws:s3:::${bucket}/${prefix}*`;
  const Statement = [
    { Effect: 'Allow', Principal, Action: 's3:*', Resource: [objects('plain'), objects('bypass')] },
    // A policy that denies the right to bypass leaves all other rights.
    { Effect: 'Deny', Principal, Action: 's3:BypassGovernanceRetention', Resource: objects('plain') },
  ];
  await service.client.send(
    new PutBucketPolicyCommand({ Bucket: bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
  );
});

/** A version, and what is known of its lock. */
interface Locked {
  readonly Key: string;
  readonly VersionId: string;
  readonly mode: ObjectLockRetentionMode | undefined;
}

let count = 0;
async function locked(prefix: string, state: LockState): Promise<Locked> {
  const Key = `${prefix}-${(count += 1)}`;
  const mode = state in modes ? modes[state as keyof typeof modes] : undefined;
  const retention = mode && { ObjectLockMode: mode, ObjectLockRetainUntilDate: until! };
  const hold = state.endsWith('hold') ? ({ ObjectLockLegalHoldStatus: 'ON' } as const) : {};
  const { VersionId } = await put(service.client, bucket, Key, 'content', { ...retention, ...hold });
  return { Key, VersionId: VersionId!, mode };
}

/** Carries out an operation. Rejects with the error of S3 if it is refused. */
async function ask(
  client: S3Client,
  key: Key,
  operation: LockedOperation,
  version: Locked,
  bypass: boolean,
): Promise<void> {
  const { Key, VersionId, mode } = version;
  const of = { Bucket: bucket, Key, VersionId };
  const Bypass = { ...(bypass && { BypassGovernanceRetention: true }) };
  const retain = (Mode?: ObjectLockRetentionMode, RetainUntilDate?: Date) =>
    client.send(new PutObjectRetentionCommand({ ...of, ...Bypass, Retention: { Mode, RetainUntilDate } }));
  const other = mode === 'GOVERNANCE' ? 'COMPLIANCE' : 'GOVERNANCE';
  switch (operation) {
    case 'DeleteObject of the version':
      return void (await client.send(new DeleteObjectCommand({ ...of, ...Bypass })));
    case 'DeleteObjects with the version': {
      const Delete = { Objects: [{ Key, VersionId }] };
      const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete, ...Bypass }));
      if (Errors?.[0] !== undefined) throw Object.assign(new Error(Errors[0].Message), { name: Errors[0].Code });
      return;
    }
    case 'DeleteObject of the key':
      return void (await client.send(new DeleteObjectCommand({ Bucket: bucket, Key, ...Bypass })));
    case 'PutObject over it':
      return void (await put(client, bucket, Key, 'newer'));
    case 'RenameObject': {
      const headers = { 'x-amz-rename-source': `/${bucket}/${Key}` };
      const request = { method: 'PUT', path: `/${bucket}/${Key}-renamed`, query: 'renameObject=', headers };
      const { status, text } = await service.send(request, { key });
      expect(status, text).toBe(200);
      return;
    }
    case 'PutObjectRetention with a later date':
      return void (await retain(mode ?? 'GOVERNANCE', later));
    case 'PutObjectRetention with an earlier date':
      return void (await retain(mode ?? 'GOVERNANCE', earlier));
    case 'PutObjectRetention with the other mode':
      return void (await retain(other, until));
    case 'PutObjectRetention with nothing':
      return void (await retain());
    case 'PutObjectLegalHold OFF':
      return void (await client.send(new PutObjectLegalHoldCommand({ ...of, LegalHold: { Status: 'OFF' } })));
  }
}

/** The lock of a version, as the owner sees it. */
async function lockOf({ Key, VersionId }: Locked): Promise<unknown> {
  const of = { Bucket: bucket, Key, VersionId };
  const none = (error: Error): undefined => {
    expect(error.name).toBe('NoSuchObjectLockConfiguration');
  };
  const retention = await service.client.send(new GetObjectRetentionCommand(of)).catch(none);
  const hold = await service.client.send(new GetObjectLegalHoldCommand(of)).catch(none);
  return { retention: retention?.Retention, hold: hold?.LegalHold };
}

const isThere = async ({ Key, VersionId }: Locked): Promise<boolean> =>
  (await versionsOf(service.client, bucket)).some(({ key, id }) => key === Key && id === VersionId);

/** Operations after which the version is gone, if they are carried out. */
const removes: readonly LockedOperation[] = [
  'DeleteObject of the version',
  'DeleteObjects with the version',
  'RenameObject',
];

/** Operations of which the header is a part. */
const takesHeader = lockedOperations.filter((name) => /^DeleteObject.* the version$|^PutObjectRetention/.test(name));

describe.each(lockStates)('a version protected by %s', (state) => {
  it.each(lockedOperations)(
    'yields to %s of whom the table names, and stays as it is for all others',
    async (operation) => {
      const yields = lockMatrix[operation][state];
      for (const { who, prefix, isStranger, mayBypass } of callers) {
        for (const bypass of [false, true]) {
          const what = `${who}, ${bypass ? 'with' : 'without'} the header`;
          const [client, key] = isStranger ? [service.stranger, service.bob] : [service.client, service.alice];
          const version = await locked(prefix, state);
          const before = await lockOf(version);
          const error = await ask(client, key, operation, version, bypass).then(
            () => undefined,
            (reason: Error) => reason,
          );
          // Whoever asks to bypass what they may not is refused, even where nothing would have to be bypassed.
          const isAbove = bypass && !mayBypass && takesHeader.includes(operation);
          const isAllowed = !isAbove && (yields === 'yes' || (yields === 'bypass' && bypass));
          expect(error?.name, what).toBe(isAllowed ? undefined : 'AccessDenied');
          const isGone = isAllowed && removes.includes(operation);
          if (operation !== 'RenameObject') expect(await isThere(version), what).toBe(!isGone);
          if (isGone) continue;
          expect(await read(service.client, bucket, version.Key, version.VersionId), what).toBe('content');
          if (!isAllowed || operation.startsWith('DeleteObject of the key'))
            expect(await lockOf(version), what).toEqual(before);
        }
      }
    },
  );
});
