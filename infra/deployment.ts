import { Tags } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { AdminStack } from './stacks/admin-stack.ts';
import { ApiStack } from './stacks/api-stack.ts';
import type { BackgroundBundle, FunctionBundle } from './bundles/bundle.ts';
import { ConsoleFilesStack } from './stacks/console-files-stack.ts';
import { ConsoleStack, knownEndpoint } from './stacks/console-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { EdgeStack } from './stacks/edge-stack.ts';
import { OperationsStack } from './stacks/operations-stack.ts';
import { ScheduleStack } from './stacks/schedule-stack.ts';
import type { Settings } from './settings.ts';
import { StreamingStack } from './stacks/streaming-stack.ts';

export interface DeploymentProps {
  readonly settings: Settings;
  readonly functions: readonly FunctionBundle[];
  /** The background functions. */
  readonly background?: readonly BackgroundBundle[];
  /** The function behind the API of operators, which the setting `adminApi` turns on. */
  readonly admin?: BackgroundBundle | undefined;
  /** The code of the router. */
  readonly router: string;
  /** The console of the deployment, if any. */
  readonly console?: BuiltConsole | undefined;
  /** The directory of the Dockerfile and its context. */
  readonly imageDirectory: string;
}

/** A built console. */
export interface BuiltConsole {
  readonly directory: string;
  /** The code of the CloudFront Function that maps paths to files. */
  readonly pages: string;
  /** The version of Stillage. */
  readonly version: string;
}

/** A deployment of the service: its stacks and their dependencies. */
export class Deployment extends Construct {
  readonly data: DataStack;
  readonly api: ApiStack;
  /** Undefined: functions transfer the bodies of objects. */
  readonly streaming: StreamingStack | undefined;
  readonly edge: EdgeStack;
  readonly schedule: ScheduleStack;
  readonly operations: OperationsStack;
  /** Undefined: nobody administers it over HTTP. */
  readonly admin: AdminStack | undefined;
  /** Undefined: there is no console. */
  readonly console: ConsoleStack | undefined;
  readonly consoleFiles: ConsoleFilesStack | undefined;

  constructor(scope: Construct, { settings: given, functions, background = [], router, ...props }: DeploymentProps) {
    const { admin, console, imageDirectory } = props;
    const name = `stillage-${given.stage}`;
    super(scope, name);
    // An explicit environment needs no look-ups, so the app synthesises offline.
    const env = { account: given.account, region: given.region };
    const named = (part: string, description: string) => ({
      ...{ env, stackName: `${name}-${part}`, description: `Stillage: ${description}` },
    });
    if (console) {
      const about = named('console', 'the console');
      this.console = new ConsoleStack(this, 'console', { ...about, settings: given, pages: console.pages });
    }
    const consoleOrigins = [...given.consoleOrigins, ...(this.console ? [this.console.origin] : [])];
    const settings = { ...given, consoleOrigins };
    const stack = (part: string, description: string) => ({ settings, ...named(part, description) });
    this.data = new DataStack(this, 'data', stack('data', 'what it keeps'));
    this.api = new ApiStack(this, 'api', {
      ...stack('api', 'the API and its operations'),
      data: this.data,
      functions,
    });
    if (settings.byteLane === 'fargate') {
      this.streaming = new StreamingStack(this, 'streaming', {
        ...stack('streaming', 'the lane for the bodies of objects'),
        data: this.data,
        functions,
        imageDirectory,
      });
    }
    this.edge = new EdgeStack(this, 'edge', {
      ...stack('edge', 'the distribution and its router'),
      ...{ router, api: this.api.api, balancer: this.streaming?.balancer, edgeSecret: this.data.edgeSecret },
    });
    this.schedule = new ScheduleStack(this, 'schedule', {
      ...stack('schedule', 'the change feed, schedules and administration'),
      ...{ data: this.data, endpoint: this.edge.endpoint, distributions: this.edge.distributionIds },
      functions: background,
    });
    this.operations = new OperationsStack(this, 'operations', {
      ...stack('operations', 'dashboard and alarms'),
      ...{ data: this.data, schedule: this.schedule },
      byteLane: this.streaming && {
        balancer: this.streaming.balancer,
        servers: this.streaming.servers,
        minimumTasks: settings.byteLaneMinimumTasks,
        maximumTasks: settings.byteLaneMaximumTasks,
      },
      scrub: this.streaming?.scrub,
    });
    if (admin && settings.adminApi) {
      this.admin = new AdminStack(this, 'admin', {
        ...stack('admin', 'administration over HTTP'),
        ...{ data: this.data, endpoint: this.edge.endpoint, function: admin },
      });
      // Its role lets API Gateway write logs.
      this.admin.addStackDependency(this.api);
    }
    if (console && this.console) {
      const endpoint = settings.publicUrl?.replace(/(?<!\/)\/+$/, '') ?? this.edge.endpoint;
      this.consoleFiles = new ConsoleFilesStack(this, 'console-files', {
        ...named('console-files', 'the files of the console'),
        ...{ console: this.console, directory: console.directory },
        endpointOrigin: knownEndpoint(settings) ?? this.edge.endpoint,
        config: {
          ...{ endpoint, region: settings.region, version: console.version },
          ...(settings.websiteDomain !== undefined && { websites: `https://*.${settings.websiteDomain}` }),
        },
      });
    }
    Tags.of(this).add('stillage:stage', settings.stage, { excludeResourceTypes: untagged });
  }
}

/** Resource types that CloudFormation's linter refuses tags on. */
const untagged = [
  'AWS::ApplicationAutoScaling::ScalableTarget',
  'AWS::CloudWatch::Dashboard',
  'AWS::ElasticLoadBalancingV2::Listener',
];
