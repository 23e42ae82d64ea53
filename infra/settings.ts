import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import { z } from 'zod';
import { memoryOfCpu, type Preset, presets, type Sizes } from './presets.ts';
import { defaultZones, zoneCounts, zonePrefix, zonesWithoutVpcOrigins } from './zones.ts';
import { isOrigin, servesObjects } from '../shared/protocol/console/origins.ts';
import { isLimit, limitFault, limitsByMachine, type Limits } from '../shared/protocol/limits.ts';
import { hostNamesOf } from './host-names.ts';

/** Values of the command line (`-c name=value`) are strings. */
const wholeNumber = z.coerce.number().int().positive();
const yesOrNo = z.preprocess((value) => (typeof value === 'string' ? parseJson(value) : value), z.boolean());

/** On the command line, lists are separated by commas. */
const list = <Item extends z.ZodType>(item: Item): z.ZodType<z.output<Item>[]> =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').filter((one) => one !== '') : value),
    z.array(item),
  );

const hostName = z.string().regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, 'must be a host name in lower case');

/** An optional setting; an empty string counts as unset. */
const optional = <Setting extends z.ZodType>(setting: Setting): z.ZodType<z.output<Setting> | undefined> =>
  z
    .literal('')
    .optional()
    .transform(() => undefined)
    .or(setting);

/** Limits by name. Those that each process would count for itself are refused. */
const limits = z
  .record(z.string(), z.number())
  .superRefine((given, context) => {
    for (const [name, value] of Object.entries(given)) {
      const message = limitProblem(name, value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    }
  })
  .transform((given): Partial<Limits> => given);

function limitProblem(name: string, value: number): string | undefined {
  if (!isLimit(name)) return `unknown limit "${name}"`;
  if (name === 'requestsPerSecond') return 'use the setting requestsPerSecond instead of the limit';
  if (limitsByMachine.has(name)) return `${name} is a limit of the service on one machine`;
  return limitFault(name, value);
}

const fields = z.object({
  /** The source of sizes that are not set. */
  preset: z.enum(Object.keys(presets) as [Preset, ...Preset[]]),
  /** The name of the deployment, as an account may have several. */
  stage: z
    .string()
    .regex(
      /^[a-z][a-z0-9-]{0,19}$/,
      'must have 1 to 20 lower-case letters, digits and hyphens, and begin with a letter',
    ),
  account: z.string().regex(/^\d{12}$/, 'must be an account id of 12 digits'),
  /** The AWS region of the deployment, and the region of the service for clients. */
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be an AWS region, such as eu-central-1'),
  /** Buckets are addressed as subdomains. Unset: they are addressed by path, on the distribution's own name. */
  domain: optional(hostName),
  /** Websites are served at its subdomains. */
  websiteDomain: optional(hostName),
  /** The certificate of all these names, in us-east-1 as CloudFront requires. */
  certificate: optional(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
        'must be the ARN of a certificate in us-east-1',
      ),
  ),
  /** The certificate of the same names for the load balancer of the byte lane, in the region of the deployment. */
  originCertificate: optional(
    z.string().regex(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/, 'must be the ARN of a certificate'),
  ),
  /** The hosted zone of Route 53 for DNS records of the names. Unset: no records are created. */
  hostedZone: optional(z.string().regex(/^Z[A-Z0-9]+$/, 'must be the id of a hosted zone')),
  /** The transport of object bodies: a service on Fargate, or the functions of the operations, within their limits. */
  byteLane: z.enum(['fargate', 'functions']),
  /** CPU units (1,024 are one vCPU) and MiB of memory of a server of the byte lane. */
  byteLaneCpu: wholeNumber,
  byteLaneMemory: wholeNumber,
  /** The ids of the byte lane's Availability Zones. Unset: the first three of the region that support it. */
  zones: list(z.string().regex(/^[a-z]{3,6}\d-az\d$/, 'must be ids of Availability Zones, such as use1-az1')),
  byteLaneMinimumTasks: wholeNumber,
  byteLaneMaximumTasks: wholeNumber,
  /** The stream of a restored table that replaces the table of the data stack. */
  restoredTable: optional(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]{3,255}\/stream\/[\d:T.-]+$/,
        'must be the ARN of the stream of a table (LatestStreamArn), arn:aws:dynamodb:…:table/…/stream/…',
      ),
  ),
  /** The version of the origin secret that the distribution sends. Unset: the current version at deployment. */
  edgeSecretVersion: optional(
    z.string().regex(/^[\w-]{32,64}$/, 'must be the id of a version of the secret (VersionId)'),
  ),
  /** Days for which replaced and deleted content is kept, so that a table restored to a time within them finds it. PITR keeps 35 days. */
  releaseGraceDays: wholeNumber.max(35, 'must be at most 35, the retention of point-in-time recovery'),
  /** Days in which the nightly scrub, a slice each night, checks everything. 0: no scrub is scheduled, as without a byte lane. */
  scrubDays: z.coerce.number().int().min(0).max(366),
  /** Retains or deletes table, blobs and secrets when their stack is deleted. */
  removalPolicy: z.enum(['retain', 'destroy']),
  /** Limits and quotas that differ from their defaults; JSON on the command line. */
  limits: z.preprocess((value) => (typeof value === 'string' ? parseJson(value) : value), limits),
  /** A web ACL for the distributions. */
  webAcl: optional(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/,
        'must be the ARN of a web ACL for CloudFront, in us-east-1',
      ),
  ),
  /** The base URL of public links. Unset: the address of each request. */
  publicUrl: optional(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })),
  /** Deploys the console, on a separate distribution. */
  console: yesOrNo,
  /** The host name of the console. Unset: the name of its distribution. */
  consoleDomain: optional(hostName),
  /** Further origins of the console. */
  consoleOrigins: list(z.string().refine(isOrigin, 'must be origins, such as https://console.example.com')),
  /** Refuses signatures for other regions. */
  strictRegion: yesOrNo,
  /** Accepts Signature Version 2, which does not cover the body. */
  signatureV2: yesOrNo,
  /** Accepts customer-provided keys (SSE-C). Without a domain, they reach the byte lane unencrypted, within the network of AWS. */
  customerKeys: yesOrNo,
  /** Location constraints that CreateBucket accepts besides the region of the service; empty: any. */
  regions: list(z.string().regex(/^[A-Za-z0-9-]{1,63}$/, 'must be names of regions')),
  xmlNamespace: z.url(),
  allUsersGroupUri: z.url(),
  /** The requests that servers of the byte lane log: `all`, or `sampled`: failed ones and one of 100 others, with counts for the bill. */
  requestLog: z.enum(['sampled', 'all']),
  logRetentionDays: wholeNumber.refine(
    (days) => days in RetentionDays,
    'must be a retention that CloudWatch Logs supports, such as 30 or 365',
  ),
  /** Days for which the audit log keeps records, in the table. 0: nothing is taken down. */
  auditDays: z.coerce.number().int().min(0).max(3650),
  /** Answers no act as done that is not taken down. */
  auditStrict: yesOrNo,
  /** Lets operators administer the deployment over HTTP with tokens, by an API of its own. */
  adminApi: yesOrNo,
  /** Lets a new version prove itself before it gets all requests, and rolls it back if it fails. Not for a repair in a hurry. */
  gradual: yesOrNo,
  /** The throttling of the API; requests beyond it get SlowDown. */
  requestsPerSecond: wholeNumber,
  burst: wholeNumber,
});

