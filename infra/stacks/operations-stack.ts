import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { HttpCodeElb, HttpCodeTarget } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { Data } from '../constructs/grants.ts';
import {
  apiMetric,
  billLag,
  lambdaMetric,
  operatorAlarms,
  tableMetric,
  type WatchedByteLane,
  type WatchedDeployment,
} from '../constructs/operator-alarms.ts';
import type { ScheduleStack } from './schedule-stack.ts';
import type { WatchedScrub } from '../constructs/scrub-tasks.ts';
import type { Settings } from '../settings.ts';

export interface OperationsStackProps extends StackProps {
  readonly settings: Settings;
  readonly data: Data;
  readonly schedule: ScheduleStack;
  /** The byte lane, if there is one. */
  readonly byteLane: WatchedByteLane | undefined;
  /** The scheduled scrub, if there is one. */
  readonly scrub: WatchedScrub | undefined;
}

const five = Duration.minutes(5);

/** The operator's dashboard, alarms and alarm topic. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, props: OperationsStackProps) {
    const { settings, data, schedule, byteLane, scrub, ...stackProps } = props;
    super(scope, id, stackProps);
    const { stage } = settings;
    const watched = { stage, tableName: data.table.tableName, schedule, byteLane, scrub };
    const topic = this.#topic(stage);
    new CfnOutput(this, 'AlarmTopic', {
      value: topic.topicArn,
      description: 'Subscribe to it: docs/cloud-operations.md',
    });
    const action = new SnsAction(topic);
    const alarms = operatorAlarms(watched).map(
      ({ name, means, metric, above, below, periods, datapoints = periods, orSilence }) => {
        const alarm = new Alarm(this, name, {
          alarmName: `stillage-${stage}-${name}`,
          alarmDescription: means,
          metric,
          threshold: below ?? above ?? 0,
          comparisonOperator:
            below === undefined ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
          evaluationPeriods: periods,
          ...(datapoints < periods && { datapointsToAlarm: datapoints }),
          treatMissingData: orSilence ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
        });
        alarm.addAlarmAction(action);
        alarm.addOkAction(action);
        return alarm;
      },
    );
    const dashboard = new Dashboard(this, 'Dashboard', {
      dashboardName: `stillage-${stage}`,
      defaultInterval: Duration.hours(12),
    });
    dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 5 }));
    for (const row of rows(watched)) dashboard.addWidgets(...row);
  }

  /**
   * The topic of the alarms. The policy that denies plain HTTP replaces the default policy of SNS, which lets alarms of the account
   * publish, so this is allowed explicitly. https://repost.aws/knowledge-center/cloudwatch-receive-sns-for-alarm-trigger
   */
  #topic(stage: string): Topic {
    const topic = new Topic(this, 'Alarms', { displayName: `Stillage ${stage}`, enforceSSL: true });
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'Alarms',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': this.account } },
      }),
    );
    return topic;
  }
}

function rows({ stage, tableName, schedule, byteLane, scrub }: WatchedDeployment): GraphWidget[][] {
  const { functions, deadLetters, lifecycleQueue } = schedule;
  const every = [...functions];
  const followers = every.filter(([name]) => name === 'CountUsage' || name === 'ReleaseContent');
  return [
    [
      graph('Requests', [apiMetric(stage, 'Count', Stats.SUM)]),
      graph('Errors', [apiMetric(stage, '4XXError', Stats.SUM), apiMetric(stage, '5XXError', Stats.SUM)]),
      graph('Time to answer, ms', [apiMetric(stage, 'Latency', Stats.p(50)), apiMetric(stage, 'Latency', Stats.p(99))]),
    ],
    [
      graph('Table units', [
        tableMetric(tableName, 'ConsumedReadCapacityUnits'),
        tableMetric(tableName, 'ConsumedWriteCapacityUnits'),
      ]),
      graph('Table throttles', [
        tableMetric(tableName, 'ReadThrottleEvents'),
        tableMetric(tableName, 'WriteThrottleEvents'),
      ]),
      graph('Functions at once, throttles', [lambdaMetric('ConcurrentExecutions'), lambdaMetric('Throttles')]),
    ],
    [
      graph(
        'Feed lag, ms',
        followers.map(([name, one]) =>
          one.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: five, label: name }),
        ),
      ),
      graph(
        'Dead letters',
        Object.entries(deadLetters).map(([label, queue]) =>
          queue.metricApproximateNumberOfMessagesVisible({ period: five, label }),
        ),
      ),
      graph('Lifecycle queue, age in s', [lifecycleQueue.metricApproximateAgeOfOldestMessage({ period: five })]),
    ],
    [
      graph(
        'Background: errors',
        every.map(([label, one]) => one.metricErrors({ period: five, label })),
      ),
      graph(
        'Background: time, ms',
        every.map(([label, one]) => one.metricDuration({ period: five, label })),
      ),
      graph('Billing lag, s', [billLag(stage)]),
    ],
    ...(byteLane
      ? [
          [
            graph('Byte lane: requests', [byteLane.balancer.metrics.requestCount({ period: five })]),
            graph('Byte lane: errors', [
              byteLane.balancer.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { period: five }),
              byteLane.balancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { period: five }),
            ]),
            graph('Byte lane: bytes', [byteLane.balancer.metrics.processedBytes({ period: five })]),
          ],
        ]
      : []),
    ...(scrub ? [[graph('Scrub: findings of the last slice', [scrub.findings])]] : []),
  ];
}

function graph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width: 8, height: 6 });
}
