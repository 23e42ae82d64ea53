import type { Act } from '../audit/audit-record.ts';
import type { RequestMessage } from '../http/message.ts';
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

/** Returns what is taken down of a request, if it is one that changes identities, rights or settings, or makes keys. */
export function actOf(request: RequestMessage, trace: RequestTrace, status: number): Act | undefined {
  const { api, operation, caller, code, bucket, target } = trace;
  const isAudited = api
    ? !/^(?:Get(?!SessionToken|FederationToken)|List|Simulate|Sts$|Iam$)/.test(operation)
    : auditedOperations.has(operation);
  if (!isAudited) return undefined;
  const user = caller.kind === 'user' ? caller : undefined;
  const address = target?.address;
  return {
    by: user
      ? { kind: 'user', project: user.project.id, user: user.name, key: user.accessKeyId }
      : { kind: 'anonymous' },
    source: api || 's3',
    event: operation,
    requestId: trace.requestId,
    address: request.remoteAddress,
    agent: request.fields.get('user-agent'),
    bucket: bucket?.name ?? (address && 'bucket' in address ? address.bucket : undefined),
    key: address && 'key' in address ? address.key : undefined,
    project: bucket?.project ?? user?.project.id,
    error: code ?? (status >= 400 ? String(status) : undefined),
  };
}
