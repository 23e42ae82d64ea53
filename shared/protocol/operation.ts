import type { Question } from '../access/authorise.ts';
import type { Caller, Projects } from '../access/identity.ts';
import type { ProjectRecords } from '../audit/project-records.ts';
import type { Identities } from '../accounts/identities.ts';
import type { LastUses } from '../accounts/key-uses.ts';
import type { ProviderKeys } from '../signing/web-identity/provider-keys.ts';
import type { Sessions } from '../access/session-tokens.ts';
import type { Fields } from '../http/message.ts';
import type { ConditionRow } from '../http/fields/preconditions.ts';
import type { Query } from '../http/query.ts';
import type { Authorisation, BucketAuthorisation } from '../storage/buckets/authorisation.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import type { Buckets } from '../storage/buckets/buckets.ts';
import type { Contents } from '../storage/objects/contents.ts';
import type { ObjectAuthorisation } from '../storage/version-changes/object-authorisation.ts';
import type { EventTargets } from '../events/event-targets.ts';
import type { Monitoring } from '../monitoring/compose-monitoring.ts';
import type { Objects } from '../storage/objects/objects.ts';
import type { PublicLinks } from '../storage/objects/public-links.ts';
import type { Quotas } from '../storage/quotas/quotas.ts';
import type { ContentReferences } from '../storage/objects/content-references.ts';
import type { Uploads } from '../storage/uploads/uploads.ts';
import type { UsageCounters } from '../storage/quotas/usage.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventLoopBudget } from '../ports/event-loop.ts';
import type { Form } from './bodies/form.ts';
import type { Limits } from './limits.ts';
import type { Payload } from './bodies/payload.ts';
import type { Place as ObjectPlace } from './objects/questions.ts';
import type { LoggedDeletion } from './request-trace.ts';
import type { RequestView } from './authorisation/request-view.ts';
import type { ImplementedName, Level, OperationName } from './operation-table.ts';

/** The names and settings of a deployment. */
export interface Settings {
  /** The region that the deployment reports. */
  readonly region: string;
  /** The namespace of all XML responses except `<Error>`. */
  readonly xmlNamespace: string;
  /** The URI of the group of all users. */
  readonly allUsersGroupUri: string;
  /** The URL of the deployment, without a trailing slash. Undefined: the host that each request was sent to. */
  readonly publicUrl?: string | undefined;
  /** Where the console is, if browsers are told: its address, to which they are redirected, or its port on the host they asked. */
  readonly console?: { readonly url: string } | { readonly port: number } | undefined;
  /** Regions besides its own that a new bucket may ask for. Undefined: any. */
  readonly regions?: readonly string[] | undefined;
  /**
   * False: customer keys (SSE-C) are refused, since they would not be encrypted throughout their way. Undefined: true.
   */
  readonly customerKeys?: boolean | undefined;
  /** The length of a day in lifecycle rules, if not 24 hours. */
  readonly lifecycleDaySeconds?: number | undefined;
  readonly limits: Limits;
  /** Binds continuation tokens to this deployment. */
  readonly tokenKey: Uint8Array;
  /** True if all data is lost when the service ends. */
  readonly ephemeral?: boolean;
}

/** The resource that a request addresses, by the level of its operation. */
type Place<On extends Level> = On extends 'object'
  ? { readonly bucket: string; readonly key: string }
  : On extends 'website'
    ? { readonly bucket: string; readonly path: string; readonly host: string }
    : On extends 'bucket'
      ? { readonly bucket: string }
      : On extends 'internal'
        ? { readonly path: string }
        : object;

/**
 * The part of a request that `parse` may read: everything that the signature covers, but nothing of the body except the
 * fields of a form before its file.
 */
export type RequestHead<On extends Level, Body = 'none'> = Place<On> & {
  readonly method: string;
  readonly query: Query;
  readonly fields: Fields;
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly settings: Settings;
  /** True if the Host header names the bucket. */
  readonly virtualHost: boolean;
  /** True if the caller is authenticated. */
  readonly signed: boolean;
} & (Body extends 'form' ? { readonly form: Form } : object);

