import type { WebhookCaller } from '../ports/webhook-caller.ts';
import type { Webhook, WebhookTargets } from './webhook-targets.ts';

/** Where a deployment delivers events. */
export class EventTargets {
  readonly #webhooks: WebhookTargets;
  readonly #caller: WebhookCaller;

  constructor(deps: { readonly webhooks: WebhookTargets; readonly caller: WebhookCaller }) {
    this.#webhooks = deps.webhooks;
    this.#caller = deps.caller;
  }

  /** Finds a webhook of a project. */
  webhook(project: string, name: string): Promise<Webhook | undefined> {
    return this.#webhooks.find(project, name);
  }

  /** Sends a message to a webhook once. @returns why it was not taken; undefined: it was */
  async test(webhook: Webhook, message: { readonly id: string; readonly body: string }): Promise<string | undefined> {
    const secret = await this.#webhooks.secretOf(webhook);
    const outcome = await this.#caller.call({ ...message, url: webhook.url, secret });
    if (outcome.outcome !== 'answered') return outcome.reason;
    const { status } = outcome;
    return status >= 200 && status < 300 ? undefined : `the host answered ${status}`;
  }
}
