import { Duration } from 'aws-cdk-lib';
import type { Role } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, Function, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionBundle } from './bundle.ts';

/** API Gateway waits no longer, and Lambda need not outlive it. */
export const functionTimeout = Duration.seconds(29);

export interface OperationFunctionProps {
  readonly bundle: FunctionBundle;
  /** Grants what its operations need. */
  readonly role: Role;
  readonly log: LogGroup;
  readonly environment: Readonly<Record<string, string>>;
}

/** THE construct for a function: every operation is deployed in one of these. */
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
      // Memory buys processor time: below this, loading the bundle takes longer than answering.
      memorySize: 1024,
      timeout: functionTimeout,
      environment: { ...environment },
      tracing: Tracing.ACTIVE,
      logGroup: log,
      loggingFormat: LoggingFormat.JSON,
      // The role is whole: a construct that could add to it would add to all who share it.
      role: role.withoutPolicyUpdates(),
    });
  }
}
