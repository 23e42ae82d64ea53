import type { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { presets } from '../../infra/presets.ts';
import { resources, synthesise, type Resource, type Synthesis } from './synthesis.ts';

let synthesis: Synthesis;
let streaming: Template;
beforeAll(async () => {
  synthesis = await synthesise([]);
  streaming = synthesis.streaming!;
});

interface Statement {
  readonly Sid: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const only = (template: Template, type: string, id: RegExp): readonly [id: string, resource: Resource] => {
  const found = resources(template, type).filter(([each]) => id.test(each));
  expect(found.map(([each]) => each)).toHaveLength(1);
  return found[0]!;
};

const schedule = (): Resource['Properties'] => only(streaming, 'AWS::Scheduler::Schedule', /^Scrub/)[1].Properties;
const target = (): Record<string, unknown> => schedule()['Target'] as Record<string, unknown>;
const task = (): readonly [string, Resource] => only(streaming, 'AWS::ECS::TaskDefinition', /^NightlyScrub/);

/** Returns the grants of a role's policies, by the names of the statements. */
function grants(role: string): Readonly<Record<string, readonly string[]>> {
  const policies = resources(streaming, 'AWS::IAM::Policy').filter(([id]) => id.startsWith(role));
  const statements = policies.flatMap(
    ([, { Properties }]) => (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement,
  );
  expect(statements.every(({ Effect }) => Effect === 'Allow')).toBe(true);
  return Object.fromEntries(statements.map(({ Sid, Action }) => [Sid, [Action].flat().toSorted()]));
}

const alarm = (name: string, { operations }: Synthesis = synthesis): Record<string, unknown> | undefined =>
  resources(operations, 'AWS::CloudWatch::Alarm').find(
    ([, { Properties }]) => Properties['AlarmName'] === `stillage-prod-${name}`,
  )?.[1].Properties;

describe('the scheduled scrub', () => {
  it('is a task of the cluster, once a night, for the slice of the day', () => {
    const [cluster] = only(streaming, 'AWS::ECS::Cluster', /./);
    expect(schedule()).toMatchObject({
      // Far from midnight (UTC), so that no delay makes it the slice of another day.
      ScheduleExpression: 'cron(0 3 * * ? *)',
      FlexibleTimeWindow: { Mode: 'OFF' },
    });
    expect(schedule()['State']).toBeUndefined();
    expect(target()).toMatchObject({
      Arn: { 'Fn::GetAtt': [cluster, 'Arn'] },
      EcsParameters: { TaskDefinitionArn: { Ref: task()[0] }, TaskCount: 1, LaunchType: 'FARGATE' },
    });
    const [container] = task()[1].Properties['ContainerDefinitions'] as [Record<string, unknown>];
    expect(container['Command']).toEqual(['bin/cloud-scrub.mjs', '--slice', 'today/28']);
    expect(container['ReadonlyRootFilesystem']).toBe(true);
  });

  it('runs on arm64, as the image is built, in public subnets with an address: there is no other way to its image', () => {
    expect(task()[1].Properties).toMatchObject({
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
      RequiresCompatibilities: ['FARGATE'],
      NetworkMode: 'awsvpc',
    });
    const { EcsParameters } = target() as { EcsParameters: { NetworkConfiguration: Record<string, unknown> } };
    const network = EcsParameters.NetworkConfiguration['AwsvpcConfiguration'] as {
      readonly Subnets: readonly { readonly Ref: string }[];
      readonly SecurityGroups: readonly { readonly 'Fn::GetAtt': readonly string[] }[];
      readonly AssignPublicIp: string;
    };
    expect(network.AssignPublicIp).toBe('ENABLED');
    const subnets = new Map(resources(streaming, 'AWS::EC2::Subnet'));
    expect(network.Subnets).toHaveLength(3);
    for (const { Ref } of network.Subnets) expect(subnets.get(Ref)!.Properties['MapPublicIpOnLaunch']).toBe(true);
    const [{ 'Fn::GetAtt': group }] = network.SecurityGroups as [{ 'Fn::GetAtt': readonly string[] }];
    expect(only(streaming, 'AWS::EC2::SecurityGroup', /^ScrubAccess/)[0]).toBe(group[0]);
    // No inbound connection is admitted.
    const [, access] = only(streaming, 'AWS::EC2::SecurityGroup', /^ScrubAccess/);
    expect(access.Properties['SecurityGroupIngress']).toBeUndefined();
  });

  it('may read table and blobs, and change nothing', () => {
    expect(grants('NightlyScrubTaskRole')).toEqual({
      Table: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'],
      Blobs: ['s3:GetObject'],
      BlobBucket: ['s3:ListBucket'],
    });
    // The other one, which people start, may repair.
    expect(grants('ScrubTaskRole')['Table']).toContain('dynamodb:PutItem');
    expect(grants('ScrubTaskRole')['Blobs']).toContain('s3:DeleteObject');
  });

  // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/CWE_IAM_role.html
  it('is started with a role that may start this task, in this cluster, with its two roles, and nothing else', () => {
    const [roleId, role] = only(streaming, 'AWS::IAM::Role', /^ScrubScheduler/);
    expect(target()['RoleArn']).toEqual({ 'Fn::GetAtt': [roleId, 'Arn'] });
    expect(role.Properties['AssumeRolePolicyDocument']).toMatchObject({
      Statement: [
        {
          Principal: { Service: 'scheduler.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': '000000000000' } },
        },
      ],
    });
    const [{ PolicyDocument }] = role.Properties['Policies'] as [{ PolicyDocument: { Statement: Statement[] } }];
    const [cluster] = only(streaming, 'AWS::ECS::Cluster', /./);
    const { TaskRoleArn, ExecutionRoleArn } = task()[1].Properties;
    const [deadLetters] = only(streaming, 'AWS::SQS::Queue', /^ScrubDeadLetters/);
    const bySid = Object.fromEntries(PolicyDocument.Statement.map(({ Sid, ...rest }) => [Sid, rest]));
    expect(Object.keys(bySid)).toEqual(['Start', 'Tag', 'PassRoles', 'DeadLetters']);
    expect(bySid).toMatchObject({
      Start: {
        Action: 'ecs:RunTask',
        Resource: { Ref: task()[0] },
        Condition: { ArnEquals: { 'ecs:cluster': { 'Fn::GetAtt': [cluster, 'Arn'] } } },
      },
      Tag: { Action: 'ecs:TagResource', Condition: { StringEquals: { 'ecs:CreateAction': 'RunTask' } } },
      PassRoles: {
        Action: 'iam:PassRole',
        Resource: expect.arrayContaining([TaskRoleArn, ExecutionRoleArn]) as unknown,
        Condition: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
      },
      DeadLetters: { Action: 'sqs:SendMessage', Resource: { 'Fn::GetAtt': [deadLetters, 'Arn'] } },
    });
    expect(bySid['PassRoles']!.Resource).toHaveLength(2);
    expect(target()['DeadLetterConfig']).toEqual({ Arn: { 'Fn::GetAtt': [deadLetters, 'Arn'] } });
  });

  // Tags do not reach tasks by themselves: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-using-tags.html
  it('is on the bill of its stage, as are the servers', () => {
    expect(target()).toMatchObject({ EcsParameters: { PropagateTags: 'TASK_DEFINITION' } });
    expect(task()[1].Properties['Tags']).toContainEqual({ Key: 'stillage:stage', Value: 'prod' });
    const [, service] = only(streaming, 'AWS::ECS::Service', /./);
    expect(service.Properties['PropagateTags']).toBe('SERVICE');
    expect(service.Properties['Tags']).toContainEqual({ Key: 'stillage:stage', Value: 'prod' });
  });

  it('reports its findings as a metric, from a log group whose class has metric filters', () => {
    const [, filter] = only(streaming, 'AWS::Logs::MetricFilter', /^Scrub/);
    const metric = {
      MetricNamespace: 'Stillage/prod/Scrub',
      MetricName: 'scrubFindings',
      MetricValue: '$.scrubFindings',
    };
    expect(filter.Properties).toMatchObject({
      FilterPattern: '{ $.scrubFindings = * }',
      MetricTransformations: [metric],
    });
    const { Ref } = filter.Properties['LogGroupName'] as { Ref: string };
    const [, group] = resources(streaming, 'AWS::Logs::LogGroup').find(([id]) => id === Ref)!;
    expect(group.Properties).toMatchObject({ LogGroupName: '/stillage/prod/scrub' });
    expect(group.Properties['LogGroupClass'] ?? 'STANDARD').toBe('STANDARD');
  });

  it('raises an alarm that lasts for a week if it finds something', () => {
    expect(alarm('ScrubFindings')).toMatchObject({
      ...{ Namespace: 'Stillage/prod/Scrub', MetricName: 'scrubFindings', Statistic: 'Maximum', Period: 86_400 },
      ...{ Threshold: 0, ComparisonOperator: 'GreaterThanThreshold', EvaluationPeriods: 7, DatapointsToAlarm: 1 },
      TreatMissingData: 'notBreaching',
    });
  });

  it('raises another if none has finished for two days, or none was started', () => {
    expect(alarm('ScrubUnfinished')).toMatchObject({
      ...{ Namespace: 'Stillage/prod/Scrub', MetricName: 'scrubFindings', Statistic: 'SampleCount', Period: 86_400 },
      ...{ Threshold: 1, ComparisonOperator: 'LessThanThreshold', EvaluationPeriods: 2 },
      TreatMissingData: 'breaching',
    });
    expect(alarm('ScrubDeadLetters')).toMatchObject({ Threshold: 0, EvaluationPeriods: 1 });
    for (const name of ['ScrubFindings', 'ScrubUnfinished', 'ScrubDeadLetters']) {
      expect(alarm(name)!['AlarmActions']).toHaveLength(1);
    }
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
  it('has alarms that look back no further than CloudWatch allows', () => {
    for (const [, { Properties }] of resources(synthesis.operations, 'AWS::CloudWatch::Alarm')) {
      const { Period, EvaluationPeriods } = Properties as { Period: number; EvaluationPeriods: number };
      expect(Period * EvaluationPeriods).toBeLessThanOrEqual(Period < 3600 ? 86_400 : 604_800);
    }
  });

  it.each([
    ['scrubDays', { scrubDays: '0' }],
    ['the preset small, which has no cluster', { preset: 'small' }],
  ])('is off by %s', async (_, context) => {
    const without = await synthesise([], { context });
    const schedules = without.streaming ? resources(without.streaming, 'AWS::Scheduler::Schedule') : [];
    expect(schedules).toEqual([]);
    for (const name of ['ScrubFindings', 'ScrubUnfinished', 'ScrubDeadLetters'])
      expect(alarm(name, without)).toBeUndefined();
  });

  it('has as many slices as days', async () => {
    const { streaming: template } = await synthesise([], { context: { scrubDays: '7' } });
    const [, { Properties }] = only(template!, 'AWS::ECS::TaskDefinition', /^NightlyScrub/);
    expect(JSON.stringify(Properties['ContainerDefinitions'])).toContain('"today/7"');
  });

  it('is part of every preset with a cluster', () => {
    expect(Object.values(presets).map(({ byteLane }) => byteLane)).toEqual(['fargate', 'fargate', 'functions']);
  });
});