/** The services that an operation may use. */
export interface Services {
  readonly buckets: Buckets;
  readonly objects: Objects;
  readonly uploads: Uploads;
  readonly contents: Contents;
  readonly contentReferences: ContentReferences;
  readonly usage: UsageCounters;
  readonly quotas: Quotas;
  readonly monitoring: Monitoring;
  readonly publicLinks: PublicLinks;
  readonly blobs: BlobStore;
  readonly projects: Projects;
  readonly identities: Identities;
  readonly lastUses: LastUses;
  readonly projectRecords: ProjectRecords;
  readonly sessions: Sessions;
  /** The keys of identity providers. Undefined: none is asked. */
  readonly providerKeys?: ProviderKeys | undefined;
  readonly clock: Clock;
  readonly settings: Settings;
  /** Tells whether lines of the log can be written. Undefined: somebody else collects them. */
  readonly logIsWritten?: (() => Promise<boolean>) | undefined;
  /** Where events of buckets are delivered. Undefined: nowhere. */
  readonly eventTargets?: EventTargets | undefined;
  /** True if access logs of buckets are delivered. */
  readonly deliversAccessLogs?: boolean | undefined;
}

/**
 * The context of `act` besides its input: a plain object, which may be spread. `bucket` is the addressed one, loaded
 * and authorised.
 */
export type Context<On extends Level, Body> = Services & {
  readonly caller: Caller;
  /** Looks up buckets and objects, and returns the same ones as authorisation used. */
  readonly view: RequestView;
  /**
   * Authorises a change, known only from the document, of an object in the bucket, by all of these questions about it.
   * @throws S3Error AccessDenied
   */
  readonly authorise: (
    ...questions: readonly [Question & { readonly key: string }, ...(readonly Question[])]
  ) => Promise<ObjectAuthorisation>;
  /**
   * Authorises something that the operation's questions did not cover, for the caller as last confirmed by `authorisation`.
   * @throws S3Error AccessDenied
   */
  readonly authoriseLook: (question: Question) => Promise<void>;
  readonly requestId: string;
  /** Aborted when the client is gone: what only reads for it is abandoned. */
  readonly signal: AbortSignal;
  /** Names the action of another API that is performed, for the log and the metrics, and its parameters, for the audit log. */
  readonly performs: (action: string, given: Readonly<Record<string, unknown>>) => void;
  /** The result of the operation's questions, without which repositories change nothing. */
  readonly authorisation: AuthorisationOf<On, Body>;
} & (On extends 'service' | 'internal' ? { readonly bucket?: Bucket | undefined } : { readonly bucket: Bucket }) &
  // Sets the bucket and the key of a request that does not name them, so that its CORS rules and its owner's request rate apply.
  (On extends 'internal' ? { readonly concerns: (bucket: Bucket, key: string) => Promise<void> } : object) &
  BodyOf<Body>;

/** The type of authorisation. A form names its object itself. */
type AuthorisationOf<On extends Level, Body> = On extends 'object'
  ? ObjectAuthorisation
  : On extends 'bucket'
    ? Body extends 'form'
      ? ObjectAuthorisation
      : BucketAuthorisation
    : Authorisation;

type BodyOf<Body> = Body extends 'stream' | 'form'
  ? { readonly payload: Payload }
  : Body extends DocumentBody<infer Document>
    ? { readonly document: Document }
    : object;

/** A body that is read whole, up to a limit, and parsed after authorisation. */
export interface DocumentBody<Document> {
  readonly maximum: keyof Limits;
  /** Set if the body may be absent. */
  readonly optional?: true;
  /** Set if the length need not be known in advance: a chunked body is accepted. */
  readonly chunked?: true;
  /**
   * Parses the verified bytes. Throws the appropriate S3 error for a malformed document. Must spread the parsing of
   * large documents over turns of the event loop as the budget demands: XML with `parseXml`.
   */
  read(bytes: Uint8Array, settings: Settings, budget: EventLoopBudget): Document | Promise<Document>;
}

