/** What starts a function in the background. */
export type Trigger =
  /** Changes of the table whose partition keys begin so. */
  | { readonly by: 'changes'; readonly prefixes: readonly string[]; readonly patienceHours: number }
  /** https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html */
  | { readonly by: 'schedule'; readonly expression: string }
  /** A message of the lifecycle queue; so many run at the same time. */
  | { readonly by: 'message'; readonly maxConcurrency: number }
  /** Somebody whom IAM lets do it. */
  | { readonly by: 'invocation' };

/** What a function in the background does with what the deployment keeps. */
export interface BackgroundNeeds {
  /** Actions of DynamoDB on the table. Each item of a transaction counts as the call it stands for. */
  readonly table: readonly `dynamodb:${string}`[];
  /** Actions of S3 on blobs. */
  readonly blobs?: readonly `s3:${string}`[];
  /** The secret of the deployment. */
  readonly secret?: true;
  /** To send to the lifecycle queue. */
  readonly lifecycleQueue?: true;
  /** To publish to topics of other accounts: what alarms of users do. */
  readonly topics?: true;
  /** To read the change feed again. */
  readonly feed?: true;
  /** To read metrics. */
  readonly metrics?: true;
  /** To ask the log of requests. */
  readonly requestLog?: true;
}

/** A function that serves no request. */
export interface BackgroundFunction {
  readonly name: string;
  /** Exports `handler`; relative to the root. */
  readonly file: string;
  readonly does: string;
  readonly needs: BackgroundNeeds;
  readonly trigger: Trigger;
  readonly timeoutMinutes: number;
  /** Numbers in lines of its log that become metrics, by the names of their fields. */
  readonly measures?: readonly string[];
}

const read = ['dynamodb:GetItem', 'dynamodb:Query'] as const;
const put = ['dynamodb:PutItem'] as const;
const remove = ['dynamodb:DeleteItem'] as const;
const check = ['dynamodb:ConditionCheckItem'] as const;
const file = (name: string): string => `functions/runtime/cloud/background/${name}.ts`;

/** Every function in the background. */
export const backgroundFunctions: readonly BackgroundFunction[] = [
  {
    name: 'CountUsage',
    file: file('count-usage'),
    does: 'follows the change feed: usage counters, and flags of buckets that are full',
    needs: { table: [...read, ...put, ...remove] },
    // The stream itself forgets after a day: a counter waits for whatever it can still get.
    trigger: { by: 'changes', prefixes: ['head/', 'upload/'], patienceHours: 24 },
    timeoutMinutes: 2,
  },
  {
    name: 'ReleaseContent',
    file: file('release-content'),
    does: 'follows the change feed: queues released content, and uploads that ended',
    needs: { table: [...read, ...put, ...remove] },
    // What is given up leaves most of a day to be given again.
    trigger: { by: 'changes', prefixes: ['head/', 'old/', 'upload/'], patienceHours: 6 },
    timeoutMinutes: 5,
  },
  {
    name: 'ReplayChanges',
    file: file('replay-changes'),
    does: 'gives the release what a dead letter speaks of once more',
    needs: { table: [...read, ...put, ...remove], feed: true },
    trigger: { by: 'invocation' },
    timeoutMinutes: 15,
  },
  {
    name: 'PlanLifecycle',
    file: file('plan-lifecycle'),
    does: 'cuts buckets with lifecycle rules into slices, and calls workers',
    needs: { table: [...read, ...put], lifecycleQueue: true },
    trigger: { by: 'schedule', expression: 'rate(1 hour)' },
    timeoutMinutes: 15,
  },
  {
    name: 'ApplyLifecycle',
    file: file('apply-lifecycle'),
    does: 'works on slices of a lifecycle pass',
    needs: { table: [...read, ...put, ...remove], lifecycleQueue: true },
    trigger: { by: 'message', maxConcurrency: 8 },
    timeoutMinutes: 15,
  },
  {
    name: 'SweepReleased',
    file: file('sweep-released'),
    does: 'frees content whose grace is over, and clears up after ended uploads',
    needs: { table: [...read, ...put, ...remove], blobs: ['s3:DeleteObject'] },
    trigger: { by: 'schedule', expression: 'rate(5 minutes)' },
    // It stops by itself two minutes before, so that the next one seldom meets it.
    timeoutMinutes: 7,
  },
  {
    name: 'SweepRemovedBuckets',
    file: file('sweep-removed-buckets'),
    does: 'sweeps what is left of removed buckets',
    needs: { table: [...read, ...put, ...remove] },
    trigger: { by: 'schedule', expression: 'rate(15 minutes)' },
    timeoutMinutes: 14,
  },
  {
    name: 'SweepPublicLinks',
    file: file('sweep-public-links'),
    does: 'removes public links whose time is over',
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
    does: 'counts the requests of the log for the bill',
    needs: { table: ['dynamodb:GetItem', ...put], requestLog: true },
    trigger: { by: 'schedule', expression: 'rate(30 minutes)' },
    timeoutMinutes: 14,
    measures: ['behindSeconds'],
  },
  {
    name: 'ProbeEndpoint',
    file: file('probe-endpoint'),
    does: 'asks both lanes by the way of a client, and CloudFront for its errors',
    needs: { table: [], metrics: true },
    trigger: { by: 'schedule', expression: 'rate(5 minutes)' },
    timeoutMinutes: 3,
    measures: ['failedProbes', 'edgeErrorPercent'],
  },
  {
    name: 'Administer',
    file: file('administer'),
    does: 'does what operators ask for by the command line',
    needs: { table: [...read, ...put, ...remove, ...check], secret: true },
    trigger: { by: 'invocation' },
    timeoutMinutes: 1,
  },
];
