import { Administration } from '../../../shared/accounts/administration.ts';
import { checkBucketName } from '../../../shared/http/bucket-name.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { RequestRefused, type S3Endpoint } from '../../../shared/ports/s3-endpoint.ts';
import { byOperator, asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { copyBucket } from './copy-bucket.ts';
import { LocalDestination } from './local-destination.ts';
import { localEndpoint } from './local-endpoint.ts';
import type { Move } from './move.ts';
import { copySettings, hasLock, ignoresAcls, versioningOf, type BucketAt } from './settings.ts';

/** Copies what is missing here. @throws OperatorError for what is not about one object alone; run again, it goes on */
export async function importData(job: Move): Promise<void> {
  const { other: source, address } = job;
  const names = address.bucket === undefined ? await bucketsOf(source) : [address.bucket];
  for (const name of names) await importBucket(job, name);
}

async function bucketsOf(source: S3Endpoint): Promise<readonly string[]> {
  return source.buckets().catch((error: unknown) => {
    if (!(error instanceof RequestRefused)) throw error;
    throw new OperatorError(`cannot list the buckets of ${source.name}: ${error.code}: ${error.message}`);
  });
}

async function importBucket(job: Move, from: string): Promise<void> {
  const { other: source, services, address, removes, isTrial, acls, rate, ledger } = job;
  const name = job.bucketHere ?? from;
  if (!isBucketName(name)) {
    ledger.note(
      'missing',
      { bucket: from },
      'no bucket can have this name here: import it alone, with another by --bucket',
    );
    return;
  }
  const at: BucketAt = { endpoint: source, bucket: from };
  const versioning = await versioningOf(at);
  const owner = await projectOf(job);
  const present = await services.buckets.find(name);
  if (owner !== undefined && present !== undefined && present.project !== owner) {
    ledger.note(
      'missing',
      { bucket: name },
      'the bucket of this name here belongs to another project: name another by --bucket',
    );
    return;
  }
  const to = await bucketHere(job, name, versioning, await hasLock(at));
  if (to === undefined) {
    ledger.note('missing', { bucket: name }, 'there is no such bucket here');
    return;
  }
  await copyBucket({
    listed: { ...at, prefix: address.prefix, isVersioned: versioning !== undefined },
    to: new LocalDestination({
      ...{ endpoint: source, services, from, to, rate },
      acls: acls && !(await ignoresAcls(at)),
    }),
    ...{ ledger, removes, isTrial },
  });
  // After the objects, which neither rules of their lifecycle nor those about their events concern until they are here.
  if (address.prefix !== '' || !job.settings) return;
  const {
    deps,
    services: { projects },
  } = job;
  const project = (await projects.project(to.project))!;
  const here = { endpoint: localEndpoint(services, project, deps.randomness), bucket: name };
  await copySettings(at, here, ledger, { isTrial, clock: deps.clock });
}

function isBucketName(name: string): boolean {
  try {
    checkBucketName(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the id of the project that the buckets are to belong to; undefined: any. @throws OperatorError */
async function projectOf({ deps, project }: Move): Promise<string | undefined> {
  return project === undefined ? undefined : (await new Administration(deps).project(project)).id;
}

/** Returns the bucket, with the versioning of the source; creates it if need be. Undefined: it is missing, and only looked for. */
async function bucketHere(
  { deps, services, project, isTrial }: Move,
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
