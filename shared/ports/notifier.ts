/** Something to tell somebody outside. */
export interface Notification {
  /** `log:`, `https://…`, or the ARN of a topic. */
  readonly target: string;
  /** JSON. */
  readonly body: string;
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
