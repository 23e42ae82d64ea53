import { networkInterfaces } from 'node:os';
import { Webhooks } from '../../shared/adapters/system/webhooks.ts';
import type { StartOptions } from '../../shared/command-line/start-options.ts';
import type { WebReader } from '../../shared/ports/web-reader.ts';
import type { WebhookCaller, WebhookGuard } from '../../shared/ports/webhook-caller.ts';

type Options = Pick<
  StartOptions,
  'alarmWebhookAllow' | 'domain' | 'websiteDomain' | 'publicUrl' | 'consoleUrl' | 'port' | 'consolePort'
>;

/** Returns what calls the webhooks to which events are delivered, and reads the keys of identity providers. */
export function webhookCaller(options: Options, stopping: AbortSignal): WebhookCaller & WebhookGuard & WebReader {
  return new Webhooks({ allowed: new Set(options.alarmWebhookAllow), isOwn: ownAddresses(options), stopping });
}

/**
 * Returns what tells whether a URL leads to the service itself, by its names or by the addresses and ports of this machine: events that it
 * delivers to itself could cause others without end.
 */
export function ownAddresses(options: Options): (url: URL, addresses: readonly string[]) => boolean {
  const { domain, websiteDomain, publicUrl, consoleUrl, port, consolePort } = options;
  const urls = [publicUrl, consoleUrl].flatMap((url) => (url === undefined ? [] : [new URL(url).hostname]));
  const names = [domain.toLowerCase(), websiteDomain.toLowerCase(), ...urls];
  const ports = [port, consolePort].map(String);
  return ({ hostname, port: asked, protocol }, addresses) => {
    if (names.some((name) => hostname === name || hostname.endsWith(`.${name}`))) return true;
    if (!ports.includes(asked === '' ? (protocol === 'http:' ? '80' : '443') : asked)) return false;
    const own = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
    return addresses.some((address) => own.includes(address));
  };
}
