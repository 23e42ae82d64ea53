import { Administration } from '../../../shared/accounts/administration.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { RequestRefused, type S3Address, type S3Endpoint } from '../../../shared/ports/s3-endpoint.ts';
import { byOperator, asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';
import type { ByteRate } from './byte-rate.ts';
import { importObjects } from './import-bucket.ts';
import type { Ledger } from './ledger.ts';
import type { MovingDeps } from './moving-service.ts';
import { localEndpoint } from './local-endpoint.ts';
import { copySettings, settingOf, versioningOf } from './settings.ts';

/** What is imported, and how. */
export interface Import {
  readonly deps: MovingDeps;
  readonly services: Services;
  readonly source: S3Endpoint;
  readonly address: S3Address;
  /** Owns the buckets that are created. Undefined: none are. */
  readonly project: string | undefined;
  /** The name of the bucket here, if it is another. */
  readonly as: string | undefined;
  readonly removes: boolean;
  readonly isTrial: boolean;
  readonly acls: boolean;
  /** Whether settings of buckets are copied. */
  readonly settings: boolean;
  readonly rate: ByteRate;
  readonly ledger: Ledger;
}

/** Copies what is missing here. @throws OperatorError for what is not about one object alone; run again, it goes on */
export async function importData(job: Import): Promise<void> {
  const { source, address } = job;
  const names = address.bucket === undefined ? await bucketsOf(source) : [address.bucket];
  for (const name of names) await importBucket(job, name);
}

async function bucketsOf(source: S3Endpoint): Promise<readonly string[]> {
  return source.buckets().catch((error: unknown) => {
    if (!(error instanceof RequestRefused)) throw error;
    throw new OperatorError(`cannot list the buckets of ${source.name}: ${error.code}: ${error.message}`);
  });
}

async function importBucket(job: Import, from: string): Promise<void> {
  const { source, services, address, removes, isTrial, acls, rate, ledger } = job;
  const name = job.as ?? from;
  const versioning = await versioningOf({ endpoint: source, bucket: from });
  const to = await bucketHere(job, name, versioning, await hasLock(source, from));
  if (to === undefined) {
    ledger.note('missing', { bucket: name }, 'there is no such bucket here');
    return;
  }
  await importObjects({
    ...{ endpoint: source, services, to, ledger, rate, removes, isTrial },
    acls: acls && !(await ignoresAcls(source, from)),
    listed: { endpoint: source, bucket: from, prefix: address.prefix, isVersioned: versioning !== undefined },
  });
  // After the objects, which neither rules of their lifecycle nor those about their events concern until they are here.
  if (address.prefix !== '' || !job.settings) return;
  const {
    deps,
    services: { projects },
  } = job;
  const owner = (await projects.project(to.project))!;
  const here = { endpoint: localEndpoint(services, owner, deps.randomness), bucket: name };
  await copySettings({ endpoint: source, bucket: from }, here, ledger, { isTrial });
}

/** Returns the bucket, with the versioning of the source; creates it if need be. Undefined: it is missing, and only looked for. */
async function bucketHere(
  { deps, services, project, isTrial }: Import,
  name: string,
  versioning: 'Enabled' | 'Suspended' | undefined,
  isLocked: boolean,
): Promise<Bucket | undefined> {
  const { buckets, settings } = services;
  let bucket = await buckets.find(name);
  if (isTrial) return bucket;
  if (bucket === undefined) {
    if (project === undefined) throw new OperatorError(`there is no bucket ${name} here: name its owner by --project`);
    const { id, bucketQuota = settings.limits.bucketsPerProject } = await new Administration(deps).project(project);
    const beginning = isLocked ? { objectLock: {} } : {};
    await buckets.create(byOperator, name, id, bucketQuota, beginning);
    bucket = await buckets.load(name);
  }
  const wanted = versioning === 'Enabled' ? 'on' : versioning === 'Suspended' ? 'suspended' : undefined;
  if (wanted === undefined || bucket.versioning === wanted) return bucket;
  await buckets.setVersioning(asService(bucket), wanted);
  return buckets.load(name);
}

async function hasLock(source: S3Endpoint, bucket: string): Promise<boolean> {
  const text = await settingOf({ endpoint: source, bucket }, 'object-lock');
  return text !== undefined && parsedXml(text).root.optional('ObjectLockEnabled')?.text === 'Enabled';
}

/** Tells whether the bucket has no ACLs that count. */
async function ignoresAcls(source: S3Endpoint, bucket: string): Promise<boolean> {
  const text = await settingOf({ endpoint: source, bucket }, 'ownershipControls');
  return text?.includes('BucketOwnerEnforced') === true;
}
