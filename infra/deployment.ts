import { Construct } from 'constructs';
import { ApiStack } from './api-stack.ts';
import type { OperationBundle } from './bundle.ts';
import { DataStack } from './data-stack.ts';
import type { Settings } from './settings.ts';

export interface DeploymentProps {
  readonly settings: Settings;
  readonly operations: readonly OperationBundle[];
}

/** One deployment of the service: its stacks, and how they hang together. */
export class Deployment extends Construct {
  readonly data: DataStack;
  readonly api: ApiStack;

  constructor(scope: Construct, { settings, operations }: DeploymentProps) {
    const name = `stillage-${settings.stage}`;
    super(scope, name);
    // An environment that is named needs no look-up: the app synthesises without a network.
    const env = { account: settings.account, region: settings.region };
    this.data = new DataStack(this, 'data', { env, stackName: `${name}-data`, description: 'Stillage: what it keeps' });
    this.api = new ApiStack(this, 'api', {
      env,
      stackName: `${name}-api`,
      description: 'Stillage: the API and its operations',
      settings,
      data: this.data,
      operations,
    });
  }
}
