import type { Question } from '../../access/authorise.ts';
import { hasSamePolicies } from '../../access/identity-rights.ts';
import type { AccessKey, AccessKeys, Caller } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import { noSuchBucket, type Bucket } from '../../storage/buckets/bucket.ts';
import { hasSameAccessSettings } from '../../storage/buckets/bucket-settings.ts';
import { ObjectAuthorisation } from '../../storage/version-changes/object-authorisation.ts';
import type { Origin } from '../../storage/buckets/origin.ts';
import type { Version } from '../../storage/versions/versions.ts';
import type { Condition } from '../../ports/key-value-table.ts';
import type { RequestView } from './request-view.ts';

/**
 * The maximum number of times a request is authorised again because something changed, before the client is told to
 * retry.
 */
const maxAnswers = 5;

/** The state on which a question is answered. */
export interface Ground {
  readonly caller: Caller;
  readonly bucket: Bucket | undefined;
  /** Returns the version of a key in the bucket that the answer is based on. */
  find(bucket: Bucket, key: string, versionId: string | undefined): Promise<Version | undefined>;
}

interface Asked {
  readonly mayDo: (question: Question, ground: Ground) => Promise<boolean>;
  readonly keys: AccessKeys;
  readonly view: RequestView;
  readonly questions: readonly Question[];
  readonly caller: Caller;
  /** The bucket of the request. Undefined: the request is about the service. */
  readonly bucket: Bucket | undefined;
  readonly key?: string | undefined;
  readonly origin: Origin;
}

/**
 * The authorisation of a request: its questions, and the facts that the answers depended on. Confirming it repeats the
 * questions only if one of those facts has changed.
 */
export class RequestAuthorisation extends ObjectAuthorisation {
  readonly key: string;
  readonly versionId: string | undefined;
  readonly #asked: Asked;
  #bucket: Bucket | undefined;
  /** The bucket that the answers are based on. */
  #answeredOn: Bucket | undefined;
  #caller: Caller;
  /** The versions that decided, by the key and version id that were looked up. */
  #versions = new Map<string, Version | undefined>();
  #answers = 0;
  #confirmations = 0;

  constructor(asked: Asked) {
    super();
    this.#asked = asked;
    this.#bucket = asked.bucket;
    this.#caller = asked.caller;
    this.key = asked.key ?? '';
    this.versionId = asked.questions.find(
      ({ key, versionId }) => key === this.key && versionId !== undefined,
    )?.versionId;
  }

