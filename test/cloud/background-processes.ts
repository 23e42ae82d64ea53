import { DeleteMessageCommand, GetQueueAttributesCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { StreamAnswer } from '../../functions/cloud/background/stream-batches.ts';
import type { BackgroundBundle } from '../../infra/bundles/bundle.ts';
import { FunctionProcess } from './function-process.ts';
import { StreamMapping, type MappingProperties } from './stream-mapping.ts';

interface MappingResource {
  readonly Type: string;
  readonly Properties: MappingProperties & { readonly FunctionName: { readonly Ref: string } };
}

/** The options of the functions in the background. */
export interface BackgroundOptions {
  /** The template of their stack. */
  readonly template: object;
  readonly bundles: readonly BackgroundBundle[];
  /** The endpoint of the gate before the engines, which identifies functions by their access keys. */
  readonly gate: string;
  readonly streamArn: string;
  /** The URL of the queue. */
  readonly lifecycleQueue: string;
  readonly environmentOf: (name: string) => Readonly<Record<string, string>>;
}

/**
 * The functions of a deployment that serve no request: each in a process with the environment that its template gives it, started
 * when it is first needed, as Lambda does.
 */
export class BackgroundProcesses {
  /** The mappings of the followers of the change feed, by their names. */
  readonly mappings: ReadonlyMap<string, StreamMapping>;
  readonly #options: BackgroundOptions;
  readonly #bundles: ReadonlyMap<string, BackgroundBundle>;
  readonly #processes = new Map<string, Promise<FunctionProcess>>();

  constructor(options: BackgroundOptions) {
    this.#options = options;
    this.#bundles = new Map(options.bundles.map((bundle) => [bundle.name, bundle]));
    const stream = { engine: options.gate, streamArn: options.streamArn };
    this.mappings = new Map(
      mappingsOf(options.template)
        .filter(([name]) => this.#bundles.has(name))
        .map(([name, properties]) => [
          name,
          new StreamMapping(stream, name, (batch) => this.invoke<StreamAnswer>(name, batch), properties),
        ]),
    );
  }

  /**
   * Invokes a function.
   * @param later the milliseconds by which the function's clock is ahead
   */
  async invoke<Answer = Readonly<Record<string, unknown>> | undefined>(
    name: string,
    event: object = {},
    later = 0,
    remaining?: number,
  ): Promise<Answer> {
    const starting = this.#processes.get(name) ?? this.#start(name);
    this.#processes.set(name, starting);
    return (await starting).invoke<Answer>(event, later, remaining);
  }

  /** Delivers new records of the feed until the followers write no more. */
  async follow(): Promise<void> {
    for (let more = true; more;) {
      more = false;
      for (const mapping of this.mappings.values()) if ((await mapping.deliver()) > 0) more = true;
    }
  }

  /** Hands the messages of the lifecycle queue to workers. @returns how many there were */
  async work(later = 0): Promise<number> {
    const messages = await this.receive(this.#options.lifecycleQueue, 'ApplyLifecycle');
    for (const body of messages) await this.invoke('ApplyLifecycle', { Records: [{ body }] }, later);
    return messages.length;
  }

  /** Receives and deletes in the name of a function, as Lambda does. */
  async receive(QueueUrl: string, receiver: string): Promise<readonly string[]> {
    const client = new SQSClient({
      region: 'us-east-1',
      endpoint: this.#options.gate,
      credentials: { accessKeyId: receiver, secretAccessKey: '-' },
    });
    const bodies: string[] = [];
    await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
    for (;;) {
      const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
      if (Messages.length === 0) break;
      for (const { Body, ReceiptHandle } of Messages) {
        bodies.push(Body!);
        await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
    client.destroy();
    return bodies;
  }

  /** Returns the log of a function. */
  async log(name: string): Promise<string> {
    return (await this.#processes.get(name))?.log ?? '';
  }

  /** Returns the logs of all functions. */
  async logs(): Promise<string> {
    const started = await Promise.all(this.#processes.values());
    return started.map(({ log }) => log).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map(async (starting) => (await starting).stop()));
  }

  async #start(name: string): Promise<FunctionProcess> {
    const bundle = this.#bundles.get(name);
    if (bundle === undefined) throw new Error(`there is no function ${name} in the background`);
    return FunctionProcess.start(bundle.directory, this.#options.environmentOf(name));
  }
}

/** The mappings of streams, by the names of their functions. */
function mappingsOf(template: object): [string, MappingProperties][] {
  const { Resources } = template as { Resources: Readonly<Record<string, MappingResource>> };
  return Object.values(Resources)
    .filter(({ Type, Properties }) => Type === 'AWS::Lambda::EventSourceMapping' && 'FilterCriteria' in Properties)
    .map(({ Properties }) => [Properties.FunctionName.Ref.replace(/Function[0-9A-F]{8}$/, ''), Properties]);
}
