import type { Caller } from '../../access/identity.ts';
import { actingArn, federatedArn, isRoot } from '../../access/user-arn.ts';
import { errorTable, type ErrorCode } from '../../errors/table.ts';
import type { Fields, RequestMessage } from '../../http/message.ts';
import { encodeName } from '../../http/url-encoding.ts';
import type { LifecycleAct } from '../../lifecycle/lifecycle-key.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LoggingSettings } from '../../storage/buckets/bucket-settings.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { Buckets } from '../../storage/buckets/buckets.ts';
import { dayOf } from '../../storage/table/keys/days.ts';
import type { RequestTrace } from '../request-trace.ts';
import { batchDelete, loggedOperation, loggedSource, ofLifecycle } from './log-operations.ts';
import { logLine, type LogRecord } from './log-record.ts';
import type { LogBatch, LogDestination } from './log-spool.ts';

/** Names of logged buckets that are remembered, for requests that are refused before their bucket is read. */
const mostKnown = 10_000;
/** Such requests that wait for their bucket to be read. More of them are not logged. */
const mostLookups = 1000;

/** The response of a request. */
interface Sent {
  readonly status: number;
  readonly fields: Fields;
}

/** Takes down requests to buckets that have access logs. */
export interface RequestRecorder {
  /**
   * Called when a response begins.
   * @returns what to call at its end, with the bytes of its body; undefined: nobody wants to know
   */
  begin(request: RequestMessage, trace: RequestTrace, sent: Sent): ((bytesSent: number) => void) | undefined;
}

interface Deps {
  readonly buckets: Pick<Buckets, 'find'>;
  readonly clock: Clock;
  readonly hostId: string;
  /** Returns an id for what no request has done. */
  readonly requestId: () => string;
  /** Whether records have their last field. */
  readonly sourceRegion: boolean;
  /** Takes records. Never waits. */
  readonly add: (batch: LogBatch) => void;
}

