import type { Question } from '../../access/authorise.ts';
import type { Caller } from '../../access/identity.ts';
import type { ConditionKey } from '../../access/policy-keys.ts';
import type { Facts, Values } from '../../access/policy-template.ts';
import { parseCopySource } from '../../http/copy-source.ts';
import { utf8Of, type Fields } from '../../http/message.ts';
import type { Query } from '../../http/query.ts';
import type { Upload } from '../../metadata/uploads/upload.ts';
import type { ObjectAttributes } from '../../metadata/objects/object-attributes.ts';
import type { Authenticated } from '../authentication/authenticated.ts';

type Tags = ObjectAttributes['tags'];

/** The facts of a request that policy conditions may use. */
export interface KnownRequest {
  readonly caller: Caller;
  readonly scheme: Authenticated['scheme'];
  /** The time of arrival, in milliseconds since the epoch. */
  readonly time: number;
  /** As reported by trusted hops only. */
  readonly remoteAddress: string;
  readonly secure: boolean;
  readonly fields: Fields;
  /** The `x-amz-` headers: the request's fields, or the form's fields in their place. Signed, if anything is. */
  readonly asked: Fields;
  readonly query: Query;
  /** True if the request is a listing, whose parameters are facts. */
  readonly isListing: boolean;
  /** Returns the tags in the request. */
  tags(): Promise<Tags>;
}

/** The facts of a question in addition to those of the request. */
export interface KnownObject {
  readonly question: Question;
  /** Returns the tags of the version that the question is about. */
  tags(): Promise<Tags>;
  /** Returns the open upload that the question is about, if any. */
  upload(): Promise<Upload | undefined>;
}

/** Condition keys whose values depend on the question, not on the request alone. */
type QuestionKey =
  | 's3:prefix'
  | 's3:versionid'
  | `s3:x-amz-grant-${string}`
  | `s3:x-amz-server-side-encryption${string}`
  | 's3:x-amz-acl';
type QuestionFacts = Readonly<Record<Extract<ConditionKey, QuestionKey>, QuestionFact>>;
type RequestFacts = Readonly<Record<Exclude<ConditionKey, QuestionKey>, RequestFact>>;

type RequestFact = (request: KnownRequest) => string | undefined;
type QuestionFact = (request: KnownRequest, object: KnownObject) => string | undefined | Promise<string | undefined>;

const schemes: Readonly<Record<Authenticated['scheme'], { type?: string; version?: string }>> = {
  anonymous: {},
  'v4-header': { type: 'REST-HEADER', version: 'AWS4-HMAC-SHA256' },
  'v4-presigned': { type: 'REST-QUERY-STRING', version: 'AWS4-HMAC-SHA256' },
  'form-v4': { type: 'POST', version: 'AWS4-HMAC-SHA256' },
  'v2-header': { type: 'REST-HEADER', version: 'AWS' },
  'v2-presigned': { type: 'REST-QUERY-STRING', version: 'AWS' },
  'form-v2': { type: 'POST', version: 'AWS' },
};

const parameter =
  (name: string): RequestFact =>
  ({ isListing, query }) =>
    isListing ? query.get(name) : undefined;

const header =
  (name: string): RequestFact =>
  ({ asked }) =>
    asked.get(name);

/** Fields that describe a new object. */
const describing = [
  'x-amz-acl',
  'x-amz-grant-full-control',
  'x-amz-grant-read',
  'x-amz-grant-read-acp',
  'x-amz-grant-write',
  'x-amz-grant-write-acp',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-customer-algorithm',
] as const;

/**
 * Returns the fields with which a multipart upload described its object. Policies see them again for its parts and its
 * completion.
 */
export function askedOf(fields: Fields): Readonly<Record<string, string>> | undefined {
  const asked = describing.filter((name) => fields.has(name)).map((name) => [name, fields.get(name)!] as const);
  return asked.length === 0 ? undefined : Object.fromEntries(asked);
}

/** Returns a fact about a new object: from the request or, if it adds to an upload, from the creation of the upload. */
const description =
  (name: (typeof describing)[number]): QuestionFact =>
  async ({ asked }, object) =>
    object.question.uploadId === undefined ? asked.get(name) : (await object.upload())?.asked?.[name];

/**
 * The source of each condition key's value. No header is read just because a key has its name, except for those that S3
 * defines that way:
 * https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html#amazons3-policy-keys
 */
