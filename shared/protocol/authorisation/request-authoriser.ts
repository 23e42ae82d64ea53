import type { Acl } from '../../access/acl.ts';
import { mayDo, type Evidence, type OwnedVersion, type Question } from '../../access/authorise.ts';
import type { AccessKeys, Caller } from '../../access/identity.ts';
import { arnOf, PreparedRights, type IdentityVerdict } from '../../access/identity-rights.ts';
import {
  allowsAnonymous,
  PreparedPolicy,
  resourceOf,
  rulesFor,
  rulesForProvider,
  rulesOfTrust,
  type Grants,
  type Policy,
} from '../../access/policies/policy.ts';
import type { Facts } from '../../access/policies/policy-template.ts';
import { S3Error } from '../../errors/s3-error.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { Origin } from '../../storage/buckets/origin.ts';
import type { Upload } from '../../storage/uploads/upload.ts';
import { bucketAcl, versionAcl } from '../acls/acl-document.ts';
import { countingGrants } from '../acls/acl-restrictions.ts';
import { bucketPolicy, type BucketPolicy } from './bucket-policy.ts';
import type { Services } from '../operation.ts';
import { ownerIn } from './ownership.ts';
import { ConditionFacts, namesOf, type KnownRequest } from './policy-facts.ts';
import { RequestAuthorisation, type Ground } from './request-authorisation.ts';
import type { RequestTrace } from '../request-trace.ts';
import type { RequestView } from './request-view.ts';

/** The repositories that authorisation reads. */
interface Deps extends Pick<Services, 'buckets' | 'projects' | 'uploads'> {
  readonly view: RequestView;
  readonly keys: AccessKeys;
  readonly origin: Origin;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Told if an ACL is what allows the request. */
  readonly trace?: Pick<RequestTrace, 'aclRequired'>;
}

/** What depends on the caller and the request alone, made when it is first needed: most requests need none of it. */
class KnownCaller {
  /** Undefined for anonymous callers. */
  readonly rights: PreparedRights | undefined;
  readonly #request: KnownRequest;
  readonly #caller: Caller;
  readonly #budget: EventLoopBudget;
  #facts: ConditionFacts | undefined;
  /** An unchanged policy is the same object. */
  #prepared: Record<Grants, Map<Policy, PreparedPolicy>> | undefined;

  constructor(caller: Caller, request: KnownRequest, budget: EventLoopBudget) {
    this.#caller = caller;
    this.#request = request;
    this.#budget = budget;
    this.rights = caller.kind === 'user' ? new PreparedRights(caller.rights, budget) : undefined;
  }

