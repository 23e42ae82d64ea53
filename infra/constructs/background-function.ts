import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { FilterPattern, LogGroup, MetricFilter, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { BackgroundBundle } from '../bundles/bundle.ts';
import type { BackgroundNeeds } from './background-functions.ts';
import { acknowledgeBlobs, acknowledgeWildcard, blobPrefix, type Data } from './grants.ts';

export interface BackgroundFunctionProps {
  readonly bundle: BackgroundBundle;
  readonly stage: string;
  readonly data: Data;
  readonly logRetention: RetentionDays;
  readonly environment: Readonly<Record<string, string>>;
  /** The names of the log groups of requests. */
  readonly requestLogs: readonly string[];
  /** Receives the events that the function failed to process. Undefined: its invoker sees the failure. */
  readonly deadLetters?: Queue;
  readonly lifecycleQueue?: Queue;
  /** Policy statements for its trigger. */
  readonly statements?: readonly PolicyStatement[];
}

/** Returns the namespace of a deployment's metrics, as an account may have several deployments. */
export function measureNamespace(stage: string, name: string): string {
  return `Stillage/${stage}/${name}`;
}

/** The construct of every background function, with a separate role that grants what the function needs. */
export class BackgroundFunctionConstruct extends Construct {
  readonly function: Function;

  constructor(scope: Construct, id: string, props: BackgroundFunctionProps) {
    super(scope, id);
    const { bundle, stage, logRetention, environment, deadLetters } = props;
    const { name, does, trigger, timeoutMinutes, directory, measures = [] } = bundle;
    const logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/stillage/${stage}/${name}`,
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    for (const [index, measure] of measures.entries()) {
      new MetricFilter(this, index === 0 ? 'Measure' : `Measure${index + 1}`, {
        logGroup,
        filterPattern: FilterPattern.literal(`{ $.${measure} = * }`),
        metricNamespace: measureNamespace(stage, name),
        metricName: measure,
        metricValue: `$.${measure}`,
      });
    }
    this.function = new Function(this, 'Function', {
      // A fixed name for functions that are invoked by hand.
      ...(trigger.by === 'invocation' && { functionName: `stillage-${stage}-${kebabCase(name)}` }),
      description: `Stillage: ${does}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(directory),
      handler: 'index.handler',
      memorySize: 512,
      timeout: Duration.minutes(timeoutMinutes),
      environment: { ...environment },
      tracing: Tracing.ACTIVE,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      role: this.#role(props, logGroup).withoutPolicyUpdates(),
      // The schedule repeats anyway. After two failures the operator is notified.
      ...(deadLetters && { onFailure: new SqsDestination(deadLetters), retryAttempts: 1 }),
    });
  }

  #role(props: BackgroundFunctionProps, log: LogGroup): Role {
    const { bundle, data, deadLetters, lifecycleQueue, requestLogs, statements = [] } = props;
    const { name, needs } = bundle;
    const logArns = needs.requestLog ? requestLogs.map((log) => logArn(this, log)) : [];
    const all = [
      ...needed(needs, data, Stack.of(this).account),
      ...(needs.lifecycleQueue && lifecycleQueue ? [allow('Queue', ['sqs:SendMessage'], lifecycleQueue)] : []),
      ...(deadLetters ? [allow('DeadLetters', ['sqs:SendMessage'], deadLetters)] : []),
      ...(needs.requestLog ? mayQuery(logArns) : []),
      ...statements,
      new PolicyStatement({
        sid: 'Log',
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [log.logGroupArn],
      }),
      new PolicyStatement({
        sid: 'Trace',
        actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
        resources: ['*'],
      }),
    ];
    const role = new Role(this, 'Role', {
      description: `Stillage: ${name}`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Background: new PolicyDocument({ statements: all }) },
    });
    acknowledgeWildcard(role, '*', 'X-Ray, metrics, ListStreams and query results have no resource-level permissions.');
    if (needs.blobs) acknowledgeBlobs(role, { table: 'write', blobs: 'write' }, data);
    for (const arn of logArns) acknowledgeWildcard(role, arn, 'The grant covers the streams of the log group.');
    if (needs.topics) {
      acknowledgeWildcard(
        role,
        topicsOfUsers,
        "The topics of users are in the users' accounts, with their own policies.",
      );
    }
    return role;
  }
}

const topicsOfUsers = 'arn:aws:sns:*:*:*';

/** Returns a statement that allows these actions on a queue. */
function allow(sid: string, actions: readonly string[], queue: IQueue): PolicyStatement {
  return new PolicyStatement({ sid, actions: [...actions], resources: [queue.queueArn] });
}

/** Returns the permissions for a stream, which Lambda reads with the function's role. */
export function mayFollow(streamArn: string): PolicyStatement[] {
  return [
    new PolicyStatement({
      sid: 'Feed',
      actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      resources: [streamArn],
    }),
    new PolicyStatement({ sid: 'Feeds', actions: ['dynamodb:ListStreams'], resources: ['*'] }),
  ];
}

/** Returns the ARN of a log group with all its streams, as policies require. */
function logArn(scope: Construct, name: string): string {
  const resource = { service: 'logs', resource: 'log-group', resourceName: `${name}:*` };
  return Stack.of(scope).formatArn({ ...resource, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
}

/** Returns the permissions for querying log groups. https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html */
function mayQuery(logArns: readonly string[]): PolicyStatement[] {
  return [
    new PolicyStatement({ sid: 'AskLogs', actions: ['logs:StartQuery'], resources: [...logArns] }),
    new PolicyStatement({ sid: 'LogsAnswers', actions: ['logs:GetQueryResults'], resources: ['*'] }),
  ];
}

/** Returns the permissions for a queue, from which Lambda receives with the function's role. */
export function mayReceive(queue: IQueue): PolicyStatement {
  return allow('Messages', ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], queue);
}

function needed(needs: BackgroundNeeds, { table, blobs, secret }: Data, account: string): PolicyStatement[] {
  const statement = (sid: string, actions: readonly string[], resource: string): PolicyStatement =>
    new PolicyStatement({ sid, actions: [...actions], resources: [resource] });
  return [
    ...(needs.table.length > 0 ? [statement('Table', needs.table, table.tableArn)] : []),
    ...(needs.blobs ? [statement('Blobs', needs.blobs, blobs.arnForObjects(`${blobPrefix}*`))] : []),
    ...(needs.secret ? [statement('Secret', ['secretsmanager:GetSecretValue'], secret.secretArn)] : []),
    ...(needs.feed
      ? [statement('FeedAgain', ['dynamodb:GetRecords', 'dynamodb:GetShardIterator'], table.tableStreamArn)]
      : []),
    ...(needs.metrics ? [statement('Metrics', ['cloudwatch:GetMetricData'], '*')] : []),
    ...(needs.topics
      ? [
          new PolicyStatement({
            sid: 'TopicsOfUsers',
            actions: ['sns:Publish'],
            resources: [topicsOfUsers],
            // Otherwise a user's alarm could publish to the operator's topics.
            conditions: { StringNotEquals: { 'aws:ResourceAccount': account } },
          }),
        ]
      : []),
  ];
}

function kebabCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}
