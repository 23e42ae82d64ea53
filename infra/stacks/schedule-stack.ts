import { Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, type Function, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { BackgroundBundle } from '../bundles/bundle.ts';
import { BackgroundFunctionConstruct, mayFollow, mayReceive } from '../constructs/background-function.ts';
import { environmentOf } from '../environment.ts';
import type { Data } from '../constructs/grants.ts';
import { requestLogNames } from '../constructs/request-logs.ts';
import type { Settings } from '../settings.ts';

export interface ScheduleStackProps extends StackProps {
  readonly settings: Settings;
  readonly data: Data;
  /** The endpoint for clients. */
  readonly endpoint: string;
  /** The ids of the distributions. */
  readonly distributions: readonly string[];
  readonly functions: readonly BackgroundBundle[];
}

/** The retention of dead letters. */
const retention = Duration.days(14);

/** The background work: followers of the change feed, schedules and lifecycle workers, with their queues. */
export class ScheduleStack extends Stack {
  /** The functions by name. */
  readonly functions: ReadonlyMap<string, Function>;
  /** The dead-letter queues, by trigger. */
  readonly deadLetters: { readonly feed: Queue; readonly schedule: Queue; readonly lifecycle: Queue };
  readonly lifecycleQueue: Queue;

  constructor(
    scope: Construct,
    id: string,
    { settings, data, endpoint, distributions, functions, ...props }: ScheduleStackProps,
  ) {
    super(scope, id, props);
    this.deadLetters = {
      feed: this.#queue('FeedDeadLetters', { retentionPeriod: retention }),
      schedule: this.#queue('ScheduleDeadLetters', { retentionPeriod: retention }),
      lifecycle: this.#queue('LifecycleDeadLetters', { retentionPeriod: retention }),
    };
    this.lifecycleQueue = this.#queue('Lifecycle', {
      // Six times the timeout of a worker: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
      visibilityTimeout: Duration.minutes(90),
      deadLetterQueue: { queue: this.deadLetters.lifecycle, maxReceiveCount: 3 },
    });
    const requestLogs = requestLogNames(settings);
    const environment = {
      ...environmentOf(settings, data),
      STILLAGE_ENDPOINT: endpoint,
      STILLAGE_DISTRIBUTIONS: distributions.join(','),
      STILLAGE_BYTE_LANE: String(settings.byteLane === 'fargate'),
      STILLAGE_LIFECYCLE_QUEUE: this.lifecycleQueue.queueUrl,
      STILLAGE_REQUEST_LOGS: requestLogs.join(','),
      STILLAGE_RELEASE_GRACE_DAYS: String(settings.releaseGraceDays),
    };
    const own = (bundle: BackgroundBundle): Function => {
      const { trigger } = bundle;
      const shared = {
        bundle,
        data,
        environment,
        stage: settings.stage,
        logRetention: settings.logRetentionDays,
        lifecycleQueue: this.lifecycleQueue,
        requestLogs,
      };
      if (trigger.by === 'changes') return this.#follower(shared, trigger, data);
      if (trigger.by === 'message') return this.#worker(shared, trigger);
      const deadLetters = trigger.by === 'schedule' ? { deadLetters: this.deadLetters.schedule } : {};
      return new BackgroundFunctionConstruct(this, bundle.name, { ...shared, ...deadLetters }).function;
    };
    this.functions = new Map(functions.map((bundle) => [bundle.name, own(bundle)]));
    this.#schedules(functions);
  }

  #follower(
    props: Omit<ConstructorParameters<typeof BackgroundFunctionConstruct>[2], 'deadLetters'>,
    { prefixes, patienceHours }: Extract<BackgroundBundle['trigger'], { by: 'changes' }>,
    { table }: Data,
  ): Function {
    const statements = [
      ...mayFollow(table.tableStreamArn),
      // Lambda sends dead letters with the function's role.
      new PolicyStatement({
        sid: 'DeadLetters',
        actions: ['sqs:SendMessage'],
        resources: [this.deadLetters.feed.queueArn],
      }),
    ];
    const { name } = props.bundle;
    const follower = new BackgroundFunctionConstruct(this, name, { ...props, statements }).function;
    new EventSourceMapping(this, `${name}Changes`, {
      target: follower,
      eventSourceArn: table.tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 500,
      maxBatchingWindow: Duration.seconds(1),
      // One batch per shard at a time, in order, on which the counters rely.
      parallelizationFactor: 1,
      // A function learns the shard of its batch only with a tumbling window; its state is not used.
      tumblingWindow: Duration.minutes(15),
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      maxRecordAge: Duration.hours(patienceHours),
      onFailure: new SqsDlq(this.deadLetters.feed),
      // Excludes the followers' own writes.
      filters: [FilterCriteria.filter({ dynamodb: { Keys: { pk: { S: prefixes.map((prefix) => ({ prefix })) } } } })],
    });
    return follower;
  }

  #worker(
    props: ConstructorParameters<typeof BackgroundFunctionConstruct>[2],
    { maxConcurrency }: Extract<BackgroundBundle['trigger'], { by: 'message' }>,
  ): Function {
    const statements = [mayReceive(this.lifecycleQueue)];
    const worker = new BackgroundFunctionConstruct(this, props.bundle.name, { ...props, statements }).function;
    worker.addEventSource(new SqsEventSource(this.lifecycleQueue, { batchSize: 1, maxConcurrency }));
    return worker;
  }

  #schedules(functions: readonly BackgroundBundle[]): void {
    const scheduled = functions.flatMap(({ name, trigger }) =>
      trigger.by === 'schedule' ? [{ name, expression: trigger.expression, target: this.functions.get(name)! }] : [],
    );
    if (scheduled.length === 0) return;
    const role = new Role(this, 'Scheduler', {
      description: 'Stillage: runs scheduled functions',
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': this.account } },
      }),
      inlinePolicies: {
        Start: new PolicyDocument({
          statements: [
            new PolicyStatement({
              sid: 'Start',
              actions: ['lambda:InvokeFunction'],
              resources: scheduled.map(({ target }) => target.functionArn),
            }),
            new PolicyStatement({
              sid: 'DeadLetters',
              actions: ['sqs:SendMessage'],
              resources: [this.deadLetters.schedule.queueArn],
            }),
          ],
        }),
      },
    });
    for (const { name, expression, target } of scheduled) {
      new CfnSchedule(this, `${name}Schedule`, {
        description: `Stillage: ${name}`,
        scheduleExpression: expression,
        flexibleTimeWindow: { mode: 'OFF' },
        target: {
          arn: target.functionArn,
          roleArn: role.roleArn,
          input: '{}',
          deadLetterConfig: { arn: this.deadLetters.schedule.queueArn },
          retryPolicy: { maximumEventAgeInSeconds: 900, maximumRetryAttempts: 3 },
        },
      });
    }
  }

  #queue(id: string, props: ConstructorParameters<typeof Queue>[2]): Queue {
    const queue = new Queue(this, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      removalPolicy: RemovalPolicy.DESTROY,
      ...props,
    });
    if (id.endsWith('DeadLetters')) {
      Validations.of(queue).acknowledge({ id: 'AwsSolutions-SQS3', reason: 'It is a dead-letter queue itself.' });
    }
    return queue;
  }
}
