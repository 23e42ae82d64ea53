import type { Stack } from 'aws-cdk-lib';
import { CfnOutput, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type IVpc, SecurityGroup, SubnetType } from 'aws-cdk-lib/aws-ec2';
import {
  type CfnCluster,
  type ContainerImage,
  CpuArchitecture,
  FargateTaskDefinition,
  type ICluster,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { measureNamespace } from './background-function.ts';
import { containerEnvironment } from '../environment.ts';
import { acknowledgeBlobs, acknowledgeWildcard, type Data, scrubGrants } from './grants.ts';
import type { Settings } from '../settings.ts';

export interface ScrubTasksProps {
  readonly settings: Settings;
  readonly data: Data;
  /** The image of the servers, which contains the scrub. */
  readonly image: ContainerImage;
  readonly cluster: ICluster;
  readonly vpc: IVpc;
  readonly logGroup: LogGroup;
}

/** The resources of the scheduled scrub that the operator's alarms watch. */
export interface WatchedScrub {
  /** The findings of each scrub that has finished. */
  readonly findings: Metric;
  /** Receives the events of the schedule for which no task was started. */
  readonly deadLetters: Queue;
}

/** 03:00 UTC: a task that starts late still starts on the same day, which decides its slice. */
const everyNight = 'cron(0 3 * * ? *)';

/**
 * Adds the tasks of the scrub (docs/scrub.md): one that an operator starts and that may repair, and one that a schedule starts every
 * night for a slice, and that may only read.
 * @returns what to watch of the scheduled task; undefined if there is none
 */
export function addScrubTasks(stack: Stack, props: ScrubTasksProps): WatchedScrub | undefined {
  const { settings, cluster, vpc, logGroup } = props;
  const access = new SecurityGroup(stack, 'ScrubAccess', {
    vpc,
    description: 'Stillage: the scrub, which nobody reaches',
  });
  const subnets = vpc.selectSubnets({ subnetType: SubnetType.PUBLIC }).subnetIds;
  addTask(stack, 'Scrub', { ...props, family: 'scrub', may: 'write', size: { cpu: 1024, memoryLimitMiB: 2048 } });
  new CfnOutput(stack, 'ScrubCluster', { value: cluster.clusterName });
  new CfnOutput(stack, 'ScrubNetwork', {
    value: `awsvpcConfiguration={subnets=[${subnets.join(',')}],securityGroups=[${access.securityGroupId}],assignPublicIp=ENABLED}`,
    description: 'For aws ecs run-task: docs/scrub.md',
  });
  if (settings.scrubDays === 0) return undefined;

  const task = addTask(stack, 'NightlyScrub', {
    ...{ ...props, family: 'nightly-scrub', may: 'read', size: { cpu: 512, memoryLimitMiB: 1024 } },
    options: ['--slice', `today/${settings.scrubDays}`],
  });
  const deadLetters = new Queue(stack, 'ScrubDeadLetters', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.DESTROY,
    retentionPeriod: Duration.days(14),
  });
  Validations.of(deadLetters).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is a dead-letter queue itself.',
  });
  // https://docs.aws.amazon.com/scheduler/latest/APIReference/API_EcsParameters.html
  new CfnSchedule(stack, 'ScrubSchedule', {
    description: 'Stillage: a slice of the scrub',
    scheduleExpression: everyNight,
    flexibleTimeWindow: { mode: 'OFF' },
    target: {
      arn: cluster.clusterArn,
      roleArn: schedulerRole(stack, { task, cluster, deadLetters }).roleArn,
      ecsParameters: {
        taskDefinitionArn: task.taskDefinitionArn,
        taskCount: 1,
        launchType: 'FARGATE',
        propagateTags: 'TASK_DEFINITION',
        // Without a NAT gateway, a task needs a public address to load its image and to log.
        // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-task-networking.html
        networkConfiguration: {
          awsvpcConfiguration: { subnets, securityGroups: [access.securityGroupId], assignPublicIp: 'ENABLED' },
        },
      },
      deadLetterConfig: { arn: deadLetters.queueArn },
      retryPolicy: { maximumEventAgeInSeconds: 3600, maximumRetryAttempts: 10 },
    },
  });
  const filter = new MetricFilter(stack, 'ScrubMeasure', {
    logGroup,
    filterPattern: FilterPattern.literal('{ $.scrubFindings = * }'),
    metricNamespace: measureNamespace(settings.stage, 'Scrub'),
    metricName: 'scrubFindings',
    metricValue: '$.scrubFindings',
  });
  return { findings: filter.metric({ statistic: Stats.MAXIMUM, period: Duration.days(1) }), deadLetters };
}

