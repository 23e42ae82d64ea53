import type { WebhookCaller, WebhookGuard } from '../ports/webhook-caller.ts';
import type { EventQueue } from './event-queue.ts';
import type { Webhook, WebhookTargets } from './webhook-targets.ts';

/** Where a deployment delivers events, and what it has not delivered. */
export class EventTargets {
  readonly webhooks: WebhookTargets;
  readonly queue: EventQueue;
  readonly #caller: WebhookCaller & WebhookGuard;

  constructor(deps: {
    readonly webhooks: WebhookTargets;
    readonly queue: EventQueue;
    readonly caller: WebhookCaller & WebhookGuard;
  }) {
    this.webhooks = deps.webhooks;
    this.queue = deps.queue;
    this.#caller = deps.caller;
  }

  /** Tells why a URL may not be called, as far as that is certain. @returns undefined: it may be, as of now */
  refusal(url: string): Promise<string | undefined> {
    return this.#caller.refusal(url);
  }

  /** Sends a message to a webhook once. @returns why it was not taken; undefined: it was */
  async test(webhook: Webhook, message: { readonly id: string; readonly body: string }): Promise<string | undefined> {
    const secret = await this.webhooks.secretOf(webhook);
    const outcome = await this.#caller.call({ ...message, url: webhook.url, secret });
    if (outcome.outcome !== 'answered') return outcome.reason;
    const { status } = outcome;
    return status >= 200 && status < 300 ? undefined : `the host answered ${status}`;
  }
}
