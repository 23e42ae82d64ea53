import type { ServiceSettings } from '../../../functions/admin/command.ts';
import { defaultOptions, type StartOptions } from '../../../shared/command-line/start-options.ts';
import type { ActionKind } from '../../../shared/monitoring/alarms/alarm-definition.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';

/** The alarm actions available on one machine. */
export const localActionKinds: ReadonlySet<ActionKind> = new Set(['log', 'webhook']);

/** The options that the service of a data directory was started with, as far as administration needs them. */
export type ServiceOptions = Partial<
  Pick<StartOptions, 'host' | 'port' | 'tls' | 'tlsCert' | 'region' | 'publicUrl' | 'limit' | 'auditDays'>
>;

/** Returns the settings of a service for administrative commands. */
export function serviceSettings({
  host = defaultOptions.host,
  port = defaultOptions.port,
  tls,
  tlsCert,
  ...options
}: ServiceOptions): ServiceSettings {
  const address = host.includes(':') ? `[${host}]` : host;
  const endpoint = `${(tls ?? tlsCert) === undefined ? 'http' : 'https'}://${address}:${port}`;
  return {
    limits: { ...defaultLimits, ...options.limit },
    endpoint,
    publicUrl: options.publicUrl ?? endpoint,
    region: options.region ?? defaultOptions.region,
    auditsData: options.auditDays !== 0,
  };
}