const requestFacts: RequestFacts = {
  'aws:currenttime': ({ time }) => new Date(time).toISOString(),
  'aws:epochtime': ({ time }) => String(Math.floor(time / 1000)),
  'aws:principalarn': ({ caller }) =>
    caller.kind === 'user' ? `arn:aws:iam::${caller.project.id}:user/${caller.name}` : undefined,
  'aws:principaltype': ({ caller }) => (caller.kind === 'user' ? 'User' : 'Anonymous'),
  'aws:referer': ({ fields }) => textOf(fields, 'referer'),
  'aws:securetransport': ({ secure }) => String(secure),
  'aws:sourceip': ({ remoteAddress }) => remoteAddress,
  'aws:useragent': ({ fields }) => textOf(fields, 'user-agent'),
  'aws:username': ({ caller }) => (caller.kind === 'user' ? caller.name : undefined),
  's3:authtype': ({ scheme }) => schemes[scheme].type,
  's3:signatureversion': ({ scheme }) => schemes[scheme].version,
  's3:delimiter': parameter('delimiter'),
  's3:max-keys': parameter('max-keys'),
  's3:x-amz-copy-source': ({ asked }) => copySource(asked),
  's3:x-amz-metadata-directive': header('x-amz-metadata-directive'),
};

const questionFacts: QuestionFacts = {
  's3:versionid': (_, { question }) => question.versionId,
  's3:prefix': (request, { question }) => question.prefix ?? parameter('prefix')(request),
  's3:x-amz-acl': description('x-amz-acl'),
  's3:x-amz-grant-full-control': description('x-amz-grant-full-control'),
  's3:x-amz-grant-read': description('x-amz-grant-read'),
  's3:x-amz-grant-read-acp': description('x-amz-grant-read-acp'),
  's3:x-amz-grant-write': description('x-amz-grant-write'),
  's3:x-amz-grant-write-acp': description('x-amz-grant-write-acp'),
  's3:x-amz-server-side-encryption': description('x-amz-server-side-encryption'),
  's3:x-amz-server-side-encryption-customer-algorithm': description('x-amz-server-side-encryption-customer-algorithm'),
};

const existingTag = 's3:existingobjecttag/';
const requestTag = 's3:requestobjecttag/';

/** Looks up the values of condition keys for a request. Keys are lower case, except for the tag after a slash. */
export class ConditionFacts {
  readonly #request: KnownRequest;
  /** The values that depend on the request alone, as looked up so far: the same for every object key. */
  readonly #known = new Map<string, Values>();

  constructor(request: KnownRequest) {
    this.#request = request;
  }

  /** Returns the facts for a question about this object. */
  about(object: KnownObject): Facts {
    return async (key) => {
      if (Object.hasOwn(requestFacts, key)) return this.#ofRequest(key as keyof RequestFacts);
      const request = this.#request;
      if (key.startsWith(existingTag)) return valuesOf(await object.tags(), key.slice(existingTag.length));
      if (key.startsWith(requestTag)) return valuesOf(await givenTags(request, object), key.slice(requestTag.length));
      if (!Object.hasOwn(questionFacts, key)) return undefined;
      return asValues(await questionFacts[key as keyof QuestionFacts](request, object));
    };
  }

  #ofRequest(key: keyof RequestFacts): Values {
    if (!this.#known.has(key)) this.#known.set(key, asValues(requestFacts[key](this.#request)));
    return this.#known.get(key);
  }
}

function asValues(value: string | undefined): Values {
  return value === undefined ? undefined : [value];
}

async function givenTags(request: KnownRequest, object: KnownObject): Promise<Tags> {
  return object.question.uploadId === undefined
    ? request.tags()
    : ((await object.upload())?.objectAttributes.tags ?? []);
}

function valuesOf(tags: Tags, key: string): Values {
  const found = tags.find(([name]) => name === key);
  return found && [found[1]];
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields.get(name);
  return value === undefined ? undefined : utf8Of(value);
}

/** Returns the copy source in one canonical form: `bucket/key`. */
function copySource(fields: Fields): string | undefined {
  const value = fields.get('x-amz-copy-source');
  if (value === undefined) return undefined;
  const { bucket, key } = parseCopySource(value);
  return `${bucket}/${key}`;
}