const settings = fields.superRefine((given, context) => {
  const wrong = (path: keyof typeof given, message: string): void => {
    context.addIssue({ code: 'custom', path: [path], message });
  };
  if (given.websiteDomain && !given.domain) wrong('websiteDomain', 'needs domain');
  if (given.domain && !given.certificate) wrong('certificate', 'is required with domain');
  if (given.consoleDomain && !given.certificate) wrong('consoleDomain', 'needs certificate');
  for (const path of ['consoleDomain', 'consoleOrigins'] as const) {
    const origins = [given[path] ?? []].flat().map((name) => (path === 'consoleDomain' ? `https://${name}` : name));
    if (origins.filter(isOrigin).some((origin) => sharesOrigin(origin, given)))
      wrong(path, 'the service serves objects there, whose scripts could use the keys of signed-in users');
  }
  if (given.websiteDomain && given.byteLane === 'functions')
    wrong('websiteDomain', 'needs the byte lane: byteLane must be fargate');
  if (given.hostedZone && !given.domain) wrong('hostedZone', 'needs domain');
  const [, , , region, account] = given.restoredTable?.split(':') ?? [];
  if (given.restoredTable && (region !== given.region || account !== given.account))
    wrong('restoredTable', `must be in the account ${given.account} and the region ${given.region} of the deployment`);
  if (!memoryOfCpu[given.byteLaneCpu]?.includes(given.byteLaneMemory))
    wrong('byteLaneMemory', `Fargate has no tasks of ${given.byteLaneCpu} CPU units and ${given.byteLaneMemory} MiB`);
  const zones = zonesProblem(given);
  if (zones !== undefined) wrong('zones', zones);
  const byteLaneCertificate = originCertificateOf(given);
  if (given.byteLane === 'fargate' && given.domain) {
    if (byteLaneCertificate === undefined) {
      wrong(
        'originCertificate',
        `is required in ${given.region} for a byte lane with a domain, which requests reach over TLS`,
      );
    } else if (byteLaneCertificate.split(':')[3] !== given.region) {
      wrong('originCertificate', `must be in ${given.region}, the region of the load balancer`);
    }
  }
  if (given.byteLaneMinimumTasks > given.byteLaneMaximumTasks)
    wrong('byteLaneMinimumTasks', 'must not exceed byteLaneMaximumTasks');
});

