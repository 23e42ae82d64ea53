import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { second } from '../../../shared/ports/durations.ts';
import { RequestRefused, type S3Endpoint } from '../../../shared/ports/s3-endpoint.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';
import { grantFields, groupsOf, ownerOf } from './grants.ts';
import type { Ledger } from './ledger.ts';
import { documentIn, essence } from './setting-documents.ts';
import { wholeOf } from './source-listing.ts';
import { isOfCredentials, mayPassLater, refusalOf } from './source-version.ts';

const maxSetting = 1024 * 1024;
/** The pauses, in seconds, after which a setting is looked for again that was set. */
const pauses = [1, 2];

/** The settings of buckets, by their subresources, with the roots of their documents; a policy is JSON. In an order in which each is accepted. */
const documents = {
  ownershipControls: 'OwnershipControls',
  publicAccessBlock: 'PublicAccessBlockConfiguration',
  encryption: 'ServerSideEncryptionConfiguration',
  tagging: 'Tagging',
  cors: 'CORSConfiguration',
  website: 'WebsiteConfiguration',
  'object-lock': 'ObjectLockConfiguration',
  policy: undefined,
  lifecycle: 'LifecycleConfiguration',
  notification: 'NotificationConfiguration',
} as const;
/** What else is read of a bucket. */
const roots = { ...documents, acl: 'AccessControlPolicy' } as const;
type Setting = keyof typeof roots;

/** A bucket of an S3. */
export interface BucketAt {
  readonly endpoint: S3Endpoint;
  readonly bucket: string;
}

/**
 * Sets a bucket as another one is set, as far as the service of the bucket accepts that.
 * @param options.isTrial only notes what differs
 */
export async function copySettings(
  from: BucketAt,
  to: BucketAt,
  ledger: Ledger,
  { isTrial, clock }: { readonly isTrial: boolean; readonly clock: Clock },
): Promise<void> {
  for (const name of Object.keys(documents) as (keyof typeof documents)[]) {
    const [wanted, present] = [await settingOf(from, name, ledger), await settingOf(to, name)];
    const isThere = (text: string | undefined): text is string => text !== undefined && !isEmpty(text);
    if (!isThere(wanted)) {
      if (isThere(present)) ledger.note('extra', { bucket: to.bucket }, `its ${name} is only there`);
    } else if (present === undefined || essence(wanted) !== essence(present)) {
      const set = (): Promise<unknown> => put(to, name, Buffer.from(wanted));
      const isSet = await carryOut(set, `its ${name}`, to, ledger, isTrial);
      if (isSet) await examine(to, name, wanted, ledger, clock);
    }
  }
  await copyAcl(from, to, ledger, isTrial);
}

/**
 * Returns a setting of a bucket; undefined if it has none, or if there is no such setting.
 * @param ledger notes a setting that may not be read
 * @param onRefusal called if it cannot be read; may throw
 */
export async function settingOf(
  { endpoint, bucket }: BucketAt,
  name: Setting,
  ledger?: Ledger,
  onRefusal?: (error: RequestRefused) => void,
): Promise<string | undefined> {
  try {
    const { bytes } = await endpoint.send({ method: 'GET', bucket, query: { [name]: '' } });
    const text = (await wholeOf(bytes, maxSetting)).toString();
    return documentIn(text, roots[name]);
  } catch (error) {
    if (error instanceof S3Error) {
      ledger?.note('missing', { bucket }, `its ${name} makes no sense: ${error.message}`);
      return undefined;
    }
    if (!(error instanceof RequestRefused)) throw error;
    if (isOfCredentials(error)) throw refusalOf(error);
    onRefusal?.(error);
    if (![404, 405, 501].includes(error.status)) ledger?.note('missing', { bucket }, `its ${name}: ${error.code}`);
    return undefined;
  }
}

/**
 * Looks whether a setting is there that a service has accepted. Ceph takes those that it does not know for a request to create the bucket, which
 * is there; AWS may show one some seconds later.
 */
