import type { Question } from '../access/authorise.ts';
import type { Caller, Projects } from '../access/identity.ts';
import type { Fields } from '../http/message.ts';
import type { Query } from '../http/query.ts';
import type { Authorisation, BucketAuthorisation } from '../metadata/buckets/authorisation.ts';
import type { Bucket } from '../metadata/buckets/bucket.ts';
import type { Buckets } from '../metadata/buckets/buckets.ts';
import type { Contents } from '../metadata/objects/contents.ts';
import type { ObjectAuthorisation } from '../metadata/objects/object-authorisation.ts';
import type { Monitoring } from '../metadata/monitoring/monitoring.ts';
import type { Objects } from '../metadata/objects/objects.ts';
import type { PublicLinks } from '../metadata/objects/public-links.ts';
import type { ObjectAttributes } from '../metadata/objects/versions.ts';
import type { Quotas } from '../metadata/quotas/quotas.ts';
import type { ContentReferences } from '../metadata/objects/content-references.ts';
import type { Uploads } from '../metadata/uploads/uploads.ts';
import type { UsageCounters } from '../metadata/quotas/usage.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventLoopBudget } from '../ports/event-loop.ts';
import type { Form } from './bodies/form.ts';
import type { Limits } from './limits.ts';
import type { Payload } from './bodies/payload.ts';
import type { RequestView } from './authorisation/request-view.ts';
import type { Level, OperationName } from './routes.ts';

/** What a deployment is called and how it speaks. */
export interface Settings {
  /** The region it says it is. */
  readonly region: string;
  /** The namespace of every XML answer but `<Error>`. */
  readonly xmlNamespace: string;
  /** The URI that names everybody in a grant. */
  readonly allUsersGroupUri: string;
  /** Where clients reach the deployment, without a slash at the end; undefined: where each request was sent. */
  readonly publicUrl?: string | undefined;
  /** Regions besides its own that a bucket may be asked for in; undefined: any. */
  readonly regions?: readonly string[] | undefined;
  /** False: no key of a customer (SSE-C) is taken, since it would not be encrypted on all of its way. Undefined: true. */
  readonly customerKeys?: boolean | undefined;
  /** How long a day of lifecycle rules is, if not a day. */
  readonly lifecycleDaySeconds?: number | undefined;
  readonly limits: Limits;
  /** Binds continuation tokens to this deployment. */
  readonly tokenKey: Uint8Array;
  /** Whether everything is gone when the service ends. */
  readonly ephemeral?: boolean;
}

/** Where a request points, by the level of its operation. */
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
 * The part of a request that `parse` may look at: everything the signature covers, and nothing of the body but what a form
 * says before its file.
 */
export type RequestHead<On extends Level, Body = 'none'> = Place<On> & {
  readonly method: string;
  readonly query: Query;
  readonly fields: Fields;
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly settings: Settings;
  /** Whether the bucket was named by the Host header. */
  readonly virtualHost: boolean;
  /** Whether the caller proved who they are. */
  readonly signed: boolean;
} & (Body extends 'form' ? { readonly form: Form } : object);

/** The deps an operation may use. */
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
  readonly clock: Clock;
  readonly settings: Settings;
}

/** What `act` works with besides its input: a plain object, which may be spread. `bucket` is the one addressed, loaded and authorised. */
export type Context<On extends Level, Body> = Services & {
  readonly caller: Caller;
  /** Looks up buckets and objects, so that what was authorised is what is used. */
  readonly view: RequestView;
  /** Authorises a change that only the document brings up, of an object in the bucket. @throws S3Error AccessDenied */
  readonly authorise: (question: Question & { readonly key: string }) => Promise<ObjectAuthorisation>;
  /** Authorises a look at something else than the operation's questions were about. @throws S3Error AccessDenied */
  readonly authoriseLook: (question: Question) => Promise<void>;
  /** What the operation's questions came to: repositories change nothing without it. */
  readonly authorisation: AuthorisationOf<On, Body>;
} & (On extends 'service' | 'internal' ? { readonly bucket?: Bucket | undefined } : { readonly bucket: Bucket }) &
  // Tells what bucket a request turned out to be about that names none: its rules of CORS count then, and its owner's rate.
  (On extends 'internal' ? { readonly concerns: (bucket: Bucket) => Promise<void> } : object) &
  BodyOf<Body>;

/** A form names its object itself. */
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

/** A body that is read whole, up to a limit, and turned into something typed after authorisation. */
export interface DocumentBody<Document> {
  readonly maximum: keyof Limits;
  /** Set if there need not be one: then not even its length must be given. */
  readonly optional?: true;
  /** Set if the length must be known before the body is sent: a chunked one is not taken. */
  readonly announced?: true;
  /**
   * Gets the verified bytes; throws the S3 error that fits a malformed document. What may be large it reads in as many turns of the event
   * loop as the budget says: XML with `parseXml`.
   */
  read(bytes: Uint8Array, settings: Settings, budget: EventLoopBudget): Document | Promise<Document>;
}

/**
 * `none`: a body that is sent all the same is verified and thrown away. `stream`: the operation reads it as it arrives.
 * `form`: a form is read before `parse`, and the operation reads its file as it arrives.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a document may be anything
export type BodyMode = 'none' | 'stream' | 'form' | DocumentBody<any>;

/** What an operation does to table and blobs: it becomes the function's grants in the cloud. */
export interface Needs {
  readonly table: 'read' | 'write';
  readonly blobs?: 'read' | 'write';
}

/** An answer before it meets a transport. `content-type: application/xml` goes with `xml`, `text/html` with `html`. */
export interface Answer {
  /** 200 unless said. */
  readonly status?: number;
  readonly fields?: Iterable<readonly [string, string]>;
  readonly xml?: string;
  readonly html?: string;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * One operation of the API. Five steps, always in this order: parse what the request says, state the questions for the
 * authorisation, (read the document,) act, render. None of them sees a socket or an event.
 */
export interface Operation<On extends Level, Body extends BodyMode, Input, Output> {
  readonly name: OperationName;
  readonly on: On | readonly On[];
  readonly body: Body;
  readonly needs: Needs;
  /** Set if whoever asks is nobody in particular: credentials that come along are not looked at. */
  readonly ignoresCredentials?: true;
  /** False for operations on a bucket that need not exist yet. */
  readonly bucketMustExist?: false;
  /** Set if it lists keys of a bucket: policies may ask for its `prefix`, `delimiter` and `max-keys`. */
  readonly isListing?: On extends 'bucket' ? true : never;
  /** Set if x-amz-checksum-* headers are of the object that comes of the request, not of its body. */
  readonly checksumsDescribe?: 'object';
  parse(request: RequestHead<On, Body>): Input;
  authorise(input: Input, request: RequestHead<On, Body>): readonly Question[];
  /** The tags that the request gives, for policies that ask. To read the body for them is to do so before its time. */
  requestTags?(
    input: Input,
    body: () => Promise<BodyOf<Body>>,
  ): Promise<ObjectAttributes['tags']> | ObjectAttributes['tags'];
  act(input: Input, context: Context<On, Body>): Promise<Output>;
  render(output: Output, input: Input, request: RequestHead<On, Body>): Answer;
}

/** An operation whose types are closed over, as the pipeline handles it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- existential types are spelled `any` in TypeScript
export type AnyOperation = Operation<any, any, any, any>;

/** Declares an operation; the types of its steps follow from each other. */
export function defineOperation<const On extends Level, const Body extends BodyMode, Input, Output>(
  operation: Operation<On, Body, Input, Output>,
): Operation<On, Body, Input, Output> {
  return operation;
}