function zonesProblem({
  zones,
  region,
}: {
  readonly zones: readonly string[];
  readonly region: string;
}): string | undefined {
  if (zones.length === 0) return undefined;
  if (new Set(zones).size !== zones.length || !zoneCounts.includes(zones.length))
    return `must be ${zoneCounts.join(' or ')} different zones`;
  if (!zones.every((id) => id.startsWith(`${zonePrefix(region)}-`))) return `must be zones of ${region}`;
  const unfit = zones.filter((id) => zonesWithoutVpcOrigins.has(id));
  return unfit.length > 0 ? `CloudFront has no VPC origins in ${unfit.join(', ')}` : undefined;
}

/** Returns the sizes of the preset that are not set explicitly. */
function sizesOf(context: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sizes: Sizes = presets[context['preset'] as Preset] ?? presets.standard;
  const isSet = (name: string): boolean => context[name] !== undefined && context[name] !== '';
  return Object.fromEntries(Object.entries(sizes).filter(([name]) => !isSet(name)));
}

/** Returns the ids of the zones of the byte lane. */
export function zonesOf({ zones, region }: Pick<Settings, 'zones' | 'region'>): readonly string[] {
  return zones.length > 0 ? zones : defaultZones(region);
}

/** Returns the certificate of the byte lane's load balancer. In us-east-1, that of the distribution serves both. */
export function originCertificateOf({
  domain,
  region,
  certificate,
  originCertificate,
}: Pick<Settings, 'domain' | 'region' | 'certificate' | 'originCertificate'>): string | undefined {
  if (domain === undefined) return undefined;
  return originCertificate ?? (region === 'us-east-1' ? certificate : undefined);
}

/** The listener of the byte lane's load balancer. */
export interface ByteLaneEntry {
  readonly port: 80 | 443;
  /** Undefined: plain HTTP, as there is no name to certify. */
  readonly certificate: string | undefined;
}

/** Returns how the distribution reaches the byte lane: over TLS with a domain, else over plain HTTP. */
export function byteLaneEntry(settings: Parameters<typeof originCertificateOf>[0]): ByteLaneEntry {
  const certificate = originCertificateOf(settings);
  return { port: certificate === undefined ? 80 : 443, certificate };
}

/** Returns whether the service may serve objects at an origin. Without a domain, it does so only at the distribution's own name. */
function sharesOrigin(
  origin: string,
  { domain, websiteDomain, publicUrl }: Pick<z.infer<typeof fields>, 'domain' | 'websiteDomain' | 'publicUrl'>,
): boolean {
  const at = publicUrl === undefined ? undefined : new URL(publicUrl);
  const names = { ...hostNamesOf({ domain, websiteDomain }), ports: ['', ...(at ? [at.port] : [])] };
  return servesObjects(origin, { ...names, hosts: at ? [at.hostname] : [] });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The settings of a deployment. Values of the command line override those in `cdk.json`. */
export type Settings = Readonly<z.infer<typeof settings>>;

/** Invalid settings. The message names all mistakes. */
export class SettingsError extends Error {}

/** Reads the settings from the context of an app. @throws SettingsError that names every invalid one */
export function readSettings(node: Node): Settings {
  return parseSettings(
    Object.fromEntries(Object.keys(fields.shape).map((name) => [name, node.tryGetContext(name) as unknown])),
  );
}

/** Reads the settings from a context and ignores other values. @throws SettingsError that names every invalid one */
export function parseSettings(context: Readonly<Record<string, unknown>>): Settings {
  const parsed = settings.safeParse({ ...context, ...sizesOf(context) });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new SettingsError(`invalid settings in cdk.json or -c: ${issues.join('; ')}`);
}
