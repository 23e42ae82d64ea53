import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import type { BackgroundBundle, FunctionBundle } from '../../infra/bundles/bundle.ts';
import { type gatewayErrors, gatewayResponses } from '../../infra/constructs/gateway-responses.ts';
import { resources, templates, type Synthesis } from '../infra/synthesis.ts';
import { apiLogName, byteLaneLogName } from '../../infra/constructs/request-logs.ts';
import type { Place } from '../support/storage/administration.ts';
import { createCloudData, secretsManagerAt } from '../support/cloud/cloud-data.ts';
import type { KeptInCloud, Pace } from '../support/cloud/deployed.ts';
import type { Engines } from '../support/cloud/engines.ts';
import { LogInsightsEngine } from '../support/cloud/log-insights.ts';
import { createQueue, streamArn } from '../support/cloud/moto.ts';
import { BackgroundProcesses } from './background-processes.ts';
import { ByteLaneProcess } from './byte-lane-process.ts';
import { CloudFront } from './cloudfront.ts';
import { deployedFiles, type Assets } from './bucket-deployments.ts';
import { ConsoleDistribution } from './console-distribution.ts';
import { FunctionProcess } from './function-process.ts';
import { LambdaApi } from './lambda-api.ts';
import { refusal, split, toEvent, toResponse, type ApiRequest, type ApiResponse } from './rest-api.ts';
import { RoleGate } from './role-gate.ts';
import { deployedFunctions, deployedTask, type Grantee } from './template-grants.ts';
import { TemplateValues } from './template-values.ts';
import { VpcOriginPath } from './vpc-origin.ts';
import { WorkOnCall } from './work-on-call.ts';

const stage = 'prod';
const restApi = 'abc123';

let count = 0;

/** Returns new names for the resources of a deployment's templates: no two deployments share any. */
function freshNames(): Readonly<
  Record<'Table' | 'Blobs' | 'Secret' | 'EdgeSecret' | 'Lifecycle' | 'Distribution' | 'Websites', string>
> {
  const own = `stillage-${(count += 1)}`;
  return {
    Table: `${own}-table`,
    Blobs: `${own}-blobs`,
    Secret: own,
    EdgeSecret: `${own}-edge`,
    Lifecycle: `${own}-Lifecycle`,
    Distribution: `${own}.cloudfront.net`,
    Websites: `${own}-websites.cloudfront.net`,
  };
}
type Names = ReturnType<typeof freshNames>;

/** The parts of a deployment besides the functions that serve requests. */
export interface DeploymentOptions {
  /** Functions in the background. With any, the table has its stream, and those that follow it do so. */
  readonly background?: readonly BackgroundBundle[];
  /** Without one, scheduled work runs only when a test invokes it. */
  readonly pace?: Pace;
  /** A former deployment of the same stage, whose data this one takes over. */
  readonly former?: DeploymentUnderTest | undefined;
  /** Undefined: it is not deployed. */
  readonly console?: DeployedConsole | undefined;
  /** Undefined: its functions reach nothing of it that a test has. */
  readonly internet?: Internet | undefined;
}

/** What functions reach on the Internet: servers of a test, on this machine. */
export interface Internet {
  /** The file of an authority that they trust besides the well-known ones. */
  readonly authority: string;
  /** The addresses of names. */
  readonly names: Readonly<Record<string, string>>;
  /** The ports that stand for addresses. */
  readonly ports: Readonly<Record<string, number>>;
}

/** The parts of the console besides its templates. */
export interface DeployedConsole {
  readonly assets: Assets;
  /** The ports of the distributions, as in the settings. */
  readonly ports: { readonly api: number; readonly console: number };
}

const daySeconds = 24 * 60 * 60;
/** Followers are called for the records of this period. */
const batchingWindow = 1000;

/**
 * A deployment as its templates describe it, over engines in the place of AWS: the distribution with its router, API Gateway
 * with the bundles of the functions, the byte lane from its bundle. It listens as a server of S3 does.
 */
export class DeploymentUnderTest {
  /** Denies calls that no role in the templates grants, and records all calls. */
  readonly calls: RoleGate;
  readonly synthesis: Synthesis;
  readonly #names: Names;
  readonly #values: TemplateValues;
  readonly #bundles: ReadonlyMap<string, FunctionBundle>;
  /** Started when first asked for, as Lambda does. */
  readonly #functions = new Map<string, Promise<FunctionProcess>>();
  readonly #background: BackgroundProcesses;
  readonly #feed: WorkOnCall;
  readonly #schedules: readonly WorkOnCall[];
  #lambda: LambdaApi | undefined;
  #byteLane: ByteLaneProcess | undefined;
  #distribution: CloudFront | undefined;
  readonly #wantedConsole: DeployedConsole | undefined;
  readonly #internet: Internet | undefined;
  #console: ConsoleDistribution | undefined;

