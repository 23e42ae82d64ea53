import type { Delivery, Notification, Notifier } from '../ports/notifier.ts';
import type { Telemetry } from '../ports/telemetry.ts';

/** Writes notifications to the log of the service, for the action `log:`. */
export class LogNotifier implements Notifier {
  readonly #telemetry: Telemetry;

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  async send({ alarm: { name, ...change }, id }: Notification): Promise<Delivery> {
    this.#telemetry.note('alarm', { alarm: name, ...change, id });
    return { outcome: 'delivered' };
  }
}

/** Passes each notification to the notifier for the scheme of its target: `log`, `https`, `arn`. */
export class NotifierByScheme implements Notifier {
  readonly #notifiers: Readonly<Record<string, Notifier>>;

  constructor(notifiers: Readonly<Record<string, Notifier>>) {
    this.#notifiers = notifiers;
  }

  async send(notification: Notification): Promise<Delivery> {
    const scheme = notification.target.slice(0, notification.target.indexOf(':'));
    const notifier = Object.hasOwn(this.#notifiers, scheme) ? this.#notifiers[scheme] : undefined;
    return (
      notifier?.send(notification) ?? { outcome: 'refused', reason: 'this deployment does not support the action' }
    );
  }
}
