import { tamed, type Act } from '../audit/audit-record.ts';
import type { RequestMessage } from '../http/message.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import { routes, type OperationName } from './operation-table.ts';
import type { RequestTrace } from './request-trace.ts';

/** Operations on buckets that change what they hold, but none of their settings. */
const ofData: ReadonlySet<string> = new Set<OperationName>(['DeleteObjects', 'PostObject', 'Preflight']);

/** Operations on objects that change who may do what with them. */
const ofRights: ReadonlySet<string> = new Set<OperationName>([
  'PutObjectAcl',
  'PutObjectRetention',
  'PutObjectLegalHold',
  'CreatePublicLink',
  'DeletePublicLink',
]);

/** The operations of S3 that are taken down: those that change buckets, their settings, and rights. */
export const auditedOperations: ReadonlySet<string> = new Set(
  routes.flatMap(({ on, method, operation }) =>
    (on === 'bucket' && /^(?:PUT|POST|DELETE)$/.test(method) && !ofData.has(operation)) || ofRights.has(operation)
      ? [operation]
      : [],
  ),
);

/** Operations that address no object, and yet are for what a bucket holds. */
const forData: ReadonlySet<string> = new Set<OperationName>([
  'DeleteObjects',
  'PostObject',
  'ListObjects',
  'ListObjectsV2',
  'ListObjectVersions',
  'ListMultipartUploads',
  'GetPublicLink',
  'GetWebsitePage',
]);

/** The operations for data of a bucket, and whether they read or write it. Those that are taken down anyway are not among them. */
export const dataOperations: ReadonlyMap<string, 'read' | 'write'> = new Map(
  routes.flatMap(({ on, method, operation }) =>
    (on === 'object' && method !== 'OPTIONS' && !auditedOperations.has(operation)) || forData.has(operation)
      ? [[operation, method === 'GET' || method === 'HEAD' ? ('read' as const) : ('write' as const)]]
      : [],
  ),
);

/** Returns what is taken down of a request, if it is one that changes identities, rights or settings, or makes keys. */
export function actOf(request: RequestMessage, trace: RequestTrace, status: number): Act | undefined {
  const { api, operation, caller, code, bucket, target } = trace;
  // CloudTrail's only reads.
  if (api === 'cloudtrail') return undefined;
  const isAudited = api
    ? !/^(?:Get(?!SessionToken|FederationToken)|List|Simulate|Sts$|Iam$)/.test(operation)
    : auditedOperations.has(operation);
  if (!isAudited) return undefined;
  const user = caller.kind === 'user' ? caller : undefined;
  const address = target?.address;
  return {
    ...common(request, trace),
    source: api || 's3',
    bucket: bucket?.name ?? (address && 'bucket' in address ? address.bucket : undefined),
    key: address && 'key' in address ? address.key : undefined,
    project: bucket?.project ?? user?.project.id,
    given: trace.given,
    error: code ?? (status >= 400 ? String(status) : undefined),
  };
}

/**
 * Returns what is taken down of a request for data of a bucket that asks for it: one act, or one for each key of a DeleteObjects. A request that is
 * refused before its bucket is read has none, as nobody knows then who sent it.
 */
export function dataActsOf(request: RequestMessage, trace: RequestTrace, status: number): readonly Act[] {
  const { bucket, operation, code, deletions, copied } = trace;
  const data = dataOperations.get(operation);
  if (bucket === undefined || data === undefined || !isWanted(bucket, data)) return [];
  const act = {
    ...common(request, trace),
    source: 's3',
    ...{ bucket: bucket.name, project: bucket.project, data },
  } as const;
  if (deletions)
    return deletions.map(({ key, versionId, code: refused }) => ({
      ...act,
      key,
      ...given({ versionId }),
      error: refused,
    }));
  return [
    {
      ...act,
      key: keyOf(trace),
      ...given({
        versionId: trace.target?.query.get('versionId'),
        'x-amz-copy-source': copied && `${copied.place.bucket}/${copied.place.key}`,
        'x-amz-rename-source': operation === 'RenameObject' ? request.fields.get('x-amz-rename-source') : undefined,
      }),
      error: code ?? (status >= 400 ? String(status) : undefined),
    },
  ];
}

/** Returns what is taken down of the source of a copy, by which its object was read. */
export function sourceActOf(
  request: RequestMessage,
  trace: RequestTrace,
  source: Bucket,
  status: number,
): Act | undefined {
  if (!isWanted(source, 'read')) return undefined;
  const { key, versionId } = trace.copied!.place;
  return {
    ...common(request, trace),
    ...{ source: 's3', data: 'read' },
    ...{ bucket: source.name, project: source.project, key, ...given({ versionId }) },
    error: trace.code ?? (status >= 400 ? String(status) : undefined),
  };
}

function isWanted({ audited }: Bucket, data: 'read' | 'write'): boolean {
  return audited === 'all' || (audited === 'writes' && data === 'write');
}

function common(request: RequestMessage, { caller, operation, requestId }: RequestTrace) {
  const user = caller.kind === 'user' ? caller : undefined;
  return {
    by: user
      ? ({ kind: 'user', project: user.project.id, user: user.name, key: user.accessKeyId } as const)
      : ({ kind: 'anonymous' } as const),
    event: operation,
    requestId,
    address: request.remoteAddress,
    agent: request.fields.get('user-agent'),
  };
}

function keyOf({ key, target }: RequestTrace): string | undefined {
  const address = target?.address;
  if (address?.kind === 'website') return address.path.slice(1);
  return key ?? (address && 'key' in address ? address.key : undefined);
}

/** Returns the parameters that there are, in the form in which a record may have them. */
function given(parameters: Readonly<Record<string, string | undefined>>): Pick<Act, 'given'> {
  const present = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, tamed(value)] as const],
  );
  return present.length === 0 ? {} : { given: Object.fromEntries(present) };
}