/**
 * `none`: a body that is sent nevertheless is verified and discarded. `stream`: the operation reads the body as it
 * arrives. `form`: the fields are read before `parse`, and the operation reads the file as it arrives.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a document may be anything
export type BodyMode = 'none' | 'stream' | 'form' | DocumentBody<any>;

/**
 * The access that an operation needs to the table and the blobs. In the cloud, it determines the function's
 * permissions.
 */
export interface Needs {
  readonly table: 'read' | 'write';
  readonly blobs?: 'read' | 'write';
}

/**
 * A response before it is passed to a transport. `content-type: application/xml` is implied by `xml`, `text/html` by
 * `html`.
 */
export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  readonly fields?: Iterable<readonly [string, string]>;
  /** Text, or UTF-8. A stream only where it was admitted: bodies/admission.ts. */
  readonly xml?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly html?: string;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/**
 * One operation of the API. Five steps, always in this order: parse the request, state the questions for authorisation,
 * (read the document,) act, render. None of them has access to a socket or an event. `body` alone decides `Body`, not
 * the steps that are written for any.
 */
export interface Operation<On extends Level, Body extends BodyMode, Input, Output, Conditions = undefined> {
  readonly name: OperationName;
  readonly on: On | readonly On[];
  readonly body: Body;
  readonly needs: Needs;
  /** Set if the caller's identity does not matter: credentials in the request are ignored. */
  readonly ignoresCredentials?: true;
  /** Set if it reads page upon page of the table: the number of such requests at a time has a bound. */
  readonly isListing?: true;
  /** False if the bucket need not exist yet. */
  readonly bucketMustExist?: false;
  /** Set if x-amz-checksum-* headers are for the resulting object, not for the body. */
  readonly checksumsDescribe?: 'object';
  /** The conditions that it evaluates, which `parse` is given: a write refuses all others. Default: none. */
  readonly conditions?: ConditionRow<Conditions>;
  parse(request: RequestHead<On, NoInfer<Body>>, conditions: NoInfer<Conditions>): Input;
  /**
   * @param body reads the document, for facts of the questions that only it has; called when a policy asks for them
   */
  authorise(
    input: Input,
    request: RequestHead<On, NoInfer<Body>>,
    body: () => Promise<BodyOf<NoInfer<Body>>>,
  ): readonly Question[];
  /**
   * Finds the object or upload that a document is about. Called if the document is refused: it is judged only if what it is about exists.
   * @throws S3Error the operation's error for what does not exist
   */
  findSubject?(input: Input, context: SubjectContext): Promise<void>;
  act(input: Input, context: Context<On, NoInfer<Body>>): Promise<Output>;
  /** Returns the source of a copy, which has a record of its own in the access log of its bucket. */
  sourceOf?(input: Input): ObjectPlace;
  /** Returns what it did to each of its keys, which have records of their own in the access log. */
  deletionsOf?(output: Output): readonly LoggedDeletion[];
  render(output: Output, input: Input, request: RequestHead<On, NoInfer<Body>>): Answer;
}

/** What an operation with a document may use to find what it is about. */
export interface SubjectContext extends Pick<Services, 'uploads'> {
  readonly bucket: Bucket;
  readonly caller: Caller;
  readonly view: RequestView;
}

/** An operation of any types, as the pipeline handles it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- existential types are spelled `any` in TypeScript
export type AnyOperation = Operation<any, any, any, any, any>;

/** Defines an operation of the table, and infers the types of its steps from each other. */
export function defineOperation<
  const On extends Level,
  const Body extends BodyMode,
  Input,
  Output,
  Conditions = undefined,
>(
  operation: Operation<On, Body, Input, Output, Conditions> & { readonly name: ImplementedName },
): Operation<On, Body, Input, Output, Conditions> {
  return operation;
}

/** Returns a 200 response with an XML content type and no body, as S3 sends after a PUT of a document. */
export function emptyXml(): Answer {
  return { fields: [['content-type', 'application/xml']] };
}
