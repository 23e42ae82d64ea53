import { Duration } from 'aws-cdk-lib';
import { type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ApplicationLoadBalancer,
  type ApplicationTargetGroup,
  HttpCodeElb,
  HttpCodeTarget,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { measureNamespace } from './background-function.ts';
import type { ScheduleStack } from '../stacks/schedule-stack.ts';
import type { WatchedScrub } from './scrub-tasks.ts';

/** An alarm of the operator. */
export interface OperatorAlarm {
  readonly name: string;
  /** The alarm description; docs/cloud-operations.md says what to do. */
  readonly means: string;
  readonly metric: IMetric;
  /** The threshold: ALARM above it, or below it... */
  readonly above?: number;
  readonly below?: number;
  /** ...for this many consecutive periods. */
  readonly periods: number;
  /** The number of these periods that suffice. Default: all. */
  readonly datapoints?: number;
  /** Treats missing data as breaching, for metrics that must be reported regularly. Otherwise missing data means that nothing happened. */
  readonly orSilence?: true;
}

export interface WatchedDeployment {
  readonly stage: string;
  readonly tableName: string;
  readonly schedule: ScheduleStack;
  /** The byte lane, if there is one. */
  readonly byteLane: WatchedByteLane | undefined;
  /** The scheduled scrub, if there is one. */
  readonly scrub: WatchedScrub | undefined;
}

/** The monitored resources of a byte lane. */
export interface WatchedByteLane {
  readonly balancer: ApplicationLoadBalancer;
  readonly servers: ApplicationTargetGroup;
  readonly minimumTasks: number;
  readonly maximumTasks: number;
}

const five = Duration.minutes(5);

/** Returns a metric of the REST API. https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html */
export function apiMetric(stage: string, metricName: string, statistic: string, period = five): Metric {
  const dimensionsMap = { ApiName: `stillage-${stage}`, Stage: stage };
  return new Metric({ namespace: 'AWS/ApiGateway', metricName, dimensionsMap, statistic, period });
}

/** Returns a metric of the table. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html */
export function tableMetric(TableName: string, metricName: string): Metric {
  const dimensionsMap = { TableName };
  return new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, statistic: Stats.SUM, period: five });
}

/** Returns a metric of all functions of the account in this region, most of which belong to the deployment. */
export function lambdaMetric(metricName: string): Metric {
  return new Metric({ namespace: 'AWS/Lambda', metricName, statistic: Stats.SUM, period: five });
}

/** Returns the metric of the delay of request billing, in seconds. */
export function billLag(stage: string): Metric {
  const namespace = measureNamespace(stage, 'BillRequests');
  return new Metric({ namespace, metricName: 'behindSeconds', statistic: Stats.MAXIMUM, period: Duration.hours(1) });
}

/** Returns a metric of the endpoint probe, which runs every five minutes. */
function probeMetric(stage: string, metricName: string): Metric {
  const namespace = measureNamespace(stage, 'ProbeEndpoint');
  return new Metric({ namespace, metricName, statistic: Stats.MAXIMUM, period: five });
}

