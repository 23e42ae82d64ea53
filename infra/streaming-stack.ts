import { CfnOutput, Duration, Fn, RemovalPolicy, Size, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import {
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpointAwsService,
  type IVpc,
  IpAddresses,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import {
  Cluster,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  AwsLogDriverMode,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { ApplicationLoadBalancer, ApplicationProtocol } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { LogGroup, type LogGroupClass } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { byteLane } from '../shared/protocol/lanes.ts';
import type { OperationName } from '../shared/protocol/routes.ts';
import { environmentOf } from './environment.ts';
import { acknowledgeBlobs, type Data, grantsOf, scrubGrants } from './grants.ts';
import { type FunctionDescription, needsOfAll } from './operation-descriptions.ts';
import { byteLaneLogName, requestLogClass } from './request-logs.ts';
import type { Settings } from './settings.ts';

export interface StreamingStackProps extends StackProps {
  readonly settings: Settings;
  readonly data: Data;
  /** The functions that the lane spares: it does for some of their operations what they would do. */
  readonly functions: readonly FunctionDescription[];
  readonly imageDirectory: string;
}

/** What a server listens on, and the load balancer too: only the distribution reaches it, inside the network of the cloud. */
const port = 9000;
const balancerPort = 80;
const addresses = '10.72.0.0/16';

/**
 * The byte lane: servers that stream, behind a load balancer without an address of its own on the internet. The distribution
 * reaches it as a VPC origin. Table and blobs are reached by gateway endpoints, which cost nothing.
 */
export class StreamingStack extends Stack {
  readonly balancer: ApplicationLoadBalancer;
  readonly #settings: Settings;

  constructor(scope: Construct, id: string, props: StreamingStackProps) {
    const { settings, data, functions, imageDirectory, ...stackProps } = props;
    super(scope, id, stackProps);
    this.#settings = settings;
    const vpc = this.#network();
    const service = this.#service(vpc, this.#task(data, functions, imageDirectory));
    this.balancer = this.#balancer(vpc, service);
    this.#scale(service);
    this.#scrub(data, imageDirectory, vpc, service);
  }

  /** Two zones, by position: their names would have to be looked up. */
  override get availabilityZones(): string[] {
    return [0, 1].map((index) => Fn.select(index, Fn.getAzs()));
  }

  /**
   * Servers have addresses of their own, which cost less than a gateway for address translation or endpoints for images, logs
   * and secrets, and let nobody in: their security group takes connections of the load balancer alone.
   */
  #network(): IVpc {
    const vpc = new Vpc(this, 'Network', {
      ipAddresses: IpAddresses.cidr(addresses),
      natGateways: 0,
      // Nothing is in it, and to empty it takes a function that runs as CloudFormation.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: 'servers', subnetType: SubnetType.PUBLIC, cidrMask: 20 },
        { name: 'balancer', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
      ],
      gatewayEndpoints: {
        Blobs: { service: GatewayVpcEndpointAwsService.S3 },
        Table: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    vpc.addFlowLog('Refused', {
      destination: FlowLogDestination.toCloudWatchLogs(this.#logGroup('RefusedLog')),
      trafficType: FlowLogTrafficType.REJECT,
    });
    // Under exactOptionalPropertyTypes the library's class is not of its interface.
    return vpc as IVpc;
  }

  #task(data: Data, functions: readonly FunctionDescription[], imageDirectory: string): FargateTaskDefinition {
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: 1024,
      memoryLimitMiB: 2048,
      runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    });
    const own = functions.filter(({ serves }) => serves.some(isOnByteLane));
    const needs = needsOfAll(own);
    for (const statement of grantsOf(needs, data)) task.addToTaskRolePolicy(statement);
    acknowledgeBlobs(task.taskRole, needs, data);
    task.addContainer('Server', {
      image: ContainerImage.fromAsset(imageDirectory, { platform: Platform.LINUX_ARM64 }),
      command: ['bin/byte-lane.mjs'],
      environment: { ...environmentOf(this.#settings, data), PORT: String(port) },
      portMappings: [{ containerPort: port }],
      logging: LogDrivers.awsLogs({
        streamPrefix: 'byte-lane',
        logGroup: this.#logGroup('Log', byteLaneLogName(this.#settings.stage), requestLogClass),
        // Where the log cannot be reached, requests go on, and their lines wait: some minutes of them.
        mode: AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: Size.mebibytes(25),
      }),
      readonlyRootFilesystem: true,
      // Requests that are running when a task is stopped may end: functions/runtime/cloud/byte-lane.ts waits a little less.
      stopTimeout: Duration.seconds(120),
      healthCheck: {
        command: ['CMD', 'node', '-e', askForLiveness],
        interval: Duration.seconds(30),
        timeout: Duration.seconds(10),
        retries: 5,
        startPeriod: Duration.seconds(30),
      },
    });
    Validations.of(task).acknowledge(
      {
        id: 'AwsSolutions-ECS2',
        reason: 'The environment names what is to be used; what is secret is read by its name.',
      },
      {
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason: 'To log in to the registry of images is a right on no resource (ecr:GetAuthorizationToken).',
      },
    );
    return task;
  }

  /** The scrub, which is started by hand (docs/scrub.md): the servers' image, with rights of its own. */
  #scrub(data: Data, imageDirectory: string, vpc: IVpc, { cluster }: FargateService): void {
    const { stage } = this.#settings;
    const task = new FargateTaskDefinition(this, 'Scrub', {
      family: `stillage-${stage}-scrub`,
      cpu: 1024,
      memoryLimitMiB: 2048,
      runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    });
    for (const statement of scrubGrants(data)) task.addToTaskRolePolicy(statement);
    acknowledgeBlobs(task.taskRole, { table: 'write', blobs: 'write' }, data);
    task.addContainer('Scrub', {
      image: ContainerImage.fromAsset(imageDirectory, { platform: Platform.LINUX_ARM64 }),
      command: ['bin/cloud-scrub.mjs'],
      environment: { STILLAGE_TABLE: data.table.tableName, STILLAGE_BLOB_BUCKET: data.blobs.bucketName },
      logging: LogDrivers.awsLogs({
        streamPrefix: 'scrub',
        logGroup: this.#logGroup('ScrubLog', `/stillage/${stage}/scrub`),
      }),
      readonlyRootFilesystem: true,
    });
    const access = new SecurityGroup(this, 'ScrubAccess', {
      vpc,
      description: 'Stillage: the scrub, which nobody reaches',
    });
    Validations.of(task).acknowledge(
      { id: 'AwsSolutions-ECS2', reason: 'The environment names what is to be looked at, and nothing secret.' },
      {
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason: 'To log in to the registry of images is a right on no resource (ecr:GetAuthorizationToken).',
      },
    );
    const subnets = vpc.selectSubnets({ subnetType: SubnetType.PUBLIC }).subnetIds;
    new CfnOutput(this, 'ScrubCluster', { value: cluster.clusterName });
    new CfnOutput(this, 'ScrubNetwork', {
      value: `awsvpcConfiguration={subnets=[${subnets.join(',')}],securityGroups=[${access.securityGroupId}],assignPublicIp=ENABLED}`,
      description: 'For aws ecs run-task: docs/scrub.md',
    });
  }

  #service(vpc: IVpc, taskDefinition: FargateTaskDefinition): FargateService {
    const { byteLaneMinimumTasks } = this.#settings;
    const cluster = new Cluster(this, 'Cluster', { vpc, containerInsightsV2: ContainerInsights.ENABLED });
    return new FargateService(this, 'Service', {
      cluster: cluster as ICluster,
      taskDefinition,
      desiredCount: byteLaneMinimumTasks,
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: true,
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      healthCheckGracePeriod: Duration.seconds(60),
    });
  }

  #balancer(vpc: IVpc, service: FargateService): ApplicationLoadBalancer {
    const securityGroup = new SecurityGroup(this, 'BalancerAccess', {
      vpc,
      description: 'Stillage: the load balancer of the byte lane',
      allowAllOutbound: false,
    });
    // The distribution arrives from network interfaces inside. Whoever else gets here lacks its secret.
    securityGroup.addIngressRule(Peer.ipv4(addresses), Port.tcp(balancerPort), 'the distribution');
    const balancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: false,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroup,
      // A copy that moves bytes may take as long to answer as the distribution waits; functions/runtime/cloud/byte-lane.ts waits longer.
      idleTimeout: Duration.seconds(130),
      // It takes an underscore for invalid, which names of metadata have.
      dropInvalidHeaderFields: false,
    });
    const listener = balancer.addListener('Http', {
      port: balancerPort,
      protocol: ApplicationProtocol.HTTP,
      open: false,
    });
    listener.addTargets('Servers', {
      port,
      protocol: ApplicationProtocol.HTTP,
      targets: [service],
      deregistrationDelay: Duration.seconds(120),
      healthCheck: {
        path: '/_stillage/health',
        interval: Duration.seconds(15),
        timeout: Duration.seconds(10),
        unhealthyThresholdCount: 5,
      },
    });
    Validations.of(balancer).acknowledge({
      id: 'AwsSolutions-ELB2',
      reason: 'Servers log each request; a log of the load balancer would hold presigned URLs.',
    });
    return balancer;
  }

  /** Hashing and encryption take the processor, so that is what there must be enough of. */
  #scale(service: FargateService): void {
    const { byteLaneMinimumTasks: minCapacity, byteLaneMaximumTasks: maxCapacity } = this.#settings;
    service
      .autoScaleTaskCount({ minCapacity, maxCapacity })
      .scaleOnCpuUtilization('Processor', { targetUtilizationPercent: 60, scaleInCooldown: Duration.minutes(5) });
  }

  #logGroup(id: string, logGroupName?: string, logGroupClass?: LogGroupClass): LogGroup {
    return new LogGroup(this, id, {
      ...(logGroupName !== undefined && { logGroupName }),
      ...(logGroupClass !== undefined && { logGroupClass }),
      retention: this.#settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}

/** Of the process alone: another task would find table and blobs as this one does. */
const askForLiveness = `fetch('http://127.0.0.1:${port}/_stillage/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;

function isOnByteLane(operation: OperationName): boolean {
  return operation in byteLane || operation === 'GetHealth' || operation === 'GetLiveness';
}
