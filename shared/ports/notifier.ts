/** A change of an alarm's state. */
export interface AlarmChange {
  readonly name: string;
  readonly state: string;
  /** The previous state. */
  readonly before: string;
  readonly reason: string;
}

/** A message to an external recipient. */
export interface Notification {
  /** `log:`, `https://…`, or the ARN of a topic. */
  readonly target: string;
  /** The message as JSON. */
  readonly body: string;
  /** The alarm's change, for targets with a message format of their own. */
  readonly alarm: AlarmChange;
  /** The same each time the notification is sent, so that the recipient can recognise repetitions. */
  readonly id: string;
  /** The secret to sign with, where the target requires a signature. */
  readonly secret: string | undefined;
}

/**
 * The outcome of a delivery. `refused`: the target is not permitted, and nothing was sent. `reason` may be shown to the
 * target's owner and reveals nothing about the service's network.
 */
export type Delivery =
  { readonly outcome: 'delivered' } | { readonly outcome: 'refused' | 'failed'; readonly reason: string };

/**
 * Delivers notifications. A notification reported as delivered arrived at least once. Never rejects because of the
 * target.
 */
export interface Notifier {
  send(notification: Notification): Promise<Delivery>;
}
