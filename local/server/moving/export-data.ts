import { Administration } from '../../../shared/accounts/administration.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import { RequestRefused, type S3Address, type S3Request } from '../../../shared/ports/s3-endpoint.ts';
import { document, tag } from '../../../shared/documents/text.ts';
import { pages } from '../../../shared/storage/table/pages.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';
import { copyBucket } from './copy-bucket.ts';
import { ownerOf } from './grants.ts';
import { localEndpoint } from './local-endpoint.ts';
import type { Move } from './move.ts';
import { S3Destination } from './s3-destination.ts';
import { copySettings, hasLock, ignoresAcls, settingOf, versioningOf, type BucketAt } from './settings.ts';

/** Copies what is missing at the target. @throws OperatorError for what is not about one object alone; run again, it goes on */
export async function exportData(job: Move): Promise<void> {
  const { address, bucketHere, services } = job;
  if (address.bucket !== undefined) {
    const name = bucketHere ?? address.bucket;
    const bucket = await services.buckets.find(name);
    if (bucket === undefined) throw new OperatorError(`there is no bucket ${name} here`);
    return exportBucket(job, name, address.bucket);
  }
  for (const name of await bucketsHere(job)) await exportBucket(job, name, name);
}

async function bucketsHere({ deps, services, project }: Move): Promise<readonly string[]> {
  const administration = new Administration(deps);
  const names: string[] = [];
  for await (const { id } of project === undefined
    ? everyProject(administration)
    : [await administration.project(project)]) {
    for (let after: string | undefined, more = true; more;) {
      const page = await services.buckets.ownedBy(id, { limit: 1000, ...(after !== undefined && { after }) });
      names.push(...page.buckets.map(({ name }) => name));
      after = names.at(-1);
      more = page.more;
    }
  }
  return names;
}

async function* everyProject(administration: Administration): AsyncGenerator<{ readonly id: string }> {
  for await (const { projects } of pages((after) => administration.projectPage({ after, limit: 1000 })))
    yield* projects;
}

async function exportBucket(job: Move, name: string, as: string): Promise<void> {
  const { deps, services, other: target, address, removes, isTrial, rate, ledger } = job;
  const { project } = await services.buckets.load(name);
  const owner = (await services.projects.project(project))!;
  const source: BucketAt = { endpoint: localEndpoint(services, owner, deps.randomness), bucket: name };
  const to: BucketAt = { endpoint: target, bucket: as };
  const versioning = await versioningOf(source);
  if (!(await isThere(to))) {
    if (isTrial) {
      ledger.note('missing', { bucket: as }, 'there is no such bucket there');
      return;
    }
    await create(source, to, address);
  }
  const former = await versioningOf(to);
  // Versions are kept while it is on only: a suspended bucket would replace its null versions.
  if (versioning !== undefined && former !== 'Enabled' && !isTrial) await setVersioning(to, 'Enabled', deps.clock);
  const acls = job.acls && !(await ignoresAcls(source));
  const acl = acls && !(await ignoresAcls(to)) ? await settingOf(to, 'acl') : undefined;
  const destination = new S3Destination({
    ...{ source, target: to, rate, clock: deps.clock },
    isVersioned: versioning !== undefined || former !== undefined,
    isLocked: await hasLock(to),
    acls,
    owner: acl === undefined ? undefined : ownerOf(parsedXml(acl).root),
  });
  const listed = { ...source, prefix: address.prefix, isVersioned: versioning !== undefined };
  await copyBucket({ listed, to: destination, ledger, removes, isTrial });
  const { nulls, withoutChecksum } = destination;
  if (nulls > 0) {
    const what =
      nulls === 1 ? '1 null version has a version id there' : `${nulls} null versions have version ids there`;
    ledger.note('changed', { bucket: as }, what);
  }
  if (withoutChecksum > 0) {
    const what = `${withoutChecksum.toLocaleString('en')} of its objects are without their checksums, which the target does not keep`;
    ledger.note('changed', { bucket: as }, what);
  }
  if (versioning === 'Suspended' && !isTrial) await setVersioning(to, 'Suspended', deps.clock);
  if (address.prefix === '' && job.settings) await copySettings(source, to, ledger, { isTrial, clock: deps.clock });
}

/** @throws OperatorError if it is there, but not for these credentials */
async function isThere(to: BucketAt): Promise<boolean> {
  try {
    await to.endpoint.send({ method: 'HEAD', bucket: to.bucket });
    return true;
  } catch (error) {
    if (error instanceof RequestRefused && error.status === 404) return false;
    throw refused('use', to, error);
  }
}

/** Creates a bucket with what can be set only then, or only then without a moment of another state. @throws OperatorError */
async function create(source: BucketAt, to: BucketAt, { endpoint, region }: S3Address): Promise<void> {
  const ownership = (await settingOf(source, 'ownershipControls')) ?? '';
  const rule = /<ObjectOwnership>(\w+)</.exec(ownership)?.[1];
  // Only AWS's own regions must be named.
  const isElsewhere = endpoint === undefined && region !== undefined && region !== 'us-east-1';
  const place = document('CreateBucketConfiguration', namespace, tag('LocationConstraint', region ?? ''));
  await setting(to, 'create', {
    fields: {
      ...(rule !== undefined && { 'x-amz-object-ownership': rule }),
      ...((await hasLock(source)) && { 'x-amz-bucket-object-lock-enabled': 'true' }),
    },
    ...(isElsewhere && { body: Buffer.from(place) }),
  });
}

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** The pauses, in seconds, after which a bucket is asked again for its versioning: AWS may tell it late. */
const pauses = [1, 2, 4];

/** @throws OperatorError also if the target accepts it, and does not keep versions */
async function setVersioning(to: BucketAt, status: 'Enabled' | 'Suspended', clock: Clock): Promise<void> {
  const body = Buffer.from(document('VersioningConfiguration', namespace, tag('Status', status)));
  await setting(to, 'set the versioning of', { query: { versioning: '' }, body });
  for (const pause of pauses) {
    if ((await versioningOf(to)) === status) return;
    await clock.sleep(pause * second);
  }
  if ((await versioningOf(to)) === status) return;
  // Each version would replace the one before.
  throw new OperatorError(`${to.endpoint.name} accepts versions in ${to.bucket}, but does not keep them`);
}

/** @throws OperatorError */
async function setting(
  to: BucketAt,
  doing: string,
  request: Pick<S3Request, 'query' | 'fields' | 'body'>,
): Promise<void> {
  try {
    await to.endpoint.send({ ...request, method: 'PUT', bucket: to.bucket });
  } catch (error) {
    throw refused(doing, to, error);
  }
}

function refused(doing: string, { endpoint, bucket }: BucketAt, error: unknown): unknown {
  if (!(error instanceof RequestRefused)) return error;
  return new OperatorError(`cannot ${doing} ${bucket} of ${endpoint.name}: ${error.code}: ${error.message}`);
}
