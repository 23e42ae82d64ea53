import { principalArn, rootArn } from '../../shared/access/user-arn.ts';
import { cloudTrailRecord, type AuditRecord } from '../../shared/audit/audit-record.ts';

/** What the events of a project are called by: its number, and the name of its root. */
interface LookingProject {
  /** The canonical id. */
  readonly id: string;
  /** Its number in ARNs; undefined: it has none yet. */
  readonly accountNumber?: string | undefined;
  readonly root?: string | undefined;
}

/** An event, as LookupEvents returns it: https://docs.aws.amazon.com/awscloudtrail/latest/APIReference/API_Event.html */
export interface LookedUpEvent {
  readonly EventId: string;
  readonly EventName: string;
  readonly ReadOnly: 'true' | 'false';
  readonly AccessKeyId?: string;
  /** Seconds since the epoch. */
  readonly EventTime: number;
  readonly EventSource: string;
  readonly Username?: string;
  readonly Resources: readonly { readonly ResourceType: string; readonly ResourceName: string }[];
  /** All of the record, in JSON. */
  readonly CloudTrailEvent: string;
}

/**
 * Returns a record of a project as the project sees it. Of somebody of another project it sees that they were of another one, as in AWS:
 * neither their name nor their key.
 */
export function lookedUpEvent(record: AuditRecord, region: string, project: LookingProject): LookedUpEvent {
  const { id, by, event, bucket, key, time } = record;
  const account = project.accountNumber ?? project.id;
  const own = by.kind === 'user' && by.project === project.id ? by : undefined;
  const role = own && /^assumed-role\/[^/]+\/(?<session>.+)$/.exec(own.user);
  const shown = {
    ...cloudTrailRecord(record, region),
    userIdentity: identityOf(record, account, project),
    recipientAccountId: account,
  };
  const resources = [
    ...(bucket === undefined ? [] : [{ ResourceType: 'AWS::S3::Bucket', ResourceName: bucket }]),
    ...(bucket === undefined || key === undefined
      ? []
      : [{ ResourceType: 'AWS::S3::Object', ResourceName: `arn:aws:s3:::${bucket}/${key}` }]),
    ...(record.source === 's3' ? [] : identitiesIn(record.given)),
  ];
  return {
    EventId: id,
    EventName: event,
    ReadOnly: 'false',
    ...(own && {
      AccessKeyId: own.key,
      Username: role?.groups?.['session'] ?? (own.user === project.root ? 'root' : own.user),
    }),
    EventTime: Math.floor(time / 1000),
    EventSource: `${record.source}.amazonaws.com`,
    Resources: resources,
    CloudTrailEvent: JSON.stringify(shown),
  };
}

/** What the parameters of IAM and STS name. */
const identityTypes = {
  userName: 'AWS::IAM::User',
  groupName: 'AWS::IAM::Group',
  roleName: 'AWS::IAM::Role',
  roleArn: 'AWS::IAM::Role',
  policyArn: 'AWS::IAM::Policy',
  accessKeyId: 'AWS::IAM::AccessKey',
  openIDConnectProviderArn: 'AWS::IAM::OIDCProvider',
} as const;

function identitiesIn(given: AuditRecord['given'] = {}): LookedUpEvent['Resources'] {
  return Object.entries(identityTypes).flatMap(([name, ResourceType]) => {
    const ResourceName = given[name];
    return typeof ResourceName === 'string' ? [{ ResourceType, ResourceName }] : [];
  });
}

/** https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-user-identity.html */
function identityOf({ by }: AuditRecord, account: string, project: LookingProject): object {
  if (by.kind !== 'user') return { type: 'AWSAccount', principalId: '', accountId: 'anonymous' };
  if (by.project !== project.id) return { type: 'AWSAccount', principalId: by.project };
  const more = { accountId: account, accessKeyId: by.key };
  if (by.user.startsWith('assumed-role/'))
    return { type: 'AssumedRole', arn: `arn:aws:sts::${account}:${by.user}`, ...more };
  if (by.user === project.root) return { type: 'Root', principalId: account, arn: rootArn(account), ...more };
  const arn = principalArn(account, { project: { ...project, email: '', displayName: '' }, name: by.user });
  return { type: 'IAMUser', arn, userName: by.user, ...more };
}