  get bucket(): Bucket {
    if (this.#bucket === undefined) throw new Error('the request does not address an existing bucket');
    return this.#bucket;
  }

  /** Who asks, with the rights that were last confirmed. */
  get caller(): Caller {
    return this.#caller;
  }

  /** Continues with the bucket as read again. Its current rights are checked at the commit. */
  renew(bucket: Bucket): void {
    this.#bucket = bucket;
  }

  get origin(): Origin {
    return this.#asked.origin;
  }

  get dependsOnVersion(): boolean {
    return this.#versions.has(nameOf(this.key, this.versionId));
  }

  /** Asks the questions for the first time. @throws S3Error AccessDenied, NoSuchBucket */
  ask(): Promise<void> {
    return this.#ask({ caller: this.#caller, bucket: this.#bucket });
  }

  async confirmCaller(): Promise<readonly Condition[]> {
    const { caller, unchanged } = await this.#presentCaller();
    if (caller !== this.#caller) await this.#ask({ caller, bucket: this.#bucket });
    return unchanged;
  }

  async confirm(bucket: Bucket): Promise<readonly Condition[]> {
    return this.#confirm(bucket);
  }

  async confirmVersion(bucket: Bucket, version: Version | undefined): Promise<readonly Condition[]> {
    return this.#confirm(bucket, { version });
  }

  async confirmCompared(bucket: Bucket, version: Version | undefined): Promise<void> {
    if (!this.dependsOnVersion || isSame(version, this.#seen)) return;
    await this.#ask({ caller: this.#caller, bucket }, { version });
  }

  async #confirm(bucket: Bucket, shown?: { readonly version: Version | undefined }): Promise<readonly Condition[]> {
    if (bucket.id !== this.bucket.id) throw noSuchBucket(bucket.name);
    const { caller, unchanged } = await this.#presentCaller();
    const isOther =
      caller !== this.#caller ||
      !hasSameRights(bucket, this.#answeredOn) ||
      (shown !== undefined && this.dependsOnVersion && !isSame(shown.version, this.#seen));
    if (isOther) await this.#ask({ caller, bucket }, shown);
    return unchanged;
  }

  get #seen(): Version | undefined {
    return this.#versions.get(nameOf(this.key, this.versionId));
  }

  async #ask(
    { caller, bucket }: { readonly caller: Caller; readonly bucket: Bucket | undefined },
    shown?: { readonly version: Version | undefined },
  ): Promise<void> {
    this.#answers += 1;
    if (this.#answers > maxAnswers)
      throw new S3Error('SlowDown', { cause: new Error('rights changed at every attempt') });
    const { mayDo, view, questions } = this.#asked;
    const versions = new Map<string, Version | undefined>();
    const find = async (of: Bucket, key: string, versionId: string | undefined): Promise<Version | undefined> => {
      const isShown = shown !== undefined && key === this.key && versionId === this.versionId;
      const version = isShown ? shown.version : await view.find(of, key, versionId);
      if (of.id === bucket?.id) versions.set(nameOf(key, versionId), version);
      return version;
    };
    for (const question of questions) {
      if (!(await mayDo(question, { caller, bucket, find }))) throw new S3Error('AccessDenied');
    }
    this.#caller = caller;
    this.#bucket = bucket;
    this.#answeredOn = bucket;
    this.#versions = versions;
  }

  /** Returns the caller with the current state of their access key. */
  async #presentCaller(): Promise<{ readonly caller: Caller; readonly unchanged: readonly Condition[] }> {
    const caller = this.#caller;
    if (caller.kind !== 'user') return { caller, unchanged: [] };
    this.#confirmations += 1;
    const { accessKeyId, sessionToken } = caller;
    const freshness = this.#confirmations === 1 ? 'cached' : 'read';
    const key = await this.#asked.keys.find(accessKeyId, freshness, sessionToken);
    if (key === undefined) {
      throw new S3Error('InvalidAccessKeyId', { details: { AWSAccessKeyId: caller.accessKeyId } });
    }
    if (key.suspended) throw new S3Error('UserSuspended');
    return { caller: hasRightsOf(caller, key) ? caller : key.user, unchanged: key.unchanged };
  }
}

/**
 * Compares what rights depend on: a bucket's owner, its ACL, its policy and the settings about these, but not its quota
 * or other settings.
 */
function hasSameRights(bucket: Bucket, other: Bucket | undefined): boolean {
  const { project, documents } = bucket;
  return (
    project === other?.project &&
    documents.acl === other.documents.acl &&
    documents.policy === other.documents.policy &&
    hasSameAccessSettings(bucket, other)
  );
}

/**
 * Compares what rights depend on: a version's owner, ACL and possibly tags. Any change of these gives the version a new
 * write token.
 */
function isSame(a: Version | undefined, b: Version | undefined): boolean {
  return a?.instance === b?.instance && a?.token === b?.token;
}

function hasRightsOf(caller: Caller, { user }: AccessKey): boolean {
  if (caller.kind !== 'user') return false;
  const { project, id, name, privileges, rights } = caller;
  const isSameUser = id === user.id && name === user.name && project.id === user.project.id;
  return isSameUser && privileges.join() === user.privileges.join() && hasSamePolicies(rights, user.rights);
}

function nameOf(key: string, versionId: string | undefined): string {
  return JSON.stringify([key, versionId]);
}
