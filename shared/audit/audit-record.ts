/**
 * Who did something: a user of a project, nobody known, an operator over HTTP, who has the machine, or somebody whom AWS's IAM lets invoke the
 * administration of a deployment.
 */
export type Actor =
  | { readonly kind: 'user'; readonly project: string; readonly user: string; readonly key: string }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'operator'; readonly operator: string }
  | { readonly kind: 'machine'; readonly user: string }
  | { readonly kind: 'invoker' };

/** One act: who did what, from where, and whether it was allowed. Holds no secret. */
export interface AuditRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly id: string;
  readonly by: Actor;
  /** The service that was asked, as AWS names those that it has. */
  readonly source: 's3' | 'sts' | 'iam' | 'administration';
  /** `PutBucketPolicy`, or the name of a command. */
  readonly event: string;
  readonly requestId?: string | undefined;
  readonly address?: string | undefined;
  readonly agent?: string | undefined;
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  /** The canonical id of the project that it concerns: that of the bucket's owner, or of the user. */
  readonly project?: string | undefined;
  /** What a command was given, or the parameters of an action of IAM or STS as CloudTrail names them, without secrets. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** Set of a request for the data of a bucket, if it asked for that: what the request does with it. */
  readonly data?: 'read' | 'write' | undefined;
  /** Why it was refused or failed; undefined: it was done. */
  readonly error?: string | undefined;
}

/** An act, as it is written down: the rest is added. */
export type Act = Omit<AuditRecord, 'time' | 'id'>;

/** Takes acts down. */
export interface Auditor {
  /** @returns false: there is no room for it, and it is lost */
  record(act: Act): boolean;
  /** Set if no act is answered as done unless it is taken down. Writes what was recorded until now. @returns false: some of it was lost */
  readonly secured?: (() => Promise<boolean>) | undefined;
}

/** The longest text of a client that is kept, in characters. */
const maxText = 1024;

/** Returns a text of a client without what could be taken for another record, and not longer than one needs. */
export function tamed(text: string | undefined): string | undefined {
  return text?.slice(0, maxText).replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd');
}

/** Returns what was given with the beginnings of its texts alone. */
export function shortened(given: Act['given']): Act['given'] {
  if (given === undefined) return undefined;
  const text = JSON.stringify(given, (_, value: unknown) =>
    typeof value === 'string' ? value.slice(0, maxText) : value,
  );
  return JSON.parse(text) as Act['given'];
}

/**
 * Returns a record in the form of AWS's CloudTrail.
 * https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
 */
export function cloudTrailRecord(record: AuditRecord, region: string): object {
  const { by, bucket, key, given, error, data } = record;
  const parameters = {
    ...(bucket !== undefined && { bucketName: bucket }),
    ...(key !== undefined && { key }),
    ...given,
  };
  return {
    eventVersion: '1.11',
    userIdentity: identityOf(by),
    eventTime: new Date(record.time).toISOString().replace(/\.\d+Z$/, 'Z'),
    eventSource: `${record.source}.${record.source === 'administration' ? 'stillage' : 'amazonaws.com'}`,
    eventName: record.event,
    awsRegion: region,
    sourceIPAddress: record.address ?? '-',
    userAgent: record.agent ?? '-',
    ...(error !== undefined && { errorCode: error }),
    requestParameters: Object.keys(parameters).length === 0 ? null : parameters,
    responseElements: null,
    requestID: record.requestId ?? record.id,
    eventID: record.id,
    readOnly: data === 'read',
    eventType: record.source === 'administration' ? 'StillageCommand' : 'AwsApiCall',
    managementEvent: data === undefined,
    ...(data !== undefined && { resources: resourcesOf(record) }),
    recipientAccountId: record.project ?? '-',
    eventCategory: data === undefined ? 'Management' : 'Data',
  };
}

/** A request that names no object is about all of the bucket. */
function resourcesOf({ bucket = '', key, project }: AuditRecord): readonly object[] {
  const arn = `arn:aws:s3:::${bucket}`;
  const object = key === undefined ? { ARNPrefix: `${arn}/` } : { ARN: `${arn}/${key}` };
  return [
    { type: 'AWS::S3::Object', ...object },
    { accountId: project ?? '-', type: 'AWS::S3::Bucket', ARN: arn },
  ];
}

function identityOf(by: Actor): object {
  switch (by.kind) {
    case 'user':
      return { type: 'IAMUser', accountId: by.project, userName: by.user, accessKeyId: by.key };
    case 'anonymous':
      return { type: 'AWSAccount', principalId: '', accountId: 'anonymous' };
    case 'operator':
      return { type: 'Operator', userName: by.operator };
    case 'machine':
      return { type: 'Machine', userName: by.user };
    case 'invoker':
      // The request's id leads to who it was, in AWS's own CloudTrail.
      return { type: 'AWSService', invokedBy: 'lambda.amazonaws.com' };
  }
}