  private constructor(parts: {
    calls: RoleGate;
    synthesis: Synthesis;
    bundles: readonly FunctionBundle[];
    background: readonly BackgroundBundle[];
    names: Names;
    stream: string;
    pace: Pace;
    console: DeployedConsole | undefined;
    internet: Internet | undefined;
  }) {
    const { calls, synthesis, names, background } = parts;
    this.calls = calls;
    this.#wantedConsole = parts.console;
    this.#internet = parts.internet;
    calls.logs = new LogInsightsEngine((group) => this.#linesOf(group));
    this.synthesis = synthesis;
    this.#names = names;
    const lifecycleQueue = `${calls.endpoint}/123456789012/${names.Lifecycle}`;
    const resolved = templates(synthesis).map(([, template]) => template);
    this.#values = new TemplateValues(resolved, { ...names, Lifecycle: lifecycleQueue });
    this.#bundles = new Map(parts.bundles.map((bundle) => [bundle.name, bundle]));
    this.#background = new BackgroundProcesses({
      ...{ template: synthesis.schedule.toJSON(), bundles: background, gate: calls.endpoint, lifecycleQueue },
      streamArn: parts.stream,
      environmentOf: (name) => this.#backgroundEnvironment(name),
    });
    this.#feed = new WorkOnCall(batchingWindow, () => this.#background.follow());
    this.#schedules = this.#paced(parts.pace);
    const own = new Set(background.map(({ name }) => name));
    calls.noticed = (caller, action) => {
      if (/^dynamodb:(Put|Update|Delete)Item$/.test(action)) this.#feed.call();
      // Scheduled work only runs while a test uses the deployment.
      if (!own.has(caller)) for (const schedule of this.#schedules) schedule.call();
    };
  }

  /** @param synthesis with the code of the router in it */
  static async start(
    engines: Engines,
    synthesis: Synthesis,
    bundles: readonly FunctionBundle[],
    { background = [], pace = {}, former, console, internet }: DeploymentOptions = {},
  ): Promise<DeploymentUnderTest> {
    const hasStream = background.length > 0;
    const engine = engines.endpoint;
    const names = former ? former.#names : await createKept(engine, hasStream, regionOf(synthesis));
    const own = background.map(({ name }) => name);
    const calls = await RoleGate.before(engines, granteesOf(synthesis, own));
    const stream = namedStream(synthesis) ?? (hasStream ? await streamArn(engine, names.Table) : '');
    const services = { calls, synthesis, bundles, background };
    const deployment = new DeploymentUnderTest({ ...services, names, stream, pace, console, internet });
    await deployment.#start();
    return deployment;
  }

  /** Of the table that the data stack makes. */
  get tableName(): string {
    return this.#names.Table;
  }