interface TaskProps extends ScrubTasksProps {
  readonly family: string;
  readonly may: 'read' | 'write';
  readonly size: { readonly cpu: number; readonly memoryLimitMiB: number };
  /** The options of the command. */
  readonly options?: readonly string[];
}

function addTask(
  stack: Stack,
  id: string,
  { settings, data, image, logGroup, family, may, size, options = [] }: TaskProps,
): FargateTaskDefinition {
  const task = new FargateTaskDefinition(stack, id, {
    family: `stillage-${settings.stage}-${family}`,
    ...size,
    runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
  });
  for (const statement of scrubGrants(data, may)) task.addToTaskRolePolicy(statement);
  acknowledgeBlobs(task.taskRole, { table: may, blobs: may }, data);
  task.addContainer('Scrub', {
    image,
    command: ['bin/cloud-scrub.mjs', ...options],
    environment: {
      ...containerEnvironment(settings),
      STILLAGE_TABLE: data.table.tableName,
      STILLAGE_BLOB_BUCKET: data.blobs.bucketName,
    },
    logging: LogDrivers.awsLogs({ streamPrefix: family, logGroup }),
    readonlyRootFilesystem: true,
  });
  Validations.of(task).acknowledge(
    { id: 'AwsSolutions-ECS2', reason: 'The environment has names of resources and no secrets.' },
    {
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'To log in to the registry of images is a right on no resource (ecr:GetAuthorizationToken).',
    },
  );
  return task;
}

/**
 * Returns the role that Scheduler starts the task with. It must pass on both roles of the task, and tag the task, so that the bill shows
 * what it cost. https://docs.aws.amazon.com/AmazonECS/latest/developerguide/CWE_IAM_role.html
 */
function schedulerRole(
  stack: Stack,
  props: { readonly task: FargateTaskDefinition; readonly cluster: ICluster; readonly deadLetters: Queue },
): Role {
  const { task, cluster, deadLetters } = props;
  const { clusterArn, clusterName } = cluster;
  const tasksOf = (name: string): string =>
    stack.formatArn({ service: 'ecs', resource: 'task', resourceName: `${name}/*` });
  const role = new Role(stack, 'ScrubScheduler', {
    description: 'Stillage: starts the scheduled scrub',
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
    inlinePolicies: {
      Start: new PolicyDocument({
        statements: [
          new PolicyStatement({
            sid: 'Start',
            actions: ['ecs:RunTask'],
            resources: [task.taskDefinitionArn],
            conditions: { ArnEquals: { 'ecs:cluster': clusterArn } },
          }),
          new PolicyStatement({
            sid: 'Tag',
            actions: ['ecs:TagResource'],
            resources: [tasksOf(clusterName)],
            conditions: { StringEquals: { 'ecs:CreateAction': 'RunTask' } },
          }),
          new PolicyStatement({
            sid: 'PassRoles',
            actions: ['iam:PassRole'],
            resources: [task.taskRole.roleArn, task.obtainExecutionRole().roleArn],
            conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
          }),
          new PolicyStatement({
            sid: 'DeadLetters',
            actions: ['sqs:SendMessage'],
            resources: [deadLetters.queueArn],
          }),
        ],
      }),
    },
  });
  // As cdk-nag writes the reference to the cluster.
  const named = tasksOf(`<${stack.getLogicalId(cluster.node.defaultChild as CfnCluster)}>`);
  acknowledgeWildcard(role, named, 'A task has no name before it is started.');
  return role;
}
