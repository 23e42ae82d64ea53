import { Duration, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Alias, Function } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { OperationName } from '../../shared/protocol/operation-table.ts';
import type { Settings } from '../settings.ts';
import { apiMetric } from './operator-alarms.ts';

/** A function, or the alias that a gradual deployment moves from one version to the next. */
export type Invoked = Function | Alias;

/**
 * The operations of nearly all requests that reach functions: beside a byte lane, which serves objects and listings, others than without. Not all
 * operations, as a deployment group takes four of the 500 resources of a stack.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
 */
export const gradualOperations: Readonly<Record<Settings['byteLane'], ReadonlySet<string>>> = {
  fargate: new Set<OperationName>([
    'ListBuckets',
    'HeadBucket',
    'GetBucketLocation',
    'GetBucketVersioning',
    'CreateMultipartUpload',
    'ListParts',
    'CompleteMultipartUpload',
    'AbortMultipartUpload',
    'GetObjectTagging',
    'PutObjectTagging',
    'GetObjectAttributes',
  ]),
  functions: new Set<OperationName>([
    'HeadBucket',
    'HeadObject',
    'GetObject',
    'PutObject',
    'DeleteObject',
    'DeleteObjects',
    'ListObjects',
    'ListObjectsV2',
    'CreateMultipartUpload',
    'UploadPart',
    'CompleteMultipartUpload',
  ]),
};

/**
 * Deploys functions gradually: a new version gets a tenth of the requests for five minutes, then all of them. If it fails before,
 * CodeDeploy sends all requests to the previous version, and CloudFormation rolls the stack back.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html#cfn-attributes-updatepolicy-codedeploylambdaaliasupdate
 */
export class GradualDeployment extends Construct {
  readonly #settings: Settings;
  readonly #application: LambdaApplication;
  readonly #role: Role;
  readonly #apiErrors: Alarm;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.#settings = settings;
    const { stage } = settings;
    this.#application = new LambdaApplication(this, 'Application', { applicationName: `stillage-${stage}` });
    this.#role = new Role(this, 'Role', {
      description: 'Stillage: CodeDeploy, which moves aliases from one version of a function to the next',
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(deploymentPolicy)],
    });
    Validations.of(this.#role).acknowledge({
      id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${deploymentPolicy}]`,
      reason: 'CodeDeploy documents this policy as required. It only allows moving aliases and reading alarms.',
    });
    // API Gateway counts functions that fail and those that answer 5xx.
    this.#apiErrors = rollbackAlarm(this, 'ApiErrors', {
      name: `stillage-${stage}-functions-deployment`,
      metric: apiMetric(stage, '5XXError', Stats.AVERAGE, Duration.minutes(1)),
      threshold: 0.01,
    });
  }

  /** Returns what requests of the API reach: a function, or its alias if it is deployed gradually. @param name its name in the deployment */
  invoked(name: string, lambda: Function): Invoked {
    const { stage, byteLane, gradual } = this.#settings;
    if (!gradualOperations[byteLane].has(name)) return lambda;
    const alias = lambda.addAlias('live');
    if (!gradual) return alias;
    const errors = rollbackAlarm(lambda, 'DeploymentErrors', {
      name: `stillage-${stage}-${name}-deployment`,
      metric: alias.metricErrors({ statistic: Stats.SUM, period: Duration.minutes(1) }),
      threshold: 1,
    });
    new LambdaDeploymentGroup(lambda, 'DeploymentGroup', {
      application: this.#application,
      role: this.#role.withoutPolicyUpdates(),
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [errors, this.#apiErrors],
    });
    return alias;
  }
}

/** https://docs.aws.amazon.com/codedeploy/latest/userguide/getting-started-create-service-role.html */
const deploymentPolicy = 'service-role/AWSCodeDeployRoleForLambdaLimited';

interface RollbackAlarm {
  readonly name: string;
  readonly metric: IMetric;
  /** A minute above it stops the deployment. */
  readonly threshold: number;
}

/** Returns an alarm without actions, as only the alarms of the operations stack notify the operator. */
function rollbackAlarm(scope: Construct, id: string, { name, metric, threshold }: RollbackAlarm): Alarm {
  return new Alarm(scope, id, {
    alarmName: name,
    alarmDescription: 'Stillage: rolls back a deployment of functions',
    metric,
    threshold,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}
