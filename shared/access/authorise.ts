import { grants, type Acl } from './acl.ts';
import type { Caller, Privilege } from './identity.ts';
import { needOf, writing } from './rights.ts';

/** What an operation asks before it acts. DeleteObjects asks once per key, CopyObject about source and target. */
export interface Question {
  /** The policy action without its namespace: `GetObject`, `ListBucket`. */
  readonly action: string;
  /** Absent for questions about the service itself: CreateBucket, ListAllMyBuckets. */
  readonly bucket?: string;
  readonly key?: string;
  readonly versionId?: string;
  readonly uploadId?: string;
  /** What a listing is limited to, for ListBucket that is asked about a single key; else the request says it. */
  readonly prefix?: string;
  /** It is about the object that this request makes, not about one that is there: whoever may put it may say what it is to be. */
  readonly isNew?: true;
  /** It is about keys that are not known yet, each of which will be asked about: no is the answer only if it must be no for all of them. */
  readonly anyKey?: true;
  /** Whoever has got this far may do it, unless a policy denies it. */
  readonly unlessDenied?: true;
}

/** Who owns something, by canonical id, and whom they let do what with it. */
export interface Owned {
  readonly owner: string;
  acl(): Promise<Acl>;
}

/** As {@link Owned}, for a version. */
export interface OwnedVersion extends Owned {
  /** It is a delete marker: it has an owner, and nothing that could be read or described. */
  readonly marker: boolean;
}

/** What authorisation may have to know. Each is a read or more, so each is asked only when nothing before it has decided. */
export interface Evidence {
  /** What the bucket's policy says of the question. */
  policy(): Promise<'allow' | 'deny' | 'none'>;
  /** Whether the policy leaves its own bucket's owner the right to read, replace and remove it. */
  sparesOwner(): Promise<boolean>;
  /** The version that the question is about; undefined if there is none. */
  version(): Promise<OwnedVersion | undefined>;
  /** The canonical id of the project that began the upload which the question is about. */
  initiator(): Promise<string | undefined>;
  /** Whether the bucket's policy allows anything to people who say not who they are, on some condition or none. */
  allowsAnonymous(): Promise<boolean>;
  /** Whether the caller may list the key that the question is about. */
  mayList(): Promise<boolean>;
}

/** What a bucket's owner can always do, or one wrong policy would lock the bucket for good. */
const policyActions: ReadonlySet<string> = new Set(['GetBucketPolicy', 'PutBucketPolicy', 'DeleteBucketPolicy']);

/**
 * Authorisation: whether a caller may do what an operation asks for.
 *
 * In this order: a policy's Deny; a policy's Allow; ownership, where every user of the project that owns a bucket has full
 * control of it and of all that is in it, and every user of the project that owns a version has full control of that; the ACL.
 *
 * A policy's Allow does not speak for versions that belong to others than the bucket's owner:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-alternatives-guidelines.html
 *
 * That something is missing may be known by whoever may list the bucket with its key as the prefix. To all others it looks as if
 * they had no right to it. A delete marker counts as missing, but for those who would remove it for good: it has an owner, like
 * any version.
 *
 * @param bucket undefined: the question is about the service
 */
export async function mayDo(
  caller: Caller,
  question: Question,
  bucket: Owned | undefined,
  evidence: Evidence,
): Promise<boolean> {
  const need = question.isNew ? writing : needOf(question.action);
  if (need.on === 'service') return need.by === 'everybody' || caller.kind === 'user';
  if (bucket === undefined) return false;

  const owns = isOf(caller, bucket.owner);
  if (need.on === 'owner') return owns && (need.privilege === undefined || hasPrivilege(caller, need.privilege));
  if (question.anyKey) return mayDoAny(caller, bucket, evidence);
  const verdict = await evidence.policy();
  if (verdict === 'deny') return owns && policyActions.has(question.action) && (await evidence.sparesOwner());
  if (owns || question.unlessDenied) return true;

  const isAllowed = verdict === 'allow';
  switch (need.on) {
    case 'bucket':
      if (need.permission === 'none') return isAllowed && need.orPolicy;
      return isAllowed || grants(await bucket.acl(), caller, need.permission);
    case 'upload': {
      if (isAllowed) return true;
      const initiator = await evidence.initiator();
      if (initiator !== undefined) return isOf(caller, initiator);
      return grants(await bucket.acl(), caller, 'WRITE') || evidence.mayList();
    }
    case 'object': {
      const version = await evidence.version();
      if (version === undefined || (version.marker && need.markers !== 'as versions')) return evidence.mayList();
      if (isAllowed && version.owner === bucket.owner) return true;
      if (isOf(caller, version.owner)) return true;
      if (need.orBucket && grants(await bucket.acl(), caller, need.orBucket)) return true;
      return need.permission !== 'none' && grants(await version.acl(), caller, need.permission);
    }
  }
}

/** Everybody with a key may own something in any bucket. */
async function mayDoAny(caller: Caller, bucket: Owned, evidence: Evidence): Promise<boolean> {
  if (caller.kind === 'user') return true;
  const acl = await bucket.acl();
  return grants(acl, caller, 'WRITE') || grants(acl, caller, 'READ') || evidence.allowsAnonymous();
}

function hasPrivilege(caller: Caller, privilege: Privilege): boolean {
  return caller.kind === 'user' && caller.privileges.includes(privilege);
}

function isOf(caller: Caller, project: string): boolean {
  return caller.kind === 'user' && caller.project.id === project;
}