/** Makes the records of access logs, as S3 does. Costs a request of a bucket without a log nothing but looking at its settings. */
export class AccessLog implements RequestRecorder {
  readonly #deps: Deps;
  readonly #known = new Set<string>();
  readonly #lookups = new Set<Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  begin(request: RequestMessage, trace: RequestTrace, sent: Sent): ((bytesSent: number) => void) | undefined {
    const { bucket, copied } = trace;
    const unread = bucket === undefined ? this.#knownName(trace) : undefined;
    if (bucket?.logging === undefined && copied === undefined && unread === undefined) return undefined;
    const { clock } = this.#deps;
    const began = clock.now();
    return (bytesSent) => {
      const times = { turnAround: began - (trace.receivedAt ?? trace.startedAt), total: clock.now() - trace.startedAt };
      const about = (logged: Bucket): void => this.#recordsOf(logged, request, trace, sent, { ...times, bytesSent });
      if (bucket) about(bucket);
      else if (unread !== undefined) this.#look(() => this.#deps.buckets.find(unread), about);
      if (copied) this.#look(copied.bucket, (source) => this.#recordOfSource(source, request, trace, sent));
    };
  }

  /** Takes down what a lifecycle rule has done. */
  lifecycle({ bucket, key, what, version }: LifecycleAct): void {
    if (bucket.logging === undefined) return;
    const { clock, hostId, requestId } = this.#deps;
    this.#add(bucket, bucket.logging, {
      ...ofNoRequest,
      bucketOwner: bucket.project,
      bucket: bucket.name,
      time: clock.now(),
      remoteAddress: undefined,
      requester: 'AmazonS3',
      requestId: requestId(),
      operation: ofLifecycle[what],
      key: encodeName(key.toWellFormed()),
      requestLine: '-',
      status: undefined,
      errorCode: undefined,
      objectSize: what === 'expired' && version?.marker === false ? version.size : undefined,
      versionId: version?.named === true ? version.instance : undefined,
      hostId,
      signatureVersion: undefined,
      cipher: undefined,
      authenticationType: undefined,
      host: undefined,
      tls: undefined,
      aclRequired: false,
    });
  }

  /** Resolves once the records of all requests that have ended are there. */
  async settle(): Promise<void> {
    await Promise.all(this.#lookups);
  }

  /** Returns the bucket that a request names, if it had a log when it was last read. */
  #knownName({ target }: RequestTrace): string | undefined {
    const address = target?.address;
    const name = address && 'bucket' in address ? address.bucket : undefined;
    return name !== undefined && this.#known.has(name) ? name : undefined;
  }

  #look(find: () => Promise<Bucket | undefined>, about: (bucket: Bucket) => void): void {
    if (this.#lookups.size >= mostLookups) return;
    const lookup = find().then(
      (bucket) => bucket && about(bucket),
      // There is no such bucket, or it cannot be read: nobody knows whose log it would be.
      () => undefined,
    );
    const waiting = lookup.then(() => void this.#lookups.delete(waiting));
    this.#lookups.add(waiting);
  }

  #recordsOf(
    bucket: Bucket,
    request: RequestMessage,
    trace: RequestTrace,
    { status, fields }: Sent,
    { bytesSent, total, turnAround }: { bytesSent: number; total: number; turnAround: number },
  ): void {
    if (bucket.logging === undefined) return;
    this.#remember(bucket.name);
    const common = this.#common(bucket, request, trace);
    this.#add(bucket, bucket.logging, {
      ...common,
      operation: loggedOperation(trace.operation, request.method),
      key: keyOf(trace),
      requestLine: requestLine(request),
      status,
      errorCode: trace.code,
      bytesSent,
      objectSize: objectSize(trace.operation, request, { status, fields }),
      totalMilliseconds: total,
      turnAroundMilliseconds: turnAround,
      referer: request.fields.get('referer'),
      userAgent: request.fields.get('user-agent'),
      versionId: trace.target?.query.get('versionId'),
    });
    for (const { key, versionId, code } of trace.deletions ?? []) {
      this.#add(bucket, bucket.logging, {
        ...common,
        ...ofNoRequest,
        operation: batchDelete,
        key: encodeName(key.toWellFormed()),
        status: code === undefined ? 204 : errorTable[code as ErrorCode].status,
        errorCode: code,
        versionId,
      });
    }
  }

  /** The source of a copy has a record of its own in the log of its bucket. */
  #recordOfSource(bucket: Bucket, request: RequestMessage, trace: RequestTrace, { status }: Sent): void {
    if (bucket.logging === undefined) return;
    this.#remember(bucket.name);
    const { key, versionId } = trace.copied!.place;
    this.#add(bucket, bucket.logging, {
      ...this.#common(bucket, request, trace),
      ...ofNoRequest,
      operation: loggedSource(trace.operation),
      key: encodeName(key.toWellFormed()),
      requestLine: requestLine(request),
      status,
      errorCode: trace.code,
      referer: request.fields.get('referer'),
      userAgent: request.fields.get('user-agent'),
      versionId,
    });
  }

  #common(bucket: Bucket, request: RequestMessage, trace: RequestTrace) {
    const { fields, remoteAddress, tlsVersion, tlsCipher } = request;
    return {
      bucketOwner: bucket.project,
      bucket: bucket.name,
      time: trace.startedAt,
      remoteAddress,
      requester: requesterOf(trace.caller),
      requestId: trace.requestId,
      hostId: this.#deps.hostId,
      signatureVersion: signatureVersions[trace.scheme ?? 'anonymous'],
      cipher: tlsCipher?.(),
      authenticationType: authenticationTypes[trace.scheme ?? 'anonymous'],
      host: fields.get('host'),
      tls: tlsVersion && `TLSv${tlsVersion}`,
      aclRequired: trace.aclRequired === true,
    } as const;
  }

  #remember(name: string): void {
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.add(name);
  }

  #add(bucket: Bucket, settings: LoggingSettings, record: LogRecord): void {
    const { add, sourceRegion } = this.#deps;
    const { target, prefix, grants, keyFormat = 'simple' } = settings;
    const to: LogDestination = {
      target,
      prefix,
      grants,
      project: bucket.project,
      ...(keyFormat !== 'simple' && { bucket: bucket.name }),
      ...(keyFormat === 'EventTime' && { day: dayOf(record.time) }),
    };
    add({ to: JSON.stringify(to), source: bucket.name, records: 1, lines: logLine(record, { sourceRegion }) });
  }
}

