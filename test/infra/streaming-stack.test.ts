import { Match, type Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeOperations, functionsOf } from '../../infra/bundles/operation-descriptions.ts';
import { readCloudSettings } from '../../functions/cloud/settings.ts';
import { inventory, resources, synthesise } from './synthesis.ts';

let streaming: Template;
beforeAll(async () => {
  streaming = (await synthesise(functionsOf(await describeOperations()))).streaming!;
});

const container = (): Record<string, unknown> =>
  (
    resources(streaming, 'AWS::ECS::TaskDefinition')[0]![1].Properties['ContainerDefinitions'] as Record<
      string,
      unknown
    >[]
  )[0]!;

describe('the streaming stack', () => {
  it('has these resources', () => {
    expect(inventory(streaming)).toMatchSnapshot();
  });

  it('is left out where the functions carry the bodies', async () => {
    const { deployment } = await synthesise([], { context: { byteLane: 'functions' } });
    expect(deployment.streaming).toBeUndefined();
  });

  it('runs the byte lane of the image on arm64, and lets its requests end', () => {
    streaming.hasResourceProperties('AWS::ECS::TaskDefinition', {
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
      NetworkMode: 'awsvpc',
      RequiresCompatibilities: ['FARGATE'],
    });
    expect(container()).toMatchObject({
      Command: ['bin/byte-lane.mjs'],
      StopTimeout: 120,
      ReadonlyRootFilesystem: true,
      PortMappings: [{ ContainerPort: 9000 }],
    });
    expect(JSON.stringify(container()['HealthCheck'])).toContain('http://127.0.0.1:9000/_stillage/live');
  });

  it('tells the server all that its composition root asks for', () => {
    const environment = container()['Environment'] as { Name: string; Value: unknown }[];
    const told = environment.map(
      ({ Name, Value }) => [Name, typeof Value === 'string' ? Value : JSON.stringify(Value)] as const,
    );
    expect(readCloudSettings(Object.fromEntries(told)).edgeSecret).toContain('EdgeSecret');
    expect(Object.fromEntries(told)).toMatchObject({ PORT: '9000', AWS_REGION: 'us-east-1' });
  });

  it('grants the server what its operations need and no more', () => {
    const task = resources(streaming, 'AWS::ECS::TaskDefinition')[0]![1].Properties;
    const { 'Fn::GetAtt': role } = task['TaskRoleArn'] as { 'Fn::GetAtt': [string, string] };
    const policies = resources(streaming, 'AWS::IAM::Policy').filter(([, { Properties }]) =>
      JSON.stringify(Properties['Roles']).includes(role[0]),
    );
    const statements = policies.flatMap(
      ([, { Properties }]) =>
        (Properties['PolicyDocument'] as { Statement: { Sid: string; Action: string | string[] }[] }).Statement,
    );
    const granted = new Map(statements.map(({ Sid, Action }) => [Sid, [Action].flat().toSorted()]));
    expect(Object.fromEntries(granted)).toEqual({
      Table: [
        'dynamodb:ConditionCheckItem',
        'dynamodb:DeleteItem',
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
      ],
      Blobs: ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:GetObject', 's3:PutObject'],
      BlobBucket: ['s3:ListBucket'],
      Secrets: ['secretsmanager:GetSecretValue'],
    });
  });

  it('has no way in but a load balancer without an address on the internet', () => {
    streaming.hasResourceProperties('AWS::ElasticLoadBalancingV2::LoadBalancer', {
      Scheme: 'internal',
      LoadBalancerAttributes: Match.arrayWith([
        // Longer than the distribution waits.
        { Key: 'idle_timeout.timeout_seconds', Value: '130' },
        // Else it would take metadata with an underscore in its name away.
        { Key: 'routing.http.drop_invalid_header_fields.enabled', Value: 'false' },
      ]),
    });
    const groups = resources(streaming, 'AWS::EC2::SecurityGroup');
    expect(JSON.stringify(groups.map(([, { Properties }]) => Properties['SecurityGroupIngress'] ?? []))).not.toContain(
      '0.0.0.0/0',
    );
    const rules = resources(streaming, 'AWS::EC2::SecurityGroupIngress').map(([, { Properties }]) => Properties);
    const [fromBalancer, fromDistribution] = [9000, 80].map((port) => rules.find(({ FromPort }) => FromPort === port)!);
    expect(rules).toHaveLength(2);
    expect(JSON.stringify(fromBalancer!['SourceSecurityGroupId'])).toContain('BalancerAccess');
    // test/infra/vpc-origin.test.ts tests that it is the list of CloudFront.
    expect(Object.keys(fromDistribution!).filter((name) => /^(Source|Cidr)/.test(name))).toEqual([
      'SourcePrefixListId',
    ]);
  });

  it('reaches table and blobs by gateway endpoints, and pays for no address translation', () => {
    const endpoints = resources(streaming, 'AWS::EC2::VPCEndpoint').map(([, { Properties }]) => Properties);
    expect(endpoints.map(({ VpcEndpointType }) => VpcEndpointType)).toEqual(['Gateway', 'Gateway']);
    expect(JSON.stringify(endpoints)).toMatch(/\.s3"/);
    expect(JSON.stringify(endpoints)).toMatch(/\.dynamodb"/);
    streaming.resourceCountIs('AWS::EC2::NatGateway', 0);
  });

  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch_Logs_Log_Classes.html
  it('has no metric filter on a log group of the class that has none', () => {
    const groups = new Map(resources(streaming, 'AWS::Logs::LogGroup'));
    const classes = [...groups.values()].map(({ Properties }) => Properties['LogGroupClass']);
    expect(classes).toContain('INFREQUENT_ACCESS');
    for (const [, { Properties }] of resources(streaming, 'AWS::Logs::MetricFilter')) {
      const { Ref } = Properties['LogGroupName'] as { Ref: string };
      expect(groups.get(Ref)!.Properties['LogGroupClass']).not.toBe('INFREQUENT_ACCESS');
    }
  });

  it('takes servers out of use before it stops them, and starts as many as there is work for', () => {
    streaming.hasResourceProperties('AWS::ElasticLoadBalancingV2::TargetGroup', {
      HealthCheckPath: '/_stillage/live',
      TargetGroupAttributes: Match.arrayWith([{ Key: 'deregistration_delay.timeout_seconds', Value: '3600' }]),
    });
    streaming.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', { MinCapacity: 2, MaxCapacity: 20 });
    const followed = resources(streaming, 'AWS::ApplicationAutoScaling::ScalingPolicy').map(
      ([, { Properties }]) => Properties['TargetTrackingScalingPolicyConfiguration'],
    );
    expect(followed).toMatchObject([
      { PredefinedMetricSpecification: { PredefinedMetricType: 'ECSServiceAverageCPUUtilization' }, TargetValue: 60 },
      {
        PredefinedMetricSpecification: { PredefinedMetricType: 'ECSServiceAverageMemoryUtilization' },
        TargetValue: 60,
      },
    ]);
    streaming.hasResourceProperties('AWS::ECS::Service', {
      // With a number, each deployment would set it: https://github.com/aws/containers-roadmap/issues/493
      DesiredCount: Match.absent(),
      DeploymentConfiguration: {
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
        // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/deployment-alarm-failure.html
        Alarms: { AlarmNames: [{ Ref: Match.stringLikeRegexp('^DeploymentErrors') }], Enable: true, Rollback: true },
        MinimumHealthyPercent: 100,
      },
    });
  });
});
