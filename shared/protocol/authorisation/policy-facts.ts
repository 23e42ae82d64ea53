import type { Question, StatedFacts } from '../../access/authorise.ts';
import type { Caller, Project, User } from '../../access/identity.ts';
import { mayHaveValue, type ConditionKey } from '../../access/policy-keys.ts';
import type { Facts, Values } from '../../access/policies/policy-template.ts';
import { isRoot, principalArn, rootArn } from '../../access/user-arn.ts';
import { parseHttpDate, parseIsoDate } from '../../http/fields/dates.ts';
import { utf8Of, type Fields } from '../../http/message.ts';
import type { Query } from '../../http/query.ts';
import { parseBasicTime } from '../../signing/timestamp.ts';
import { day } from '../../ports/durations.ts';
import type { Upload } from '../../storage/uploads/upload.ts';
import type { ObjectAttributes } from '../../storage/versions/object-attributes.ts';
import type { Authenticated } from '../authentication/authenticated.ts';

type Tags = ObjectAttributes['tags'];

/** The facts of a request that policy conditions may use, whatever its operation does. */
export interface KnownRequest {
  readonly caller: Caller;
  readonly scheme: Authenticated['scheme'];
  /** The time of arrival, in milliseconds since the epoch. */
  readonly time: number;
  /** As reported by trusted hops only. Undefined: it comes from the service itself. */
  readonly remoteAddress: string | undefined;
  readonly secure: boolean;
  readonly tlsVersion: string | undefined;
  /** The region of the deployment. */
  readonly region: string;
  /** Returns the time of a signature of version 4, in milliseconds since the epoch. */
  readonly signedAt: () => number | undefined;
  readonly fields: Fields;
}

/** The facts of a question in addition to those of the request. */
export interface KnownObject {
  /** States what the operation will do. */
  readonly question: Question;
  /** Returns the names of the project that owns the bucket, if there is one. */
  accounts(): Promise<readonly string[]>;
  /** Returns the tags of the version that the question is about. */
  tags(): Promise<Tags>;
  /** Returns the open upload that the question is about, if any. */
  upload(): Promise<Upload | undefined>;
}

type AccountKey = 'aws:resourceaccount' | 's3:resourceaccount';
type RequestKey =
  | Exclude<Extract<ConditionKey, `aws:${string}`>, AccountKey>
  | 's3:authtype'
  | 's3:signatureage'
  | 's3:signatureversion'
  | 's3:tlsversion'
  | 's3:x-amz-content-sha256';
type RequestFact = (request: KnownRequest) => string | undefined | readonly string[];

const schemes: Readonly<Record<Authenticated['scheme'], { type?: string; version?: string }>> = {
  anonymous: {},
  'v4-header': { type: 'REST-HEADER', version: 'AWS4-HMAC-SHA256' },
  'v4-presigned': { type: 'REST-QUERY-STRING', version: 'AWS4-HMAC-SHA256' },
  'form-v4': { type: 'POST', version: 'AWS4-HMAC-SHA256' },
  'v2-header': { type: 'REST-HEADER', version: 'AWS' },
  'v2-presigned': { type: 'REST-QUERY-STRING', version: 'AWS' },
  'form-v2': { type: 'POST', version: 'AWS' },
};

const principalTypes = { user: 'User', service: 'Service', anonymous: 'Anonymous' } as const satisfies Readonly<
  Record<Caller['kind'], string>
>;

/** Fields that contain an ACL. */
export const aclFields = [
  'x-amz-acl',
  'x-amz-grant-full-control',
  'x-amz-grant-read',
  'x-amz-grant-read-acp',
  'x-amz-grant-write',
  'x-amz-grant-write-acp',
] as const;

/** Fields that describe a new object. */
const describing = [
  ...aclFields,
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
] as const;

/**
 * Returns the fields with which a multipart upload described its object. Policies see them again for its parts and its
 * completion.
 */