  /** Where everything lies that it keeps. */
  get kept(): KeptInCloud {
    return { engine: this.calls.endpoint, table: this.#names.Table, blobs: this.#names.Blobs };
  }

  get url(): string {
    return this.#distribution!.url;
  }

  /** The origin of the console; undefined: there is none. */
  get consoleUrl(): string | undefined {
    return this.#wantedConsole && `http://127.0.0.1:${this.#wantedConsole.ports.console}`;
  }

  /** Of the byte lane, past the distribution. */
  get byteLaneUrl(): string {
    return `http://127.0.0.1:${this.#byteLane!.port}`;
  }

  /** Returns the environment of a server of the byte lane. */
  get serverEnvironment(): Readonly<Record<string, string>> {
    return this.#values.serverEnvironment(this.synthesis.streaming!);
  }

  /** Returns the request log of a function, or of the byte lane. */
  async requests(name: string): Promise<Record<string, unknown>[]> {
    const log = name === 'byte-lane' ? this.#byteLane!.log : (await this.#functions.get(name))?.log;
    const lines = (log ?? '').split('\n').filter((line) => line.startsWith('{'));
    return lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ message }) => message === 'request');
  }

  /** All that its functions and its byte lane have written to their logs. */
  async log(): Promise<string> {
    const functions = await Promise.all(this.#functions.values());
    const lanes = [...functions.map(({ log }) => log), this.#byteLane?.log ?? ''];
    return [...lanes, await this.#background.logs()].join('\n');
  }

  /** The functions that have been asked for. */
  get invoked(): readonly string[] {
    return [...this.#functions.keys()];
  }

  /** Sends a request to the API itself. */
  async callApi(request: ApiRequest): Promise<ApiResponse> {
    const refused = refusal(request, apiHost);
    if (refused !== undefined) return { status: refused, headers: [], body: Buffer.from('{"message":null}') };
    const [, name = '', ...rest] = split(request.target)[0].split('/');
    const bundle = this.#bundles.get(name);
    if (bundle === undefined || rest.length > 0) return gatewayResponse('MISSING_AUTHENTICATION_TOKEN');
    const starting = this.#functions.get(name) ?? this.#startFunction(bundle);
    this.#functions.set(name, starting);
    try {
      return toResponse(await (await starting).invoke(toEvent(request, stage)));
    } catch {
      return gatewayResponse('DEFAULT_5XX');
    }
  }

  /**
   * Invokes a scheduled function.
   * @param later the milliseconds by which the function's clock is ahead
   */
  async invokeBackground<Answer>(name: string, later = 0): Promise<Answer> {
    return this.#background.invoke<Answer>(name, {}, later);
  }

  /** Where operators administer it. */
  get place(): Place {
    return this.#lambda!.place;
  }

  /** Returns the errors outside requests of clients. */
  get failures(): readonly Error[] {
    return [this.#feed, ...this.#schedules].flatMap(({ failures }) => failures);
  }

  /** Puts a new value into the secret of the distribution, which knows of it when it is deployed again. */
  async renewEdgeSecret(SecretString: string): Promise<void> {
    const client = secretsManagerAt(this.calls.endpoint, regionOf(this.synthesis));
    await client.send(new PutSecretValueCommand({ SecretId: this.#names.EdgeSecret, SecretString }));
    client.destroy();
  }

  async deployEdge(): Promise<void> {
    this.#distribution!.deploy(this.synthesis.edge, await this.#valuesOfEdge());
  }

  /** Stops the byte lane, as when its task is replaced, and waits for it to end. */
  async stopByteLane(): Promise<number | null> {
    return this.#byteLane!.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#feed, ...this.#schedules].map((work) => work.stop()));
    await this.#lambda?.stop();
    await Promise.all([this.#distribution?.stop(), this.#console?.stop()]);
    await this.#byteLane?.stop();
    await Promise.all([...this.#functions.values()].map(async (starting) => (await starting).stop()));
    await this.#background.stop();
    await this.calls.stop();
  }

  async #start(): Promise<void> {
    const { streaming, edge, schedule } = this.synthesis;
    this.#lambda = await LambdaApi.ofAdministration(schedule, (event) => this.#background.invoke('Administer', event));
    if (streaming) {
      this.#byteLane = await ByteLaneProcess.start({
        // The documentation and reports disagree on whether ECS provides the region to a task, so only the template sets it:
        // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-environment-variables.html,
        // https://github.com/aws/containers-roadmap/issues/1611
        ...this.#values.serverEnvironment(streaming),
        ...this.#account('byte-lane'),
      });
    }
    const control = { host: apiHost, call: (request: ApiRequest) => this.callApi(request) };
    const byte = this.#byteLane && {
      port: this.#byteLane.port,
      path: new VpcOriginPath(streaming!, edge),
    };
    const lanes = { control, byte };
    const wanted = this.#wantedConsole;
    this.#distribution = await CloudFront.start(edge, await this.#valuesOfEdge(), lanes, wanted?.ports.api);
    if (wanted) {
      const { console, consoleFiles } = this.synthesis;
      const files = deployedFiles(consoleFiles!, wanted.assets, (value) => this.#values.textOf(value));
      this.#console = await ConsoleDistribution.start(console!, files, wanted.ports.console);
    }
  }

  /** Returns the values for the edge: references to a secret are replaced by its value. */
  async #valuesOfEdge(): Promise<Pick<TemplateValues, 'textOf'>> {
    const client = secretsManagerAt(this.calls.endpoint, regionOf(this.synthesis));
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: this.#names.EdgeSecret }));
    client.destroy();
    return { textOf: (value) => this.#values.textOf(value).replace(/^\{\{resolve:.*-edge.*\}\}$/, SecretString!) };
  }

  /**
   * Returns the scheduled work that runs more often than its schedule while a test calls the deployment. Each lifecycle pass is a day
   * later, on the clock of its functions.
   */
  #paced({ monitoringSeconds, lifecycleDaySeconds }: Pace): readonly WorkOnCall[] {
    let later = 0;
    const passLifecycle = async (): Promise<void> => {
      later += daySeconds * 1000;
      await this.invokeBackground('PlanLifecycle', later);
      while ((await this.#background.work(later)) > 0);
    };
    return [
      ...(monitoringSeconds
        ? [new WorkOnCall(monitoringSeconds * 1000, () => this.invokeBackground('MonitorBuckets'))]
        : []),
      ...(lifecycleDaySeconds ? [new WorkOnCall(lifecycleDaySeconds * 1000, passLifecycle)] : []),
    ];
  }

  #backgroundEnvironment(name: string): Record<string, string> {
    const { environment } = deployedFunctions(this.synthesis.schedule.toJSON()).get(name)!;
    const told = Object.entries(environment).map(([key, value]) => [key, this.#values.textOf(value)] as const);
    return { ...Object.fromEntries(told), ...lambdaVariables(this.synthesis), ...this.#account(name) };
  }

  /** The lines of a log group; undefined if no template has it. */
  async #linesOf(group: string): Promise<readonly string[] | undefined> {
    if (group === byteLaneLogName(stage)) return this.#byteLane?.log.split('\n');
    if (group !== apiLogName(stage)) return undefined;
    const started = await Promise.all(this.#functions.values());
    return started.flatMap(({ log }) => log.split('\n'));
  }

  async #startFunction({ name, directory }: FunctionBundle): Promise<FunctionProcess> {
    const environment = this.#values.functionEnvironment(this.synthesis.api, name);
    return FunctionProcess.start(directory, {
      ...environment,
      ...lambdaVariables(this.synthesis),
      ...this.#account(name),
      ...(this.#internet && {
        STAND_INS: JSON.stringify(this.#internet),
        NODE_EXTRA_CA_CERTS: this.#internet.authority,
      }),
    });
  }

  /** The engines know a caller by its access key. */
  #account(name: string): Record<string, string> {
    return {
      // The engine is slower than DynamoDB, and many wait for it.
      STILLAGE_TABLE_TIMEOUT: '60000',
      AWS_ACCESS_KEY_ID: name,
      AWS_SECRET_ACCESS_KEY: 'of-the-role',
      AWS_ENDPOINT_URL: this.calls.endpoint,
    };
  }
}

/** Variables that Lambda sets: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html */
function lambdaVariables(synthesis: Synthesis): Record<string, string> {
  return { AWS_REGION: regionOf(synthesis) };
}

/** Returns the AWS region of a deployment, which is also that of the service for clients. */
function regionOf({ api }: Synthesis): string {
  const [one] = deployedFunctions(api.toJSON()).values();
  return one!.environment['STILLAGE_REGION'] as string;
}

/** The API's own host name, which is the only one that it answers to. */
export const apiHost = `${restApi}.execute-api.us-east-1.amazonaws.com`;

/** The stream that followers are given by its name, and not as that of the table of the data stack. */
function namedStream({ schedule }: Synthesis): string | undefined {
  const mappings = resources(schedule, 'AWS::Lambda::EventSourceMapping');
  return mappings.map(([, { Properties }]) => Properties['EventSourceArn']).find((arn) => typeof arn === 'string');
}

function granteesOf(
  { api, streaming, schedule }: Synthesis,
  background: readonly string[],
): ReadonlyMap<string, Grantee> {
  const servers = streaming ? [['byte-lane', deployedTask(streaming.toJSON(), 'byte-lane')] as const] : [];
  const own = [...deployedFunctions(schedule.toJSON())].filter(([name]) => background.includes(name));
  return new Map<string, Grantee>([...deployedFunctions(api.toJSON()), ...servers, ...own]);
}

function gatewayResponse(type: keyof typeof gatewayErrors): ApiResponse {
  const { statusCode, responseTemplates } = gatewayResponses()[type] as {
    statusCode: string;
    responseTemplates: Record<string, string>;
  };
  return {
    status: Number(statusCode),
    headers: [['Content-Type', 'application/xml']],
    body: Buffer.from(responseTemplates['application/xml']!),
  };
}

/** Creates the table, bucket, secrets and queue of a deployment. */
async function createKept(engine: string, hasStream: boolean, region: string): Promise<Names> {
  const names = freshNames();
  await createCloudData(engine, names, { hasStream, region });
  await createQueue(engine, names.Lifecycle, region);
  return names;
}
