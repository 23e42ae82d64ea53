import { RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { apiDefinition } from '../bundles/api-definition.ts';
import type { FunctionBundle } from '../bundles/bundle.ts';
import { environmentOf } from '../environment.ts';
import { GradualDeployment, type Invoked } from '../constructs/gradual-deployment.ts';
import type { Data } from '../constructs/grants.ts';
import { functionTimeout, OperationFunction } from '../constructs/operation-function.ts';
import { OperationRoles } from '../constructs/operation-roles.ts';
import { apiLogName, requestLogClass } from '../constructs/request-logs.ts';
import type { Settings } from '../settings.ts';

export interface ApiStackProps extends StackProps {
  readonly settings: Settings;
  readonly data: Data;
  readonly functions: readonly FunctionBundle[];
}

/** The control lane: the REST API and its functions. */
export class ApiStack extends Stack {
  readonly api: SpecRestApi;
  readonly #settings: Settings;

  constructor(scope: Construct, id: string, { settings, data, functions: bundles, ...props }: ApiStackProps) {
    super(scope, id, props);
    this.#settings = settings;
    const functions = this.#functions(bundles, data);
    this.api = this.#api(functions);
    for (const [name, lambda] of functions) {
      lambda.addPermission('Api', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: this.api.arnForExecuteApi('*', `/${name}`, settings.stage),
      });
    }
  }

  #functions(bundles: readonly FunctionBundle[], data: Data): ReadonlyMap<string, Invoked> {
    const log = new LogGroup(this, 'Log', {
      logGroupName: apiLogName(this.#settings.stage),
      logGroupClass: requestLogClass,
      retention: this.#settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const roles = new OperationRoles(this, 'Roles', { data, log });
    const environment = environmentOf(this.#settings, data);
    const gradual = new GradualDeployment(this, 'GradualDeployment', this.#settings);
    return new Map(
      bundles.map((bundle) => {
        const { function: lambda } = new OperationFunction(this, bundle.name, {
          bundle,
          role: roles.of(bundle.needs),
          log,
          environment,
        });
        return [bundle.name, gradual.invoked(bundle.name, lambda)];
      }),
    );
  }

  #api(functions: ReadonlyMap<string, Invoked>): SpecRestApi {
    const { stage, requestsPerSecond, burst, logRetentionDays } = this.#settings;
    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupClass: requestLogClass,
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const definition = apiDefinition({
      title: `stillage-${stage}`,
      timeoutMilliseconds: functionTimeout.toMilliseconds(),
      invocations: new Map([...functions].map(([name, lambda]) => [name, invocationUri(lambda)])),
    });
    const api = new SpecRestApi(this, 'Api', {
      // The alarms find its metrics by this name.
      restApiName: `stillage-${stage}`,
      apiDefinition: ApiDefinition.fromInline(definition),
      // An edge-optimised API would add headers and hide the client's address.
      endpointTypes: [EndpointType.REGIONAL],
      // API Gateway writes logs with one role per account and region. It is retained, as other APIs may use it.
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: stage,
        throttlingRateLimit: requestsPerSecond,
        throttlingBurstLimit: burst,
        tracingEnabled: true,
        loggingLevel: MethodLoggingLevel.ERROR,
        // Keeps bodies and signatures out of the log.
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(accessLogLine),
      },
    });
    Validations.of(api).acknowledge(
      {
        id: 'AwsSolutions-APIG2',
        reason: 'Bodies are objects and XML, which request validation does not support: the pipeline parses them.',
      },
      {
        id: 'AwsSolutions-APIG3',
        reason: 'Every request is signed and verified. A web ACL belongs to the distribution.',
      },
      {
        id: `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${logWriterPolicy}]`,
        reason: 'API Gateway requires this managed policy for writing logs.',
      },
    );
    return api;
  }
}

/** The managed policy that API Gateway requires for writing logs. */
const logWriterPolicy = 'service-role/AmazonAPIGatewayPushToCloudWatchLogs';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html. No field can contain a credential. */
export const accessLogLine = JSON.stringify({
  requestId: '$context.requestId',
  time: '$context.requestTime',
  address: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  bytes: '$context.responseLength',
  milliseconds: '$context.responseLatency',
  functionRequestId: '$context.integration.requestId',
  functionMilliseconds: '$context.integration.latency',
  error: '$context.error.responseType',
});

function invocationUri(lambda: Invoked): string {
  const { partition, region } = Stack.of(lambda);
  return `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${lambda.functionArn}/invocations`;
}