export function askedOf(fields: Fields): Readonly<Record<string, string>> | undefined {
  const asked = Object.entries(describedBy(fields)).flatMap(([key, value]) =>
    value === undefined ? [] : [[key.slice('s3:'.length), value] as const],
  );
  return asked.length === 0 ? undefined : Object.fromEntries(asked);
}

/** Returns the facts about a new object. */
export function describedBy(fields: Fields): StatedFacts {
  return {
    ...factsFrom(fields, describing),
    's3:object-lock-mode': fields.get('x-amz-object-lock-mode'),
    's3:object-lock-retain-until-date': fields.get('x-amz-object-lock-retain-until-date'),
    's3:object-lock-legal-hold': fields.get('x-amz-object-lock-legal-hold'),
  };
}

/** Returns the facts of a read that may bring the key of a customer. */
export function customerFacts(fields: Fields): StatedFacts {
  return factsFrom(fields, ['x-amz-server-side-encryption-customer-algorithm']);
}

/** Returns the facts of the conditions of a write, which it evaluates. */
export function conditionFacts(fields: Fields): StatedFacts {
  return factsFrom(fields, ['if-match', 'if-none-match']);
}

type NameOf<Key> = Key extends `s3:${infer Name}` ? Name : never;

/** Returns the facts that are header fields, or parameters, of the same names: those that the operation obeys. */
export function factsFrom(
  request: { get(name: string): string | undefined },
  names: readonly NameOf<Exclude<ConditionKey, RequestKey>>[],
): StatedFacts {
  return Object.fromEntries(names.map((name) => [`s3:${name}`, request.get(name)]));
}

/**
 * The source of each condition key's value. No header is read just because a key has its name, except for those that S3
 * defines that way:
 * https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html#amazons3-policy-keys
 */
const requestFacts: Readonly<Record<RequestKey, RequestFact>> = {
  'aws:currenttime': ({ time }) => new Date(time).toISOString(),
  'aws:epochtime': ({ time }) => String(Math.floor(time / 1000)),
  'aws:principalarn': ({ caller }) => (caller.kind === 'user' ? arnsOf(caller) : undefined),
  'aws:principalaccount': ({ caller }) => accountsOf(caller),
  'aws:principalisawsservice': ({ caller }) =>
    caller.kind === 'anonymous' ? undefined : String(caller.kind === 'service'),
  'aws:principalservicename': ({ caller }) => (caller.kind === 'service' ? caller.name : undefined),
  'aws:principaltype': ({ caller }) => (caller.kind === 'user' ? typeOf(caller) : principalTypes[caller.kind]),
  'aws:referer': ({ fields }) => textOf(fields, 'referer'),
  'aws:requestedregion': ({ region }) => region,
  'aws:securetransport': ({ secure }) => String(secure),
  'aws:sourceaccount': ({ caller }) => (caller.kind === 'service' ? namesOf(caller.sourceAccount) : undefined),
  'aws:sourcearn': ({ caller }) => (caller.kind === 'service' ? caller.sourceArn : undefined),
  'aws:sourceip': ({ remoteAddress }) => remoteAddress,
  'aws:tokenissuetime': ({ caller }) => issuedAt(caller),
  'aws:useragent': ({ fields }) => textOf(fields, 'user-agent'),
  'aws:username': ({ caller }) => (caller.kind === 'user' && !caller.role ? caller.name : undefined),
  'aws:viaawsservice': () => 'false',
  's3:authtype': ({ scheme }) => schemes[scheme].type,
  's3:signatureage': ({ signedAt, time }) => {
    const at = signedAt();
    return at === undefined ? undefined : String(time - at);
  },
  's3:signatureversion': ({ scheme }) => schemes[scheme].version,
  's3:tlsversion': ({ tlsVersion }) => tlsVersion,
  's3:x-amz-content-sha256': ({ fields }) => fields.get('x-amz-content-sha256'),
};

