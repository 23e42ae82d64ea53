import { SendMessageBatchCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

/** The maximum number of messages in one SQS request. */
const batch = 10;

/** Sends messages to an SQS queue. Omitted SDK settings come from the environment. */
export class SqsQueue {
  readonly #client: SQSClient;
  readonly #url: string;

  constructor(url: string, settings: SQSClientConfig = {}) {
    this.#client = new SQSClient(settings);
    this.#url = url;
  }

  /** Sends messages, in no particular order. @throws Error if one of them was rejected */
  async send(messages: readonly object[]): Promise<void> {
    for (let at = 0; at < messages.length; at += batch) {
      const Entries = messages
        .slice(at, at + batch)
        .map((message, index) => ({ Id: String(index), MessageBody: JSON.stringify(message) }));
      const { Failed = [] } = await this.#client.send(new SendMessageBatchCommand({ QueueUrl: this.#url, Entries }));
      if (Failed.length > 0) throw new Error(`the queue refused ${Failed.length} messages: ${Failed[0]!.Code}`);
    }
  }
}
