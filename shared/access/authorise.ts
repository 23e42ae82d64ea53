import { grants, isPublicGrant, type Acl, type Permission } from './acl.ts';
import type { IdentityVerdict } from './identity-rights.ts';
import type { Caller, Privilege } from './identity.ts';
import type { ConditionKey } from './policy-keys.ts';
import type { Grants, TrustPolicy } from './policies/policy.ts';
import { needOf, writing, type Action } from './rights.ts';

/**
 * A question that an operation asks before it acts. DeleteObjects asks one per key, CopyObject one about the source and
 * one about the target.
 */
export interface Question {
  /** The policy action without its namespace. */
  readonly action: Action;
  /** Absent for CreateBucket and ListAllMyBuckets, which concern the service itself. */
  readonly bucket?: string;
  /** The ARN of what is neither a bucket nor an object. */
  readonly resource?: string;
  /** The role that it is about, which is to be assumed. */
  readonly role?: TrustingRole;
  /** The name of a bucket to create. */
  readonly newBucket?: string;
  readonly key?: string;
  readonly versionId?: string;
  readonly uploadId?: string;
  /**
   * What the operation will do, by the condition keys that name it. A field or a parameter that the operation ignores is
   * not among them: a policy judges what happens, not what else was sent.
   */
  readonly facts?: StatedFacts;
  /** Returns further facts, which only the document has. Called when a policy asks for them. */
  documentFacts?(): Promise<StatedFacts>;
  /** Returns the tags that the operation will set. */
  tags?(): Tags | Promise<Tags>;
  /**
   * The question is about the object that this request creates: permission to put the object includes permission to set
   * its properties.
   */
  readonly isNew?: true;
  /**
   * The question is about keys that are not known yet and are authorised one by one later: the answer is no only if it
   * must be no for every key.
   */
  readonly anyKey?: true;
  /** Allowed to every caller that reaches this point, unless a policy denies it. */
  readonly unlessDenied?: true;
}

/** A role, and whom it trusts. */
export interface TrustingRole {
  /** The project that it is of, by its canonical id. */
  readonly project: string;
  readonly trust: TrustPolicy;
  /** Whose token the caller has, who has no key: the ARN of an OpenID Connect provider, and the claims of the token as condition keys. */
  readonly token?: { readonly provider: string; readonly claims: ReadonlyMap<string, readonly string[]> };
}

/** Values of condition keys that an operation states, where it has one. */
export type StatedFacts = Readonly<Partial<Record<ConditionKey, string | undefined>>>;

type Tags = readonly (readonly [key: string, value: string])[];

/** A resource's owner, by canonical id, and its ACL. */
export interface Owned {
  readonly owner: string;
  acl(): Promise<Acl>;
}

/** A version's owner and ACL. */
export interface OwnedVersion extends Owned {
  /** The version is a delete marker: it has an owner, but nothing to read or describe. */
  readonly marker: boolean;
}

/**
 * The facts that authorisation may need. Each costs at least one read, so it is looked up only when nothing before it
 * has decided.
 */
export interface Evidence {
  /** Returns what a user's own policies say about the question. Never a promise for users with full access. */
  identity(): IdentityVerdict | Promise<IdentityVerdict>;
  /** Returns the bucket policy's verdict on the question, by these of its statements that allow something. */
  policy(grants: Grants): 'none' | Promise<'allow' | 'deny' | 'none'>;
  /** Returns the verdict of the trust policy of the role that the question is about. */
  trust(grants: Grants): Promise<'allow' | 'deny' | 'none'>;
  /** Tells whether the policy leaves the bucket's owner the right to read, replace and delete it. */
  sparesOwner(): Promise<boolean>;
  /** Returns the version that the question is about, or undefined if it does not exist. */
  version(): Promise<OwnedVersion | undefined>;
  /** Returns the canonical id of the project that initiated the upload that the question is about. */
  initiator(): Promise<string | undefined>;
  /** Tells whether the bucket's policy allows anything to anonymous callers, conditionally or not. */
  allowsAnonymous(): Promise<boolean>;
  /** Tells whether the caller may list the key that the question is about. */
  mayList(): Promise<boolean>;
}

/** Actions that a bucket's owner keeps despite a Deny; otherwise one wrong policy would lock the bucket for good. */
const policyActions: ReadonlySet<string> = new Set(['GetBucketPolicy', 'PutBucketPolicy', 'DeleteBucketPolicy']);

