/** A message to a webhook. */
export interface WebhookCall {
  readonly url: string;
  readonly body: string;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** The same each time the message is sent, so that the recipient can recognise repetitions. */
  readonly id: string;
  /** The secret to sign with, if the message is signed. */
  readonly secret: string | undefined;
}

/**
 * The outcome of a call. `refused`: the target is not permitted, and nothing was sent. `reason` may be shown to the target's owner and
 * reveals nothing about the service's network.
 */
export type CallOutcome =
  | { readonly outcome: 'refused' | 'unreachable'; readonly reason: string }
  | {
      readonly outcome: 'answered';
      readonly status: number;
      /** The milliseconds that the recipient asks to wait before the next call. */
      readonly retryAfter?: number | undefined;
    };

/** Tells which webhooks may be called. */
export interface WebhookGuard {
  /**
   * Tells why a URL may not be called, as of now; nothing is sent. Calls are judged again.
   * @returns a reason that may be shown to the target's owner; undefined: it may be called, or its name cannot be resolved
   */
  refusal(url: string): Promise<string | undefined>;
}

/** Calls webhooks, each call once. */
export interface WebhookCaller {
  /** Rejects only if calls were broken off because the service stops. */
  call(call: WebhookCall): Promise<CallOutcome>;
}
