import { mayDo, type Evidence, type Owned, type Question } from '../../access/authorise.ts';
import { StepCounter } from '../../access/pace.ts';
import { PreparedPolicy, type Policy } from '../../access/policy.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { Upload } from '../../metadata/uploads/upload.ts';
import { bucketAcl, versionAcl } from '../acls/acl-document.ts';
import { bucketPolicy } from './bucket-policy.ts';
import type { Services } from '../operation.ts';
import { ConditionFacts, type KnownRequest } from './policy-facts.ts';
import type { RequestView } from './request-view.ts';

/** What the gate reads from. */
interface Rooms extends Pick<Services, 'buckets' | 'projects' | 'uploads'> {
  readonly view: RequestView;
}

/**
 * Brings the questions of one request before the authorisation gate, with the evidence it may want. Of a bucket without a
 * policy, whoever owns it is let in without a read.
 */
export class Gate {
  readonly #rooms: Rooms;
  readonly #request: KnownRequest;
  readonly #addressed: Bucket | undefined;
  readonly #facts: ConditionFacts;
  readonly #pace = new StepCounter();
  readonly #prepared = new Map<Policy, PreparedPolicy>();

  /** @param addressed the bucket that the request is sent to, if its operation wants one */
  constructor(rooms: Rooms, request: KnownRequest, addressed: Bucket | undefined) {
    this.#rooms = rooms;
    this.#request = request;
    this.#addressed = addressed;
    this.#facts = new ConditionFacts(request);
  }

  /**
   * @throws S3Error AccessDenied, which says nothing of what there is; NoSuchBucket for a question about another bucket than
   *   the addressed one
   */
  async authorise(question: Question): Promise<void> {
    const elsewhere = question.bucket !== undefined && question.bucket !== this.#addressed?.name;
    const bucket = elsewhere ? await this.#rooms.view.bucket(question.bucket) : this.#addressed;
    if (!(await this.#mayDo(question, bucket))) throw new S3Error('AccessDenied');
  }

  #mayDo(question: Question, bucket: Bucket | undefined): Promise<boolean> {
    const { caller } = this.#request;
    if (bucket === undefined) return mayDo(caller, question, undefined, noEvidence);
    const owned = { owner: bucket.project, acl: () => bucketAcl(bucket, this.#rooms.buckets) };
    return mayDo(caller, question, owned, this.#evidence(question, bucket));
  }

  #evidence(question: Question, bucket: Bucket): Evidence {
    return {
      policy: () => this.#policy(question, bucket),
      sparesOwner: async () => (await bucketPolicy(bucket, this.#rooms))?.bindsOwner !== true,
      version: () => this.#version(question, bucket),
      initiator: async () => (await this.#upload(question, bucket))?.initiator,
      mayList: () => this.#mayDo({ action: 'ListBucket', bucket: bucket.name, prefix: question.key ?? '' }, bucket),
    };
  }

  async #policy(question: Question, bucket: Bucket): Promise<'allow' | 'deny' | 'none'> {
    const found = await bucketPolicy(bucket, this.#rooms);
    if (found === undefined) return 'none';
    const { action, key } = question;
    return this.#prepare(found.policy, bucket).verdict({
      action,
      ...(key !== undefined && { key }),
      conditions: this.#facts.about({
        question,
        tags: () => this.#tags(question, bucket),
        upload: () => this.#upload(question, bucket),
      }),
    });
  }

  /** The same for all questions of the request, for a policy is the same object while it is. */
  #prepare(policy: Policy, { name }: Bucket): PreparedPolicy {
    const { caller } = this.#request;
    const known = this.#prepared.get(policy);
    const prepared = known ?? new PreparedPolicy(policy, { caller, bucket: name, pace: this.#pace });
    this.#prepared.set(policy, prepared);
    return prepared;
  }

  async #version({ key, versionId }: Question, bucket: Bucket): Promise<Owned | undefined> {
    const { view } = this.#rooms;
    const version = key === undefined ? undefined : await view.find(bucket, key, versionId);
    if (version === undefined || version.marker) return undefined;
    const { owner } = version;
    return { owner, acl: async () => versionAcl(await view.particulars(version), owner) };
  }

  async #upload({ key = '', uploadId }: Question, bucket: Bucket): Promise<Upload | undefined> {
    return uploadId === undefined ? undefined : this.#rooms.uploads.look(bucket, key, uploadId);
  }

  async #tags({ key, versionId }: Question, bucket: Bucket): Promise<readonly (readonly [string, string])[]> {
    const { view } = this.#rooms;
    const version = key === undefined ? undefined : await view.find(bucket, key, versionId);
    return version === undefined ? [] : (await view.particulars(version)).tags;
  }
}

const noEvidence: Evidence = {
  policy: () => Promise.resolve('none'),
  sparesOwner: () => Promise.resolve(false),
  version: () => Promise.resolve(undefined),
  initiator: () => Promise.resolve(undefined),
  mayList: () => Promise.resolve(false),
};