/** Returns the time of a signature of version 4, wherever the request has it. */
export function signingTime(
  scheme: Authenticated['scheme'],
  { fields, query }: { readonly fields: Fields; readonly query: Query },
  form: { readonly fields: Fields } | undefined,
): number | undefined {
  if (schemes[scheme].version !== 'AWS4-HMAC-SHA256') return undefined;
  const inQuery = query.parameters.find(({ name }) => name.toLowerCase() === 'x-amz-date')?.value;
  const text = form?.fields.get('x-amz-date') ?? inQuery ?? fields.get('x-amz-date') ?? fields.get('date') ?? '';
  return parseBasicTime(text) ?? parseHttpDate(text);
}

const retainUntil = 's3:object-lock-retain-until-date';
const remainingDays = 's3:object-lock-remaining-retention-days';
const existingTag = 's3:existingobjecttag/';
const requestTag = 's3:requestobjecttag/';
const tagKeys = 's3:requestobjecttagkeys';

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
      if (Object.hasOwn(requestFacts, key)) return this.#ofRequest(key as RequestKey);
      if (key.startsWith(existingTag)) return valuesOf(await object.tags(), key.slice(existingTag.length));
      if (key.startsWith(requestTag)) return valuesOf(await givenTags(object), key.slice(requestTag.length));
      if (key === remainingDays) return asValues(daysUntil(await stated(retainUntil, object), this.#request.time));
      if (key === tagKeys) return nonEmpty((await givenTags(object)).map(([name]) => name));
      if (key === 'aws:resourceaccount' || key === 's3:resourceaccount') return asValues(await object.accounts());
      return mayHaveValue(key) ? asValues(await stated(key, object)) : undefined;
    };
  }

  #ofRequest(key: RequestKey): Values {
    if (!this.#known.has(key)) this.#known.set(key, asValues(requestFacts[key](this.#request)));
    return this.#known.get(key);
  }
}

/** Returns what a question states or, if it is about an upload, what the upload's creation did. */
async function stated(key: ConditionKey, object: KnownObject): Promise<string | undefined> {
  const { question } = object;
  if (key === 's3:versionid') return question.versionId;
  const value = question.facts?.[key] ?? (await question.documentFacts?.())?.[key];
  if (value !== undefined || question.uploadId === undefined) return value;
  return (await object.upload())?.asked?.[key.slice('s3:'.length)];
}

function daysUntil(date: string | undefined, now: number): string | undefined {
  const end = parseIsoDate(date ?? '');
  return end === undefined ? undefined : String(Math.ceil((end - now) / day));
}

function nonEmpty(values: readonly string[]): Values {
  return values.length === 0 ? undefined : values;
}

/** Returns the names of the caller's project: its id and its account number. */
function accountsOf(caller: Caller): readonly string[] {
  return caller.kind === 'user' ? namesOf(caller.project) : [];
}

function typeOf({ role }: User): string {
  return role ? 'AssumedRole' : 'User';
}

/** Returns when a caller's temporary key was made. */
function issuedAt(caller: Caller): string | undefined {
  const issued = caller.kind === 'user' ? caller.session?.issued : undefined;
  return issued === undefined ? undefined : new Date(issued).toISOString();
}

function arnsOf(user: User): readonly string[] {
  const { project } = user;
  const arns = namesOf(project).map((account) => principalArn(account, user));
  return isRoot(user) && project.accountNumber !== undefined ? [...arns, rootArn(project.accountNumber)] : arns;
}

/** Returns the names that policies have for a project as an account. */
export function namesOf({ id, accountNumber }: Project): readonly string[] {
  return accountNumber === undefined ? [id] : [id, accountNumber];
}

function asValues(value: string | undefined | readonly string[]): Values {
  if (typeof value !== 'string') return value === undefined || value.length === 0 ? undefined : value;
  return [value];
}

async function givenTags(object: KnownObject): Promise<Tags> {
  const { question } = object;
  if (question.uploadId !== undefined) return (await object.upload())?.objectAttributes.tags ?? [];
  return (await question.tags?.()) ?? [];
}

function valuesOf(tags: Tags, key: string): Values {
  const found = tags.find(([name]) => name === key);
  return found && [found[1]];
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields.get(name);
  return value === undefined ? undefined : utf8Of(value);
}
