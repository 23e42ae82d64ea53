import { Duration } from 'aws-cdk-lib';
import { type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ApplicationLoadBalancer,
  type ApplicationTargetGroup,
  HttpCodeElb,
  HttpCodeTarget,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { measureNamespace } from './background-function.ts';
import type { ScheduleStack } from './schedule-stack.ts';

/** Something that an operator is woken for. */
export interface OperatorAlarm {
  readonly name: string;
  /** What it says when it rings; docs/cloud-operations.md says what to do. */
  readonly means: string;
  readonly metric: IMetric;
  /** It rings above this, or below it... */
  readonly above?: number;
  readonly below?: number;
  /** ...in so many periods one after the other. */
  readonly periods: number;
  /** It rings as well if nothing is told: what tells it has to come round. Otherwise silence says that nothing happened. */
  readonly orSilence?: true;
}

export interface WatchedDeployment {
  readonly stage: string;
  readonly tableName: string;
  readonly schedule: ScheduleStack;
  /** If there is one. */
  readonly byteLane: WatchedByteLane | undefined;
}

/** What is watched of a byte lane. */
export interface WatchedByteLane {
  readonly balancer: ApplicationLoadBalancer;
  readonly servers: ApplicationTargetGroup;
  readonly minimumTasks: number;
  readonly maximumTasks: number;
}

const five = Duration.minutes(5);

/** A metric of the REST API. https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html */
export function apiMetric(stage: string, metricName: string, statistic: string): Metric {
  const dimensionsMap = { ApiName: `stillage-${stage}`, Stage: stage };
  return new Metric({ namespace: 'AWS/ApiGateway', metricName, dimensionsMap, statistic, period: five });
}

/** A metric of the table. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html */
export function tableMetric(TableName: string, metricName: string): Metric {
  const dimensionsMap = { TableName };
  return new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, statistic: Stats.SUM, period: five });
}

/** All functions of the account in this region: most of them, or all, are those of the deployment. */
export function lambdaMetric(metricName: string): Metric {
  return new Metric({ namespace: 'AWS/Lambda', metricName, statistic: Stats.SUM, period: five });
}

/** How many seconds the bill of requests is behind. */
export function billLag(stage: string): Metric {
  const namespace = measureNamespace(stage, 'BillRequests');
  return new Metric({ namespace, metricName: 'behindSeconds', statistic: Stats.MAXIMUM, period: Duration.hours(1) });
}

/** A metric that a probe of the endpoint makes, every five minutes. */
function probeMetric(stage: string, metricName: string): Metric {
  const namespace = measureNamespace(stage, 'ProbeEndpoint');
  return new Metric({ namespace, metricName, statistic: Stats.MAXIMUM, period: five });
}

/** Every alarm of a deployment. */
export function operatorAlarms({ stage, tableName, schedule, byteLane }: WatchedDeployment): readonly OperatorAlarm[] {
  const { functions, deadLetters, lifecycleQueue } = schedule;
  const followers = ['CountUsage', 'ReleaseContent'].flatMap((name) => {
    const follower = functions.get(name);
    return follower ? [{ name, follower }] : [];
  });
  return [
    {
      name: 'EndpointProbes',
      means: 'a request to a lane, sent as a client would, was not answered as it should be; or no request was sent',
      metric: probeMetric(stage, 'failedProbes'),
      above: 0,
      periods: 3,
      orSilence: true,
    },
    {
      name: 'EdgeErrors',
      means: 'CloudFront answers more than one request in a hundred 5xx',
      metric: probeMetric(stage, 'edgeErrorPercent'),
      above: 1,
      periods: 3,
    },
    {
      name: 'ApiErrors',
      means: 'more than one request in a hundred to the API is answered 5xx',
      metric: apiMetric(stage, '5XXError', Stats.AVERAGE),
      above: 0.01,
      periods: 2,
    },
    {
      name: 'FunctionThrottles',
      means: 'Lambda refuses to start functions: the concurrency of the account is used up',
      metric: lambdaMetric('Throttles'),
      above: 0,
      periods: 2,
    },
    ...['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => ({
      name: `Table${metric.replace('Events', 's')}`,
      means: 'DynamoDB throttles the table: a partition is hot, or the table grows faster than it splits',
      metric: tableMetric(tableName, metric),
      above: 100,
      periods: 3,
    })),
    ...(byteLane ? byteLaneAlarms(byteLane) : []),
    ...followers.map(({ name, follower }) => ({
      name: `${name}Lag`,
      means: `${name} is behind the change feed by more than ten minutes; after 24 hours changes would be lost`,
      metric: follower.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: five }),
      above: 10 * 60 * 1000,
      periods: 3,
    })),
    {
      name: 'BillRequestsLag',
      means:
        'hours of requests have not been counted for the bill; they can be as long as the log of requests has them',
      metric: billLag(stage),
      above: 4 * 60 * 60,
      periods: 3,
      orSilence: true,
    },
    ...[...functions].map(([name, one]) => ({
      name: `${name}Errors`,
      means: `${name} fails again and again`,
      metric: one.metricErrors({ period: Duration.minutes(15) }),
      above: 2,
      periods: 2,
    })),
    ...Object.entries(deadLetters).map(([what, queue]) => ({
      name: `${what.charAt(0).toUpperCase()}${what.slice(1)}DeadLetters`,
      means: `something of the ${what} was given up, and waits to be looked at`,
      metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period: five }),
      above: 0,
      periods: 1,
    })),
    {
      name: 'LifecycleBacklog',
      means: 'a lifecycle worker was called four hours ago and has not begun',
      metric: lifecycleQueue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period: five }),
      above: 4 * 60 * 60,
      periods: 3,
    },
  ];
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-cloudwatch-metrics.html */
function byteLaneAlarms({ balancer, servers, minimumTasks, maximumTasks }: WatchedByteLane): readonly OperatorAlarm[] {
  const healthy = (statistic: string): IMetric => servers.metrics.healthyHostCount({ statistic, period: five });
  return [
    {
      name: 'ByteLaneErrors',
      means: 'the byte lane answers 5xx',
      metric: balancer.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { period: five }),
      above: 50,
      periods: 2,
    },
    {
      name: 'ByteLaneUnreachable',
      means: 'the load balancer finds no task of the byte lane that answers',
      metric: balancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { period: five }),
      above: 10,
      periods: 2,
    },
    {
      name: 'ByteLaneServers',
      means: 'the byte lane has no healthy server, or the load balancer reports none',
      metric: healthy(Stats.MINIMUM),
      below: 1,
      periods: 2,
      orSilence: true,
    },
    {
      name: 'ByteLaneUnhealthyServers',
      means: 'servers of the byte lane fail their health check',
      metric: servers.metrics.unhealthyHostCount({ statistic: Stats.MAXIMUM, period: five }),
      above: 0,
      periods: 3,
    },
    ...(maximumTasks > minimumTasks
      ? [
          {
            name: 'ByteLaneAtMaximum',
            means: 'the byte lane has as many servers as it may have: more load is answered SlowDown',
            metric: healthy(Stats.MAXIMUM),
            above: maximumTasks - 1,
            periods: 3,
          },
        ]
      : []),
  ];
}
