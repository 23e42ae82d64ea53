import type { Place } from '../storage/administration.ts';
import { consoleOrigin, type ServiceOptions } from '../programs/server.ts';

/** Names the server that gives out deployments, where tests run against the cloud (test/cloud/suite-setup.ts). */
export const deploymentsVariable = 'TEST_DEPLOYMENTS';

/** True if the tests run against the cloud deployments of test/cloud/suite-setup.ts. */
export const isCloud = (process.env[deploymentsVariable] ?? '') !== '';

/** Settings of a deployment besides those of `cdk.json`, as `-c` gives them. */
export type Context = Readonly<Record<string, string>>;

/** The pace of a deployment's schedules: faster than their settings, so that tests need not wait for them. */
export interface Pace {
  /** The seconds between two runs of monitoring, as long as the deployment gets requests. */
  readonly monitoringSeconds?: number;
  /** The seconds of a day of lifecycle rules, as long as the deployment gets requests. */
  readonly lifecycleDaySeconds?: number;
}

/** The settings of a deployment that tests ask for. */
export interface Wish {
  readonly context: Context;
  readonly pace: Pace;
  /** With the console, which is left out otherwise. */
  readonly console?: boolean;
}

/** Access to the stored data of a deployment, without any role. */
export interface KeptInCloud {
  readonly engine: string;
  readonly table: string;
  readonly blobs: string;
}

/** A running deployment. */
export interface Deployed {
  readonly url: string;
  /** The origin of its console, if the wish included one. */
  readonly consoleUrl?: string | undefined;
  /** The target of its administrative commands. */
  readonly place: Place;
  readonly kept: KeptInCloud;
}

/** The parent domains of buckets and websites. */
export const usualDomains = { domain: 'storage.example.com', websiteDomain: 'web.example.com' };

const certificateIn = (region: string): string =>
  `arn:aws:acm:${region}:000000000000:certificate/01234567-89ab-cdef-0123-456789abcdef`;

/** Adds the defaults of deployments for these tests, so that most files can share one. */
const withDefaults = (context: Context): Context => ({
  ...usualDomains,
  certificate: certificateIn('us-east-1'),
  // The load balancer takes certificates of its own region only.
  ...('region' in context && { originCertificate: certificateIn(context['region']) }),
  consoleOrigins: consoleOrigin,
  ...context,
});

/** Options of `stillage start` that are settings of a deployment as well. */
const settings: Readonly<Record<string, string>> = {
  '--domain': 'domain',
  '--website-domain': 'websiteDomain',
  '--region': 'region',
  '--console-origin': 'consoleOrigins',
  '--allow-region': 'regions',
  '--xml-namespace': 'xmlNamespace',
};

/** Options without a value, and the equivalent settings. */
const switches: Readonly<Record<string, Context>> = {
  '--strict-region': { strictRegion: 'true' },
  '--no-signature-v2': { signatureV2: 'false' },
};

/**
 * Returns the settings and the pace that are equivalent to options of the service on one machine.
 * @throws Error for an option without an equivalent
 */
export function wishOf({ args = [], env = {}, alone }: ServiceOptions): Wish {
  const given: Record<string, string> = {};
  const limits: Record<string, number> = {};
  const { STILLAGE_LIFECYCLE_DAY_SECONDS: daySeconds, ...otherEnv } = env;
  let pace: Pace = daySeconds === undefined ? {} : { lifecycleDaySeconds: Number(daySeconds) };
  const rest = [...args];
  for (let option = rest.shift(); option !== undefined; option = rest.shift()) {
    if (option in switches) {
      Object.assign(given, switches[option]);
      continue;
    }
    const value = rest.shift() ?? '';
    const setting = settings[option];
    if (option === '--limit') {
      for (const [name, number] of value.split(',').map((one) => one.split('='))) limits[name!] = Number(number);
    } else if (option === '--monitoring-seconds') pace = { ...pace, monitoringSeconds: Number(value) };
    else if (setting === undefined) throw new Error(`no setting of a deployment does what ${option} does`);
    else given[setting] = setting in given ? `${given[setting]},${value}` : value;
  }
  if (Object.keys(otherEnv).length > 0) throw new Error('a deployment has its environment from its template');
  // Tests that read the log expect a line for every request.
  const context = {
    ...given,
    ...(alone && { requestLog: 'all' }),
    ...(Object.keys(limits).length > 0 && { limits: JSON.stringify(limits) }),
  };
  return { context: withDefaults(context), pace };
}

/** Returns a deployment with these settings. Starts it if necessary; it ends after the last file. */
export async function deployed(options: ServiceOptions = {}, console = false): Promise<Deployed> {
  const body = JSON.stringify({ ...wishOf(options), console } satisfies Wish);
  const response = await fetch(process.env[deploymentsVariable]!, { method: 'POST', body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Deployed;
}

/** Returns the logs of a deployment. */
export async function deployedLog(url: string): Promise<string> {
  const response = await fetch(`${process.env[deploymentsVariable]!}/log?of=${encodeURIComponent(url)}`);
  return response.text();
}
