import { PublishCommand, SNSClient, type SNSClientConfig } from '@aws-sdk/client-sns';
import type { AlarmChange, Delivery, Notification, Notifier } from '../../ports/notifier.ts';

/** The time-out of one attempt in milliseconds; the SDK makes three. */
const timeout = 5000;
/** SNS's maximum length of a subject. */
const subjectLength = 100;

/**
 * Publishes notifications to SNS topics, each in the region of its ARN. The topic's policy and the function's
 * permissions decide where it may publish. Omitted SDK settings come from the environment.
 */
export class SnsTopics implements Notifier {
  readonly #settings: SNSClientConfig;
  readonly #clients = new Map<string, SNSClient>();

  constructor(settings: SNSClientConfig = {}) {
    this.#settings = settings;
  }

  async send({ target, body, alarm, id }: Notification): Promise<Delivery> {
    const region = target.split(':')[3];
    if (!region) return { outcome: 'refused', reason: 'this is not an SNS topic' };
    try {
      await this.#client(region).send(
        new PublishCommand({
          TopicArn: target,
          Subject: subjectOf(alarm),
          Message: body,
          // A FIFO topic also needs an id for deduplication.
          ...(target.endsWith('.fifo') && { MessageGroupId: id.split('.').at(-1), MessageDeduplicationId: id }),
        }),
      );
      return { outcome: 'delivered' };
    } catch (error) {
      return { outcome: 'failed', reason: `SNS answered ${(error as Error).name}` };
    }
  }

  #client(region: string): SNSClient {
    let client = this.#clients.get(region);
    if (client === undefined) {
      const requestHandler = { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true };
      client = new SNSClient({ requestHandler, ...this.#settings, region });
      this.#clients.set(region, client);
    }
    return client;
  }
}

/** Returns the subject of the topic's e-mails, in the style of CloudWatch: ASCII, without line breaks. */
function subjectOf({ name, state }: AlarmChange): string {
  return `${state}: "${name}"`.replace(/[^\x20-\x7e]/g, '?').slice(0, subjectLength);
}