/** Returns the alarms of a deployment. */
export function operatorAlarms(watched: WatchedDeployment): readonly OperatorAlarm[] {
  const { stage, tableName, schedule, byteLane, scrub } = watched;
  const { functions, lifecycleQueue } = schedule;
  const deadLetters = { ...schedule.deadLetters, ...(scrub && { scrub: scrub.deadLetters }) };
  const followers = ['CountUsage', 'ReleaseContent'].flatMap((name) => {
    const follower = functions.get(name);
    return follower ? [{ name, follower }] : [];
  });
  return [
    {
      name: 'EndpointProbes',
      means: 'the probe of a lane got an unexpected response or none, or the probe did not run',
      metric: probeMetric(stage, 'failedProbes'),
      above: 0,
      periods: 3,
      orSilence: true,
    },
    {
      name: 'EdgeErrors',
      means: 'CloudFront answers more than 1 % of requests with 5xx',
      metric: probeMetric(stage, 'edgeErrorPercent'),
      above: 1,
      periods: 3,
    },
    {
      name: 'ApiErrors',
      means: 'the API answers more than 1 % of requests with 5xx',
      metric: apiMetric(stage, '5XXError', Stats.AVERAGE),
      above: 0.01,
      periods: 2,
    },
    {
      name: 'FunctionThrottles',
      means: 'Lambda throttles functions: the concurrency of the account is used up',
      metric: lambdaMetric('Throttles'),
      above: 0,
      periods: 2,
    },
    ...['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => ({
      name: `Table${metric.replace('Events', 's')}`,
      means: 'DynamoDB throttles the table: a partition is hot, or traffic grows faster than partitions split',
      metric: tableMetric(tableName, metric),
      above: 100,
      periods: 3,
    })),
    ...(byteLane ? byteLaneAlarms(byteLane) : []),
    ...(scrub ? scrubAlarms(scrub) : []),
    ...followers.map(({ name, follower }) => ({
      name: `${name}Lag`,
      means: `${name} is more than ten minutes behind the change feed; after 24 hours changes are lost`,
      metric: follower.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: five }),
      above: 10 * 60 * 1000,
      periods: 3,
    })),
    {
      name: 'BillRequestsLag',
      means: 'billing is hours behind; requests can be billed as long as the request log keeps them',
      metric: billLag(stage),
      above: 4 * 60 * 60,
      periods: 3,
      orSilence: true,
    },
    ...[...functions].map(([name, one]) => ({
      name: `${name}Errors`,
      means: `${name} fails repeatedly`,
      metric: one.metricErrors({ period: Duration.minutes(15) }),
      above: 2,
      periods: 2,
    })),
    ...Object.entries(deadLetters).map(([what, queue]) => ({
      name: `${what.charAt(0).toUpperCase()}${what.slice(1)}DeadLetters`,
      means: `the dead-letter queue of the ${what} is not empty`,
      metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period: five }),
      above: 0,
      periods: 1,
    })),
    {
      name: 'LifecycleBacklog',
      means: 'a lifecycle worker was called four hours ago and has not started',
      metric: lifecycleQueue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period: five }),
      above: 4 * 60 * 60,
      periods: 3,
    },
  ];
}

/** An alarm may look back for seven days at most: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html */
function scrubAlarms({ findings }: WatchedScrub): readonly OperatorAlarm[] {
  return [
    {
      name: 'ScrubFindings',
      means: 'a scrub of the last seven days has found something: data is lost, or to be repaired',
      metric: findings,
      above: 0,
      periods: 7,
      // The next slice, which finds nothing, does not make good what the last one has found.
      datapoints: 1,
    },
    {
      name: 'ScrubUnfinished',
      means: 'no scrub has finished for two days',
      metric: findings.with({ statistic: Stats.SAMPLE_COUNT }),
      below: 1,
      periods: 2,
      orSilence: true,
    },
  ];
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-cloudwatch-metrics.html */
function byteLaneAlarms({ balancer, servers, minimumTasks, maximumTasks }: WatchedByteLane): readonly OperatorAlarm[] {
  // The CDK takes the name of the load balancer from the ARN of a listener by Fn::Split, in which Fn::GetStackOutput is not documented.
  const dimensionsMap = { LoadBalancer: balancer.loadBalancerFullName, TargetGroup: servers.targetGroupFullName };
  const hosts = (metricName: string, statistic: string): IMetric =>
    new Metric({ namespace: 'AWS/ApplicationELB', metricName, dimensionsMap, statistic, period: five });
  return [
    {
      name: 'ByteLaneErrors',
      means: 'the byte lane answers requests with 5xx',
      metric: balancer.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { period: five }),
      above: 50,
      periods: 2,
    },
    {
      name: 'ByteLaneUnreachable',
      means: 'the load balancer answers 5xx, as it reaches no task of the byte lane',
      metric: balancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { period: five }),
      above: 10,
      periods: 2,
    },
    {
      name: 'ByteLaneServers',
      means: 'the byte lane has no healthy server, or the load balancer reports none',
      metric: hosts('HealthyHostCount', Stats.MINIMUM),
      below: 1,
      periods: 2,
      orSilence: true,
    },
    {
      name: 'ByteLaneUnhealthyServers',
      means: 'servers of the byte lane fail their health checks',
      metric: hosts('UnHealthyHostCount', Stats.MAXIMUM),
      above: 0,
      periods: 3,
    },
    ...(maximumTasks > minimumTasks
      ? [
          {
            name: 'ByteLaneAtMaximum',
            means: 'the byte lane has its maximum number of servers: more load is answered with SlowDown',
            metric: hosts('HealthyHostCount', Stats.MAXIMUM),
            above: maximumTasks - 1,
            periods: 3,
          },
        ]
      : []),
  ];
}