  get facts(): ConditionFacts {
    return (this.#facts ??= new ConditionFacts({ ...this.#request, caller: this.#caller }));
  }

  /** Returns the statements of a bucket's policy that may be about the caller. */
  prepared(policy: Policy, project: string, grants: Grants): PreparedPolicy {
    const known = (this.#prepared ??= {
      all: new Map<Policy, PreparedPolicy>(),
      'to the user': new Map<Policy, PreparedPolicy>(),
    })[grants];
    const found =
      known.get(policy) ?? new PreparedPolicy(rulesFor(policy, this.#caller, project, grants), this.#budget);
    known.set(policy, found);
    return found;
  }
}

/**
 * Answers the questions of one request, with the evidence that authorisation needs. Requires no read if the bucket has
 * no policy and the caller owns it.
 */
export class RequestAuthoriser {
  readonly #deps: Deps;
  readonly #request: KnownRequest;
  readonly #budget: EventLoopBudget;
  /** Shared by all questions. */
  readonly #known = new Map<Caller, KnownCaller>();

  constructor(deps: Deps, request: KnownRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#budget = EventLoopBudget.until(deps.signal);
  }

  /**
   * Authorises a request by all of its questions.
   * @param addressed the bucket that the request is sent to, if its operation needs one, and the object in it
   * @throws S3Error AccessDenied, which does not reveal what exists; NoSuchBucket for a question about a bucket other
   *   than the addressed one
   */
  async authorise(
    questions: readonly Question[],
    addressed: { readonly bucket: Bucket | undefined; readonly key?: string | undefined },
  ): Promise<RequestAuthorisation> {
    const { view, keys, origin } = this.#deps;
    const { caller } = this.#request;
    const mayDo = (question: Question, ground: Ground): Promise<boolean> => this.#answer(question, ground);
    const { bucket, key } = addressed;
    const authorisation = new RequestAuthorisation({ mayDo, keys, view, questions, caller, bucket, key, origin });
    await authorisation.ask();
    return authorisation;
  }

  /**
   * Authorises a read that no change follows, or a change that depends on the rights of the caller alone.
   * @throws S3Error AccessDenied, NoSuchBucket
   */
  async authoriseLook(question: Question, ground: Pick<Ground, 'caller' | 'bucket'>): Promise<void> {
    const { view } = this.#deps;
    const find: Ground['find'] = (of, key, versionId) => view.find(of, key, versionId);
    if (!(await this.#answer(question, { ...ground, find }))) throw new S3Error('AccessDenied');
  }

  /** Answers a question on this ground. @throws S3Error NoSuchBucket, as {@link authorise} */
  #answer(question: Question, ground: Ground): Promise<boolean> {
    const { bucket } = question;
    const isHere = bucket === undefined || bucket === ground.bucket?.name;
    return isHere ? this.#mayDo(question, ground) : this.#answerElsewhere(question, ground, bucket);
  }

  async #answerElsewhere(question: Question, ground: Ground, bucket: string): Promise<boolean> {
    return this.#mayDo(question, { ...ground, bucket: await this.#deps.view.bucket(bucket) });
  }

  #mayDo(question: Question, ground: Ground): Promise<boolean> {
    const { caller, bucket } = ground;
    const identity = (): IdentityVerdict | Promise<IdentityVerdict> => this.#identity(question, ground);
    if (bucket === undefined) {
      const trust = (grants: Grants) => this.#trust(question, ground, grants);
      return mayDo(caller, question, undefined, { ...noEvidence, identity, trust });
    }
    // It is read last, when nothing else has allowed what is asked.
    let needsAcl = false;
    const counting = (acl: Acl): Acl => {
      needsAcl = true;
      return countingGrants(acl, bucket);
    };
    const acl = async (): Promise<Acl> => counting(await bucketAcl(bucket, this.#deps.buckets));
    const owned = { owner: bucket.project, acl };
    const allowed = mayDo(caller, question, owned, { ...this.#evidence(question, ground, bucket, counting), identity });
    const { trace } = this.#deps;
    if (trace === undefined || bucket.logging === undefined) return allowed;
    return allowed.then((isAllowed) => {
      if (isAllowed && needsAcl) trace.aclRequired = true;
      return isAllowed;
    });
  }

  #evidence(
    question: Question,
    ground: Ground,
    bucket: Bucket,
    counting: (acl: Acl) => Acl,
  ): Omit<Evidence, 'identity'> {
    return {
      policy: (grants) =>
        bucket.documents.policy === undefined ? 'none' : this.#policy(question, ground, bucket, grants),
      trust: noEvidence.trust,
      sparesOwner: async () => (await bucketPolicy(bucket, this.#deps))?.bindsOwner !== true,
      allowsAnonymous: async () => {
        const found = await bucketPolicy(bucket, this.#deps);
        return found !== undefined && !isRestricted(found, bucket) && allowsAnonymous(found.policy);
      },
      version: () => this.#version(question, ground, bucket, counting),
      initiator: async () => (await this.#upload(question, bucket))?.initiator,
      mayList: () =>
        this.#mayDo({ action: 'ListBucket', bucket: bucket.name, facts: { 's3:prefix': question.key ?? '' } }, ground),
    };
  }

  #identity(question: Question, ground: Ground): IdentityVerdict | Promise<IdentityVerdict> {
    const { bucket } = ground;
    const known = this.#knownOf(ground.caller);
    const { action, key, newBucket = bucket?.name, resource } = question;
    return known.rights!.verdict(action, () => ({
      action,
      resource: resource ?? arnOf(action, newBucket, key),
      conditions: known.facts.about({
        question,
        accounts: () => this.#namesOf(bucket),
        tags: async () => (bucket ? this.#tags(question, ground, bucket) : []),
        upload: async () => bucket && this.#upload(question, bucket),
      }),
    }));
  }

  async #policy(
    question: Question,
    ground: Ground,
    bucket: Bucket,
    grants: Grants,
  ): Promise<'allow' | 'deny' | 'none'> {
    const found = await bucketPolicy(bucket, this.#deps);
    if (found === undefined) return 'none';
    const { action, key } = question;
    const known = this.#knownOf(ground.caller);
    const verdict = await known.prepared(found.policy, bucket.project, grants).verdict({
      action,
      resource: resourceOf(action, bucket.name, key),
      conditions: known.facts.about({
        question,
        accounts: () => this.#namesOf(bucket),
        tags: () => this.#tags(question, ground, bucket),
        upload: () => this.#upload(question, bucket),
      }),
    });
    const { kind } = ground.caller;
    const isInsider = kind === 'service' || (kind === 'user' && ground.caller.project.id === bucket.project);
    return verdict === 'allow' && !isInsider && isRestricted(found, bucket) ? 'none' : verdict;
  }

  async #trust(question: Question, { caller }: Ground, grants: Grants): Promise<'allow' | 'deny' | 'none'> {
    const { action, resource = '', role } = question;
    if (role === undefined) return 'none';
    const { trust, token } = role;
    const rules = token ? rulesForProvider(trust, token.provider) : rulesOfTrust(trust, caller, grants);
    const facts = this.#knownOf(caller).facts.about({
      question,
      accounts: () => this.#namesOfProject(role.project),
      tags: async () => [],
      upload: async () => undefined,
    });
    const conditions: Facts = (key) => token?.claims.get(key) ?? facts(key);
    return new PreparedPolicy(rules, this.#budget).verdict({ action, resource, conditions });
  }

  async #namesOf(bucket: Bucket | undefined): Promise<readonly string[]> {
    return bucket ? this.#namesOfProject(bucket.project) : [];
  }

  async #namesOfProject(id: string): Promise<readonly string[]> {
    const owner = await this.#deps.projects.project(id);
    return owner ? namesOf(owner) : [id];
  }

  #knownOf(caller: Caller): KnownCaller {
    const known = this.#known.get(caller) ?? new KnownCaller(caller, this.#request, this.#budget);
    this.#known.set(caller, known);
    return known;
  }

  async #version(
    { key, versionId }: Question,
    ground: Ground,
    bucket: Bucket,
    counting: (acl: Acl) => Acl,
  ): Promise<OwnedVersion | undefined> {
    const version = key === undefined ? undefined : await ground.find(bucket, key, versionId);
    if (version === undefined) return undefined;
    const { marker } = version;
    const acl = async (): Promise<Acl> =>
      counting(versionAcl(await this.#deps.view.objectAttributes(version), version.owner));
    return { owner: ownerIn(bucket, version.owner), marker, acl };
  }

  async #upload({ key = '', uploadId }: Question, bucket: Bucket): Promise<Upload | undefined> {
    return uploadId === undefined ? undefined : this.#deps.uploads.look(bucket, key, uploadId);
  }

  async #tags(
    { key, versionId }: Question,
    ground: Ground,
    bucket: Bucket,
  ): Promise<readonly (readonly [string, string])[]> {
    const version = key === undefined ? undefined : await ground.find(bucket, key, versionId);
    return version === undefined ? [] : (await this.#deps.view.objectAttributes(version)).tags;
  }
}

/**
 * Tells whether a policy applies only to the bucket owner's project, because it is public and the bucket restricts
 * public policies.
 */
function isRestricted({ isPublic }: BucketPolicy, { publicAccessBlock }: Bucket): boolean {
  return publicAccessBlock?.restrictPublicBuckets === true && isPublic;
}

const noEvidence: Omit<Evidence, 'identity'> = {
  policy: () => 'none',
  trust: () => Promise.resolve('none'),
  sparesOwner: () => Promise.resolve(false),
  allowsAnonymous: () => Promise.resolve(false),
  version: () => Promise.resolve(undefined),
  initiator: () => Promise.resolve(undefined),
  mayList: () => Promise.resolve(false),
};