async function examine(
  to: BucketAt,
  name: keyof typeof documents,
  wanted: string,
  ledger: Ledger,
  clock: Clock,
): Promise<void> {
  let present: string | undefined;
  for (const pause of [0, ...pauses]) {
    if (pause > 0) await clock.sleep(pause * second);
    present = await settingOf(to, name);
    if (present !== undefined && essence(present) === essence(wanted)) return;
  }
  ledger.settings -= 1;
  const [kind, what] =
    present === undefined
      ? (['missing', `its ${name} was accepted, but is not there`] as const)
      : (['changed', `its ${name} is not there as it was sent`] as const);
  ledger.note(kind, { bucket: to.bucket }, what);
}

/**
 * Returns the versioning of a bucket; undefined if it never had any, or its service knows none.
 * @throws OperatorError if it cannot be read, as for a bucket that is missing
 */
export async function versioningOf({ endpoint, bucket }: BucketAt): Promise<'Enabled' | 'Suspended' | undefined> {
  try {
    const { bytes } = await endpoint.send({ method: 'GET', bucket, query: { versioning: '' } });
    const status = parsedXml(await wholeOf(bytes, maxSetting)).root.optional('Status')?.text;
    return status === 'Enabled' || status === 'Suspended' ? status : undefined;
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    if (error.status === 501 || error.status === 405) return undefined;
    throw new OperatorError(`cannot read ${bucket} of ${endpoint.name}: ${error.code}: ${error.message}`);
  }
}

/**
 * Tells whether a bucket has object lock.
 * @throws OperatorError if its service is too busy to tell: a bucket that is created without keeps no lock of its objects
 */
export async function hasLock(at: BucketAt): Promise<boolean> {
  const text = await settingOf(at, 'object-lock', undefined, (error) => {
    if (!mayPassLater(error)) return;
    throw new OperatorError(
      `cannot read the object lock of ${at.bucket} of ${at.endpoint.name}: ${error.code}: ${error.message}`,
    );
  });
  return text !== undefined && parsedXml(text).root.optional('ObjectLockEnabled')?.text === 'Enabled';
}

/** Tells whether the bucket has no ACLs that count. */
export async function ignoresAcls(at: BucketAt): Promise<boolean> {
  const text = await settingOf(at, 'ownershipControls');
  return text?.includes('BucketOwnerEnforced') === true;
}

function put({ endpoint, bucket }: BucketAt, name: Setting, body: Uint8Array): Promise<unknown> {
  return endpoint.send({ method: 'PUT', bucket, query: { [name]: '' }, body });
}

/** @returns whether it is carried out */
async function carryOut(
  set: () => Promise<unknown>,
  what: string,
  { bucket }: BucketAt,
  ledger: Ledger,
  isTrial: boolean,
): Promise<boolean> {
  if (isTrial) {
    ledger.note('missing', { bucket }, `${what} differs`);
    return false;
  }
  try {
    await set();
    ledger.settings += 1;
    return true;
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    ledger.note('missing', { bucket }, `${what} is refused: ${error.code}: ${error.message}`);
    return false;
  }
}

/** Copies grants to groups: accounts of another store are nobody here. */
async function copyAcl(from: BucketAt, to: BucketAt, ledger: Ledger, isTrial: boolean): Promise<void> {
  const [theirs, own] = [await settingOf(from, 'acl', ledger), await settingOf(to, 'acl')];
  if (theirs === undefined) return;
  const wanted = parsedXml(theirs).root;
  if (own === undefined) {
    if (groupsOf(wanted).length > 0) ledger.note('missing', { bucket: to.bucket }, 'its ACL, as there are none');
    return;
  }
  const present = parsedXml(own).root;
  const { fields, others } = grantFields(wanted, ownerOf(present));
  if (others > 0) {
    const what = `without ${others} of its grants, which are to accounts of the source`;
    ledger.note('changed', { bucket: to.bucket }, what);
  }
  if (groupsOf(wanted).join() === groupsOf(present).join()) return;
  const set = (): Promise<unknown> =>
    to.endpoint.send({ method: 'PUT', bucket: to.bucket, query: { acl: '' }, fields });
  await carryOut(set, 'its ACL', to, ledger, isTrial);
}

/** Tells whether a document sets nothing, as that of notifications without rules. */
function isEmpty(text: string): boolean {
  return text.trimStart().startsWith('<') && parsedXml(text).root.children.length === 0;
}
