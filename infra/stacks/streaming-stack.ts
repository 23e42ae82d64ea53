import { Duration, RemovalPolicy, Size, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type IVpc, Port, SecurityGroup, SubnetType } from 'aws-cdk-lib/aws-ec2';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import {
  AlarmBehavior,
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
  PropagatedTagSource,
} from 'aws-cdk-lib/aws-ecs';
import {
  ApplicationLoadBalancer,
  ApplicationProtocol,
  type ApplicationTargetGroup,
  HttpCodeTarget,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { LogGroup, type LogGroupClass } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { byteLaneOperations } from '../../shared/protocol/operation-table.ts';
import { containerEnvironment, environmentOf } from '../environment.ts';
import { acknowledgeBlobs, type Data, grantsOf } from '../constructs/grants.ts';
import { type FunctionDescription, needsOfAll } from '../bundles/operation-descriptions.ts';
import { byteLaneLogName, requestLogClass } from '../constructs/request-logs.ts';
import { exportForGood } from '../constructs/lasting-exports.ts';
import { Network } from '../constructs/network.ts';
import { OriginFacingList } from '../constructs/origin-facing-list.ts';
import { addScrubTasks, type WatchedScrub } from '../constructs/scrub-tasks.ts';
import { byteLaneEntry, type Settings, zonesOf } from '../settings.ts';

export interface StreamingStackProps extends StackProps {
  readonly settings: Settings;
  readonly data: Data;
  /** The functions whose operations the byte lane serves. */
  readonly functions: readonly FunctionDescription[];
  readonly imageDirectory: string;
}

/** The port that servers listen on. */
const port = 9000;

/**
 * The byte lane: streaming servers behind an internal load balancer. The distribution reaches it as a VPC origin.
 */
export class StreamingStack extends Stack {
  readonly balancer: ApplicationLoadBalancer;
  /** The target group of the servers. */
  readonly servers: ApplicationTargetGroup;
  /** The scheduled scrub; undefined if the settings turn it off. */
  readonly scrub: WatchedScrub | undefined;
  readonly #settings: Settings;

  constructor(scope: Construct, id: string, props: StreamingStackProps) {
    const { settings, data, functions, imageDirectory, ...stackProps } = props;
    super(scope, id, stackProps);
    this.#settings = settings;
    // With exactOptionalPropertyTypes, the class of the CDK does not match its interface.
    const vpc = new Network(this, 'Network', settings) as IVpc;
    const service = this.#service(vpc, this.#task(data, functions, imageDirectory));
    ({ balancer: this.balancer, servers: this.servers } = this.#balancer(vpc, service));
    if (settings.gradual) this.#rollBackOnErrors(service);
    this.#scale(service);
    this.scrub = addScrubTasks(this, {
      ...{
        settings,
        data,
        vpc,
        cluster: service.cluster,
        logGroup: this.#logGroup('ScrubLog', scrubLogName(settings.stage)),
      },
      image: imageOf(imageDirectory),
    });
  }

  /** By ids: a name maps to a different zone in each account. */
  override get availabilityZones(): string[] {
    return [...zonesOf(this.#settings)];
  }

  #task(data: Data, functions: readonly FunctionDescription[], imageDirectory: string): FargateTaskDefinition {
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: this.#settings.byteLaneCpu,
      memoryLimitMiB: this.#settings.byteLaneMemory,
      runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    });
    const own = functions.filter(({ serves }) => serves.some((operation) => byteLaneOperations.has(operation)));
    const needs = needsOfAll(own);
    for (const statement of grantsOf(needs, data)) task.addToTaskRolePolicy(statement);
    acknowledgeBlobs(task.taskRole, needs, data);
    task.addContainer('Server', {
      image: imageOf(imageDirectory),
      command: ['bin/byte-lane.mjs'],
      environment: {
        ...environmentOf(this.#settings, data),
        ...containerEnvironment(this.#settings),
        PORT: String(port),
        STILLAGE_UPLOAD_MEMORY: String(uploadMemory(this.#settings)),
        ...(this.#settings.requestLog === 'all' && { STILLAGE_REQUEST_LOG: 'all' }),
      },
      portMappings: [{ containerPort: port }],
      logging: LogDrivers.awsLogs({
        streamPrefix: 'byte-lane',
        logGroup: this.#logGroup('Log', byteLaneLogName(this.#settings.stage), requestLogClass),
        // If CloudWatch Logs is unavailable, requests continue and some minutes of log lines are buffered.
        mode: AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: Size.mebibytes(25),
      }),
      readonlyRootFilesystem: true,
      // Lets running requests end when a task is stopped: functions/cloud/byte-lane.ts waits a little less.
      stopTimeout: Duration.seconds(120),
      healthCheck: {
        command: ['CMD', 'node', '-e', askWhetherAlive],
        interval: Duration.seconds(30),
        timeout: Duration.seconds(10),
        retries: 5,
        startPeriod: Duration.seconds(30),
      },
    });
    Validations.of(task).acknowledge(
      {
        id: 'AwsSolutions-ECS2',
        reason: 'The environment has names of resources only; secrets are read by name.',
      },
      {
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason: 'To log in to the registry of images is a right on no resource (ecr:GetAuthorizationToken).',
      },
    );
    return task;
  }

  #service(vpc: IVpc, taskDefinition: FargateTaskDefinition): FargateService {
    const cluster = new Cluster(this, 'Cluster', { vpc, containerInsightsV2: ContainerInsights.ENABLED });
    return new FargateService(this, 'Service', {
      cluster: cluster as ICluster,
      taskDefinition,
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: true,
      // Tasks have no tags of their own, and the bill by tag would lack them:
      // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-using-tags.html
      propagateTags: PropagatedTagSource.SERVICE,
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      healthCheckGracePeriod: Duration.seconds(60),
    });
  }

  #balancer(
    vpc: IVpc,
    service: FargateService,
  ): { readonly balancer: ApplicationLoadBalancer; readonly servers: ApplicationTargetGroup } {
    const securityGroup = new SecurityGroup(this, 'BalancerAccess', {
      vpc,
      description: 'Stillage: the load balancer of the byte lane',
      allowAllOutbound: false,
    });
    // Traffic of a VPC origin matches this prefix list, but not the addresses of the VPC that it arrives in.
    // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-vpc-origins.html
    const distribution = new OriginFacingList(this, 'Distribution', { logGroup: this.#logGroup('DistributionLog') });
    const { port: balancerPort, certificate } = byteLaneEntry(this.#settings);
    securityGroup.addIngressRule(distribution.peer, Port.tcp(balancerPort), 'the distribution');
    const balancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: false,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroup,
      // As long as the distribution waits, for copies of many bytes; functions/cloud/byte-lane.ts waits longer.
      idleTimeout: Duration.seconds(130),
      // It would drop header names with underscores, which user metadata may have.
      dropInvalidHeaderFields: false,
    });
    exportForGood(balancer, balancer.loadBalancerArn, balancer.loadBalancerDnsName, balancer.loadBalancerFullName);
    const listener = balancer.addListener(certificate === undefined ? 'Http' : 'Https', {
      port: balancerPort,
      open: false,
      ...(certificate === undefined
        ? { protocol: ApplicationProtocol.HTTP }
        : {
            protocol: ApplicationProtocol.HTTPS,
            certificates: [Certificate.fromCertificateArn(this, 'Certificate', certificate)],
          }),
    });
    // The stack of alarms of 0.2 imports it, and is deployed later than this one.
    this.exportValue(listener.listenerArn);
    const servers = listener.addTargets('Servers', {
      port,
      protocol: ApplicationProtocol.HTTP,
      targets: [service],
      // The most there is: a server that is to stop gets no new requests, and goes on with those that it has.
      deregistrationDelay: Duration.hours(1),
      // Liveness only: with table or blobs unavailable, all servers would be replaced again and again.
      healthCheck: {
        path: '/_stillage/live',
        interval: Duration.seconds(15),
        timeout: Duration.seconds(10),
        unhealthyThresholdCount: 5,
      },
    });
    Validations.of(balancer).acknowledge({
      id: 'AwsSolutions-ELB2',
      reason: 'Servers log each request. A log of the load balancer would contain presigned URLs.',
    });
    return { balancer, servers };
  }

  /**
   * Rolls back a deployment whose servers answer errors, not only one whose servers do not start. The alarm has no actions, as those of
   * the operations stack notify the operator.
   * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/deployment-alarm-failure.html
   */
  #rollBackOnErrors(service: FargateService): void {
    const alarm = new Alarm(this, 'DeploymentErrors', {
      alarmName: `stillage-${this.#settings.stage}-byte-lane-deployment`,
      alarmDescription: 'Stillage: rolls back a deployment of the byte lane',
      metric: this.servers.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { period: Duration.minutes(1) }),
      threshold: 20,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 2,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    service.enableDeploymentAlarms([alarm.alarmName], { behavior: AlarmBehavior.ROLLBACK_ON_ALARM });
  }

  /** Scales by CPU, for hashing and encryption, and by memory, for uploads. */
  #scale(service: FargateService): void {
    const { byteLaneMinimumTasks: minCapacity, byteLaneMaximumTasks: maxCapacity } = this.#settings;
    const tasks = service.autoScaleTaskCount({ minCapacity, maxCapacity });
    const scaleInCooldown = Duration.minutes(5);
    tasks.scaleOnCpuUtilization('Processor', { targetUtilizationPercent: 60, scaleInCooldown });
    // A metric filter could measure upload memory exactly, but log groups of the Infrequent Access class have none.
    tasks.scaleOnMemoryUtilization('Memory', { targetUtilizationPercent: 60, scaleInCooldown });
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

function imageOf(directory: string): ContainerImage {
  return ContainerImage.fromAsset(directory, { platform: Platform.LINUX_ARM64 });
}

function scrubLogName(stage: string): string {
  return `/stillage/${stage}/scrub`;
}

/** Returns the bytes of memory for uploads in a server, half of its memory. */
function uploadMemory({ byteLaneMemory }: Settings): number {
  return (byteLaneMemory / 2) * 1024 * 1024;
}

const askWhetherAlive = `fetch('http://127.0.0.1:${port}/_stillage/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;