/** What a record has not that is not about the whole of a request. */
const ofNoRequest = {
  requestLine: undefined,
  bytesSent: undefined,
  objectSize: undefined,
  totalMilliseconds: undefined,
  turnAroundMilliseconds: undefined,
  referer: undefined,
  userAgent: undefined,
};

type Scheme = NonNullable<RequestTrace['scheme']>;

const signatureVersions: Readonly<Record<Scheme, LogRecord['signatureVersion']>> = {
  anonymous: undefined,
  'v4-header': 'SigV4',
  'v4-presigned': 'SigV4',
  'form-v4': 'SigV4',
  'v2-header': 'SigV2',
  'v2-presigned': 'SigV2',
  'form-v2': 'SigV2',
};

const authenticationTypes: Readonly<Record<Scheme, LogRecord['authenticationType']>> = {
  anonymous: undefined,
  'v4-header': 'AuthHeader',
  'v4-presigned': 'QueryString',
  'form-v4': undefined,
  'v2-header': 'AuthHeader',
  'v2-presigned': 'QueryString',
  'form-v2': undefined,
};

/** Returns the canonical id of root, and the ARN of other users. */
function requesterOf(caller: Caller): string | undefined {
  if (caller.kind !== 'user') return undefined;
  const { project, session } = caller;
  const account = project.accountNumber ?? project.id;
  if (session?.kind !== 'role' && session?.name !== undefined) return federatedArn(account, session.name);
  return isRoot(caller) ? project.id : actingArn(account, caller);
}

function keyOf({ key, target }: RequestTrace): string | undefined {
  const address = target?.address;
  if (address?.kind === 'website') return address.path.slice(1);
  const name = key ?? (address && 'key' in address ? address.key : undefined);
  return name === undefined ? undefined : encodeName(name.toWellFormed());
}

/** Parameters that would let readers of the log use the link of another. */
const secrets: ReadonlySet<string> = new Set(['x-amz-signature', 'x-amz-security-token', 'signature']);

function requestLine({ method, target, isFormer }: RequestMessage): string {
  return `${method} ${withoutSecrets(target)} HTTP/${isFormer ? '1.0' : '1.1'}`;
}

function withoutSecrets(target: string): string {
  const mark = target.indexOf('?');
  if (mark < 0) return target;
  const parameters = target
    .slice(mark + 1)
    .split('&')
    .map((parameter) => {
      const [name = ''] = parameter.split('=', 1);
      return secrets.has(decoded(name).toLowerCase()) ? `${name}=-` : parameter;
    });
  return `${target.slice(0, mark)}?${parameters.join('&')}`;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Returns the size of the object that a request reads or writes, as its header fields tell. */
function objectSize(operation: string, request: RequestMessage, { status, fields }: Sent): number | undefined {
  switch (operation) {
    case 'PutObject':
    case 'UploadPart':
      return numberIn(request.fields.get('x-amz-decoded-content-length') ?? request.fields.get('content-length'));
    case 'GetObject':
    case 'HeadObject':
    case 'GetPublicLink':
    case 'GetWebsitePage': {
      if (status !== 200 && status !== 206) return undefined;
      const range = fields.get('content-range');
      return numberIn(range === undefined ? fields.get('content-length') : range.slice(range.lastIndexOf('/') + 1));
    }
    default:
      return undefined;
  }
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
