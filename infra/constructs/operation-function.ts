import { Duration } from 'aws-cdk-lib';
import type { Role } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function, LoggingFormat, Runtime, SystemLogLevel, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionBundle } from '../bundles/bundle.ts';

/** The integration timeout of API Gateway; a longer timeout of the function has no use. */
export const functionTimeout = Duration.seconds(29);

export interface OperationFunctionProps {
  readonly bundle: FunctionBundle;
  /** The role with the grants that its operations need. */
  readonly role: Role;
  readonly log: LogGroup;
  readonly environment: Readonly<Record<string, string>>;
}

/** The construct of every function that serves operations. */
export class OperationFunction extends Construct {
  readonly function: Function;

  constructor(scope: Construct, id: string, props: OperationFunctionProps) {
    super(scope, id);
    const { bundle, role, log, environment } = props;
    this.function = new Function(this, 'Function', {
      description: `Stillage: ${bundle.name}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(bundle.directory),
      handler: 'index.handler',
      // Processor time is proportional to memory: with less, loading the bundle takes longer than answering.
      memorySize: 1024,
      timeout: functionTimeout,
      environment: { ...environment },
      tracing: Tracing.ACTIVE,
      logGroup: log,
      loggingFormat: LoggingFormat.JSON,
      // Its own lines on the start and the end of each invocation would cost more than those of the requests.
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
      systemLogLevelV2: SystemLogLevel.WARN,
      // Several functions share the role, so no construct may add to it.
      role: role.withoutPolicyUpdates(),
    });
  }
}
