import { SendMessageBatchCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

/** SQS takes no more at once. */
const batch = 10;

/** A queue of SQS to which messages are sent. Settings of the SDK that are not given come from the environment. */
export class SqsQueue {
  readonly #client: SQSClient;
  readonly #url: string;

  constructor(url: string, settings: SQSClientConfig = {}) {
    this.#client = new SQSClient(settings);
    this.#url = url;
  }

  /** Sends messages, in no particular order. @throws Error if one of them was not taken */
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
