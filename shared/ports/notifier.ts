/** A change of an alarm's state. */
export interface AlarmChange {
  readonly name: string;
  readonly state: string;
  /** The former state. */
  readonly before: string;
  readonly reason: string;
}

/** A message to somebody outside. */
export interface Notification {
  /** `log:`, `https://…`, or the ARN of a topic. */
  readonly target: string;
  /** The message, as JSON. */
  readonly body: string;
  /** What the message says, for targets that show it in their own form. */
  readonly alarm: AlarmChange;
  /** The same whenever the same notification is sent again, so that its receiver can tell. */
  readonly id: string;
  /** What to sign with, where the target asks for a signature. */
  readonly secret: string | undefined;
}

/**
 * How a delivery ended. `refused`: it must not be sent there, and nothing was sent. `reason` may be shown to the owner of the
 * target, and tells nothing of the network that the service runs in.
 */
export type Delivery =
  { readonly outcome: 'delivered' } | { readonly outcome: 'refused' | 'failed'; readonly reason: string };

/** Delivers notifications, each at least once if it answers so. Never rejects for what is the target's fault. */
export interface Notifier {
  send(notification: Notification): Promise<Delivery>;
}
