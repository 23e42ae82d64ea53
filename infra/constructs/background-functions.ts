/** The trigger of a background function. */
export type Trigger =
  /** Changes of items whose partition keys have one of these prefixes. */
  | { readonly by: 'changes'; readonly prefixes: readonly string[]; readonly patienceHours: number }
  /** https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html */
  | { readonly by: 'schedule'; readonly expression: string }
  /** A message of the lifecycle queue. */
  | { readonly by: 'message'; readonly maxConcurrency: number }
  /** A direct invocation, as IAM allows. */
  | { readonly by: 'invocation' }
  /** Requests to an API of its own. */
  | { readonly by: 'requests' };

/** The permissions that a background function needs. */
export interface BackgroundNeeds {
  /** Actions of DynamoDB on the table. An item of a transaction counts as its single-item action. */
  readonly table: readonly `dynamodb:${string}`[];
  /** Actions of S3 on blobs. */
  readonly blobs?: readonly `s3:${string}`[];
  /** The secret of the deployment. */
  readonly secret?: true;
  /** Send to the lifecycle queue. */
  readonly lifecycleQueue?: true;
  /** Publish to topics of other accounts, for alarms of users. */
  readonly topics?: true;
  /** Read the change feed again. */
  readonly feed?: true;
  /** Read metrics. */
  readonly metrics?: true;
  /** Query the log of requests. */
  readonly requestLog?: true;
}

/** A function that does not serve requests. */
export interface BackgroundFunction {
  readonly name: string;
  /** The module that exports `handler`, relative to the repository's root. */
  readonly file: string;
  readonly does: string;
  readonly needs: BackgroundNeeds;
  readonly trigger: Trigger;
  readonly timeoutMinutes: number;
  /** Numeric fields of its log lines that become metrics. */
  readonly measures?: readonly string[];
}

const read = ['dynamodb:GetItem', 'dynamodb:Query'] as const;
const put = ['dynamodb:PutItem'] as const;
const remove = ['dynamodb:DeleteItem'] as const;
const check = ['dynamodb:ConditionCheckItem'] as const;
const file = (name: string): string => `functions/cloud/background/${name}.ts`;

/** The background functions. */
export const backgroundFunctions: readonly BackgroundFunction[] = [
  {
    name: 'CountUsage',
    file: file('count-usage'),
    does: 'follows the change feed: counts usage, and flags full buckets',
    needs: { table: [...read, ...put, ...remove] },
    // The stream keeps records for a day. Counters retry them as long as they exist.
    trigger: { by: 'changes', prefixes: ['head/', 'upload/', 'links/'], patienceHours: 24 },
    timeoutMinutes: 2,
  },
  {
    name: 'ReleaseContent',
    file: file('release-content'),
    does: 'follows the change feed: queues released content and ended uploads',
    needs: { table: [...read, ...put, ...remove] },
    // A discarded record can be replayed for the rest of a day.
    trigger: { by: 'changes', prefixes: ['head/', 'old/', 'upload/'], patienceHours: 6 },
    timeoutMinutes: 5,
  },
  {
    name: 'ReplayChanges',
    file: file('replay-changes'),
    does: 'replays the records of a dead letter of ReleaseContent',
    needs: { table: [...read, ...put, ...remove], feed: true },
    trigger: { by: 'invocation' },
    timeoutMinutes: 15,
  },
  {
    name: 'PlanLifecycle',
    file: file('plan-lifecycle'),
    does: 'divides buckets with lifecycle rules into slices, and calls workers',
    needs: { table: [...read, ...put, ...remove], lifecycleQueue: true },
    trigger: { by: 'schedule', expression: 'rate(1 hour)' },
    timeoutMinutes: 15,
  },
  {
    name: 'ApplyLifecycle',
    file: file('apply-lifecycle'),
    does: 'processes slices of a lifecycle pass',
    needs: { table: [...read, ...put, ...remove], lifecycleQueue: true },
    trigger: { by: 'message', maxConcurrency: 8 },
    timeoutMinutes: 15,
  },
  {
    name: 'SweepReleased',
    file: file('sweep-released'),
    does: 'frees released content after its grace period, and cleans up ended uploads',
    needs: { table: [...read, ...put, ...remove], blobs: ['s3:DeleteObject'] },
    trigger: { by: 'schedule', expression: 'rate(5 minutes)' },
    // It stops two minutes earlier, so that it seldom overlaps with the next run.
    timeoutMinutes: 7,
  },
  {
    name: 'SweepRemovedBuckets',
    file: file('sweep-removed-buckets'),
    does: 'purges removed buckets',
    needs: { table: [...read, ...put, ...remove] },
    trigger: { by: 'schedule', expression: 'rate(15 minutes)' },
    timeoutMinutes: 14,
  },
  {
    name: 'SweepPublicLinks',
    file: file('sweep-public-links'),
    does: 'removes expired public links',
    needs: { table: [...read, ...remove] },
    trigger: { by: 'schedule', expression: 'rate(1 hour)' },
    timeoutMinutes: 14,
  },
  {
    name: 'MonitorBuckets',
    file: file('monitor-buckets'),
    does: 'samples monitored buckets, and evaluates the alarms of users',
    needs: { table: [...read, ...put, ...remove, ...check], secret: true, topics: true },
    trigger: { by: 'schedule', expression: 'cron(0/5 * * * ? *)' },
    timeoutMinutes: 10,
  },
  {
    name: 'BillRequests',
    file: file('bill-requests'),
    does: 'counts the requests in the log for billing',
    needs: { table: ['dynamodb:GetItem', ...put], requestLog: true },
    trigger: { by: 'schedule', expression: 'rate(30 minutes)' },
    timeoutMinutes: 14,
    measures: ['behindSeconds'],
  },
  {
    name: 'ProbeEndpoint',
    file: file('probe-endpoint'),
    does: 'probes both lanes as a client, and reads the error rates of CloudFront',
    needs: { table: [], metrics: true },
    trigger: { by: 'schedule', expression: 'rate(5 minutes)' },
    timeoutMinutes: 3,
    measures: ['failedProbes', 'edgeErrorPercent'],
  },
  {
    name: 'Administer',
    file: file('administer'),
    does: 'carries out administrative commands',
    needs: { table: [...read, ...put, ...remove, ...check], secret: true },
    trigger: { by: 'invocation' },
    timeoutMinutes: 1,
  },
];

/** The function behind the API of operators, where a deployment has that. */
export const adminFunction: BackgroundFunction = {
  name: 'AdministerOverHttp',
  file: file('administer-over-http'),
  does: 'carries out administrative commands over HTTP',
  needs: { table: [...read, ...put, ...remove, ...check], secret: true },
  trigger: { by: 'requests' },
  timeoutMinutes: 1,
};