/**
 * Tells whether a caller may do what an operation asks for.
 *
 * A user's own policies come first. What they deny is denied. What they allow is allowed as far as it is to the user's project, by the rules
 * below. What they do not mention is allowed only in the project's own buckets, and there as to a stranger: by a policy that names the user or
 * everybody, or by an ACL that grants it to everybody. What their boundary does not allow is allowed there by a policy that names the user alone
 * (docs/adr/0080-identity-policies.md).
 *
 * Checks in this order: a bucket policy's Deny; its Allow; ownership, which gives every user of the project that owns a
 * bucket full control of the bucket and everything in it, and every user of the project that owns a version full
 * control of that version; the ACL.
 *
 * A policy's Allow does not cover versions that the bucket's owner does not own:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-alternatives-guidelines.html
 *
 * A caller learns that a version is missing only with permission to list the bucket with its key as the prefix;
 * otherwise access is denied. A delete marker counts as missing except when it is to be deleted permanently: it has an
 * owner, like any version.
 *
 * @param bucket undefined if the question is about the service
 */
export async function mayDo(
  caller: Caller,
  question: Question,
  bucket: Owned | undefined,
  evidence: Evidence,
): Promise<boolean> {
  const need = question.isNew ? writing : needOf(question.action);
  if (need.on === 'oneself') return caller.kind === 'user';
  if (need.on === 'role') return question.role !== undefined && mayAssume(caller, question.role, evidence);
  if (question.anyKey && need.on !== 'owner' && bucket !== undefined) return mayDoAny(caller, bucket, evidence);
  const asked = caller.kind === 'user' ? evidence.identity() : 'allow';
  const identity = typeof asked === 'string' ? asked : await asked;
  const isAllowedByOwn = identity === 'full' || identity === 'allow';
  const isLimited = identity === 'limited';
  const isInsider = bucket !== undefined && isOf(caller, bucket.owner);
  if (identity === 'deny' || !(isAllowedByOwn || isInsider)) return false;
  if (need.on === 'service') return need.by === 'everybody' || caller.kind === 'user';
  if (bucket === undefined) return false;

  const isOfOwner = (project: string): boolean => isAllowedByOwn && isOf(caller, project);
  const isGranted = (acl: Acl, permission: Permission): boolean =>
    !isLimited && grants(isAllowedByOwn ? acl : acl.filter(isPublicGrant), caller, permission);
  const owns = isOfOwner(bucket.owner);
  if (need.on === 'owner') return owns && (need.privilege === undefined || hasPrivilege(caller, need.privilege));
  const verdict = await evidence.policy(isLimited ? 'to the user' : 'all');
  if (verdict === 'deny') return owns && policyActions.has(question.action) && (await evidence.sparesOwner());
  if (owns && (identity === 'full' || need.on !== 'object' || question.unlessDenied)) return true;

  const isAllowed = verdict === 'allow';
  if (isLimited && !isAllowed) return false;
  if (question.unlessDenied) return isAllowed || !isInsider;
  switch (need.on) {
    case 'bucket':
      if (need.permission === 'none') return isAllowed && need.orPolicy;
      return isAllowed || isGranted(await bucket.acl(), need.permission);
    case 'upload': {
      if (isAllowed) return true;
      const initiator = await evidence.initiator();
      if (initiator !== undefined) return isOfOwner(initiator);
      return isGranted(await bucket.acl(), 'WRITE') || evidence.mayList();
    }
    case 'object': {
      const version = await evidence.version();
      if (version === undefined || (version.marker && need.markers !== 'as versions')) return evidence.mayList();
      if (owns || (isAllowed && version.owner === bucket.owner)) return true;
      if (isOfOwner(version.owner)) return true;
      return need.permission !== 'none' && isGranted(await version.acl(), need.permission);
    }
  }
}

/**
 * Tells whether a caller may assume a role. Its trust policy must allow it and, unless it names a user or a role of its own project, the
 * caller's policies as well. Their boundary and session policies must always:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
async function mayAssume(caller: Caller, { project, token }: TrustingRole, evidence: Evidence): Promise<boolean> {
  if (token !== undefined) return (await evidence.trust('all')) === 'allow';
  if (caller.kind === 'anonymous') return false;
  const identity = await evidence.identity();
  const isAllowedByOwn = identity === 'full' || identity === 'allow';
  if (!isAllowedByOwn && !(identity === 'none' && isOf(caller, project))) return false;
  return (await evidence.trust(isAllowedByOwn ? 'all' : 'to the user')) === 'allow';
}

/** Any caller with a key may own something in any bucket. */
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
