import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { forNode } from '../../bin/build.mjs';
import { forLambda } from '../../infra/bundles/bundle.ts';
import { createCloudData, type CloudData } from '../support/cloud/cloud-data.ts';
import { listen, type Door, type Engines } from '../support/cloud/engines.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { alice } from '../support/programs/server.ts';
import type { Send } from './exchange.ts';
import type { FaultName } from './planted-faults.ts';
import type { Random } from './random.ts';
import { UnreliableAws } from './unreliable-aws.ts';

/** The time-out of a call of the table in milliseconds: short, so that late calls do not delay a run. */
const tableTimeout = 1000;
const numberOfInstances = 3;

let count = 0;

/** A process of the service, with the endpoint at which it calls AWS. */
interface Instance {
  readonly url: string;
  readonly process: ChildProcess;
  readonly door: Door;
  /** Its log. */
  readonly log: { text: string };
}

/** Bundles the program of the processes into a directory, so that each starts fast. @returns its path */
export async function buildInstance(directory: string): Promise<string> {
  const outfile = join(directory, 'cloud-instance.mjs');
  await build({
    ...forLambda,
    minify: false,
    entryPoints: [join(import.meta.dirname, 'cloud-instance.ts')],
    outfile,
    banner: forNode.banner,
  });
  return outfile;
}

/** The options of a run of instances. */
export interface InstancesOptions {
  /** The path of the program: {@link buildInstance}. */
  readonly program: string;
  readonly random: Random;
  readonly fault?: FaultName | undefined;
}

/** The service in the cloud: several processes that share table and blobs but no memory. Any of them may be killed. */
export class CloudInstances {
  readonly aws: UnreliableAws;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #options: InstancesOptions;
  /** The running instances. */
  #instances: readonly Instance[] = [];
  readonly #errors: string[] = [];

  private constructor(engines: Engines, environment: Readonly<Record<string, string>>, options: InstancesOptions) {
    this.aws = new UnreliableAws(engines, options.random, tableTimeout);
    this.#environment = environment;
    this.#options = options;
  }

  static async start(engines: Engines, options: InstancesOptions): Promise<CloudInstances> {
    const own = `linearizable-${(count += 1)}`;
    const names = { Table: own, Blobs: `${own}-blobs`, Secret: own, EdgeSecret: `${own}-edge` };
    await createCloudData(engines.endpoint, names);
    const instances = new CloudInstances(engines, environmentOf(names), options);
    instances.#instances = await Promise.all(Array.from({ length: numberOfInstances }, () => instances.#start()));
    return instances;
  }

  /** The errors in the logs of the processes, without those that AWS may cause. */
  get errors(): readonly string[] {
    return [...this.#errors, ...this.#instances.flatMap(errorsOf)];
  }

  /** Connects a client to all instances. Each of its requests goes to a random one. */
  connect(random: Random): { send: Send; close: () => void } {
    const clients = new Map<Instance, PooledClient>();
    return {
      send: (unsigned) => {
        const instance = random.oneOf(this.#instances);
        const client = clients.get(instance) ?? new PooledClient(instance, alice, 1);
        clients.set(instance, client);
        return client.send(unsigned);
      },
      close: () => {
        for (const client of clients.values()) client.close();
      },
    };
  }

  /** Kills an instance in the middle of its work, and starts another. */
  async kill(): Promise<void> {
    const victim = this.#options.random.oneOf(this.#instances);
    this.#instances = this.#instances.filter((instance) => instance !== victim);
    await this.#end(victim);
    this.#errors.push(...errorsOf(victim));
    this.#instances = [...this.#instances, await this.#start()];
  }

  async stop(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => this.#end(instance)));
  }

  /** Kills an instance. Resolves once all its calls have reached AWS. */
  async #end({ process: child, door }: Instance): Promise<void> {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await door.deserted();
  }

  async #start(): Promise<Instance> {
    const door = await listen((call) => this.aws.answer(call));
    const { fault, program } = this.#options;
    const child = fork(program, [], {
      execArgv: [],
      silent: true,
      env: {
        ...this.#environment,
        AWS_ENDPOINT_URL: door.endpoint,
        ...(fault && { TEST_PLANTED_FAULT: fault }),
      },
    });
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const log = { text: '' };
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (log.text += text));
    }
    const [port] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [number];
    if (child.exitCode !== null) throw new Error(`an instance ended with ${port}: ${log.text}`);
    return { url: `http://127.0.0.1:${port}`, process: child, door, log };
  }
}

function environmentOf(names: CloudData): Readonly<Record<string, string>> {
  return {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'instance',
    AWS_SECRET_ACCESS_KEY: 'of-the-role',
    STILLAGE_TABLE: names.Table,
    STILLAGE_TABLE_TIMEOUT: String(tableTimeout),
    STILLAGE_BLOB_BUCKET: names.Blobs,
    STILLAGE_SECRET: names.Secret,
    STILLAGE_EDGE_SECRET: names.EdgeSecret,
    STILLAGE_REGION: 'us-east-1',
    STILLAGE_DOMAIN: 's3.stillage.test',
    STILLAGE_WEBSITE_DOMAIN: 'website.stillage.test',
    STILLAGE_XML_NAMESPACE: 'http://s3.amazonaws.com/doc/2006-03-01/',
    STILLAGE_ALL_USERS_GROUP_URI: 'http://acs.amazonaws.com/groups/global/AllUsers',
    STILLAGE_LIMITS: JSON.stringify({ minimumPartBytes: 1 }),
  };
}

/** Errors that AWS may cause. The client notices them, too: by a 503, or a response that breaks off. */
const expectedErrors = new Set([
  'no response from the table to a write',
  'a response broke off',
  'ServiceUnavailable',
  'SlowDown',
]);

/** The stacks of errors that AWS may cause, in failed requests. */
const busy = /^(TableBusy|BlobsBusy): /;

function errorsOf({ log }: Instance): readonly string[] {
  const lines = log.text.split('\n').filter((line) => line.includes('"level":"error"'));
  return lines.filter((line) => {
    const { message, error = '' } = JSON.parse(line) as { message: string; error?: string };
    return !expectedErrors.has(message) && !busy.test(error);
  });
}
