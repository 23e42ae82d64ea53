import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  AuthorizationType,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { BackgroundBundle } from '../bundles/bundle.ts';
import { BackgroundFunctionConstruct } from '../constructs/background-function.ts';
import type { Data } from '../constructs/grants.ts';
import { environmentOf } from '../environment.ts';
import type { Settings } from '../settings.ts';
import { accessLogLine } from './api-stack.ts';

export interface AdminStackProps extends StackProps {
  readonly settings: Settings;
  readonly data: Data;
  /** The endpoint for clients. */
  readonly endpoint: string;
  readonly function: BackgroundBundle;
}

/** Requests a second that operators may make all together, and at once: commands read and write many items. */
const [rate, burst] = [20, 40];

/** The API of operators: administrative commands over HTTP, for tokens that a function checks. */
export class AdminStack extends Stack {
  readonly api: RestApi;

  constructor(scope: Construct, id: string, props: AdminStackProps) {
    const { settings, data, endpoint, function: bundle, ...rest } = props;
    super(scope, id, rest);
    const { stage, logRetentionDays } = settings;
    const { function: administer } = new BackgroundFunctionConstruct(this, bundle.name, {
      ...{ bundle, stage, data, logRetention: logRetentionDays, requestLogs: [] },
      environment: { ...environmentOf(settings, data), STILLAGE_ENDPOINT: endpoint },
    });
    const accessLog = new LogGroup(this, 'AccessLog', {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.api = new RestApi(this, 'Api', {
      restApiName: `stillage-${stage}-admin`,
      description: 'Stillage: administration over HTTP, for operators with tokens',
      endpointTypes: [EndpointType.REGIONAL],
      // The stack of the API of clients has the role with which API Gateway writes logs.
      cloudWatchRole: false,
      binaryMediaTypes: ['*/*'],
      deployOptions: {
        stageName: stage,
        throttlingRateLimit: rate,
        throttlingBurstLimit: burst,
        tracingEnabled: true,
        loggingLevel: MethodLoggingLevel.ERROR,
        // Keeps bodies and tokens out of the log.
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(accessLogLine),
      },
    });
    const commands = ['_stillage', 'admin', 'v1'].reduce((parent, part) => parent.addResource(part), this.api.root);
    const any = commands.addProxy({
      defaultIntegration: new LambdaIntegration(administer, { allowTestInvoke: false }),
      defaultMethodOptions: { authorizationType: AuthorizationType.NONE },
    });
    Validations.of(this.api).acknowledge(
      { id: 'AwsSolutions-APIG2', reason: 'The function checks arguments by the declarations of the commands.' },
      {
        id: 'AwsSolutions-APIG3',
        reason: 'Every request has a token, which the function checks before anything else.',
      },
    );
    const reason = 'The function checks the tokens of operators, as the service on one machine does.';
    Validations.of(any.anyMethod!).acknowledge(
      { id: 'AwsSolutions-APIG4', reason },
      { id: 'AwsSolutions-COG4', reason },
    );
    new CfnOutput(this, 'AdminEndpoint', {
      description: 'Where operators administer the deployment over HTTP: --endpoint of stillage',
      value: this.api.url.replace(/\/$/, ''),
    });
  }
}
