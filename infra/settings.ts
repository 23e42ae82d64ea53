import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import { z } from 'zod';
import { memoryOfCpu, type Preset, presets, type Sizes } from './presets.ts';
import { defaultZones, zoneCount, zonePrefix, zonesWithoutVpcOrigins } from './zones.ts';
import { isOrigin, servesObjects } from '../shared/protocol/console/origins.ts';
import { isLimit, limitFault, type Limits } from '../shared/protocol/limits.ts';
import { hostNamesOf } from './host-names.ts';

/** From the command line (`-c name=value`) everything comes as text. */
const wholeNumber = z.coerce.number().int().positive();
const yesOrNo = z.preprocess((value) => (typeof value === 'string' ? parseJson(value) : value), z.boolean());

/** On the command line, what is listed has commas between it. */
const list = <Item extends z.ZodType>(item: Item): z.ZodType<z.output<Item>[]> =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').filter((one) => one !== '') : value),
    z.array(item),
  );

const hostName = z.string().regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, 'must be a host name in lower case');

/** A setting that need not be there; on the command line, an empty one is none. */
const optional = <Setting extends z.ZodType>(setting: Setting): z.ZodType<z.output<Setting> | undefined> =>
  z
    .literal('')
    .optional()
    .transform(() => undefined)
    .or(setting);

/** Names of limits with what they are to be. A number of requests means nothing here: each process would count its own. */
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
  if (!isLimit(name)) return `there is no limit "${name}"`;
  if (name === 'requestsPerSecond') return 'the setting requestsPerSecond takes the place of the limit';
  return limitFault(name, value);
}

const fields = z.object({
  /** Where the sizes come from that are not set. */
  preset: z.enum(Object.keys(presets) as [Preset, ...Preset[]]),
  /** Names the deployment: several can live in one account. */
  stage: z.string().regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be a short lower-case word'),
  account: z.string().regex(/^\d{12}$/, 'must be the 12 digits of an account'),
  /** Where it runs, and the region it says it is. */
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region of AWS'),
  /** Buckets are addressed below it. Without it, they are addressed by path, on the distribution's own name. */
  domain: optional(hostName),
  /** Websites are served below it. */
  websiteDomain: optional(hostName),
  /** The certificate of all these names, as CloudFront wants it: in us-east-1. */
  certificate: optional(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/,
        'must be the ARN of a certificate in us-east-1',
      ),
  ),
  /** The certificate of the same names for the load balancer of the byte lane: in the region of the deployment, as its load balancers want it. */
  originCertificate: optional(
    z.string().regex(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/, 'must be the ARN of a certificate'),
  ),
  /** The hosted zone of Route 53 that gets the names. Without it, whoever keeps the DNS enters them. */
  hostedZone: optional(z.string().regex(/^Z[A-Z0-9]+$/, 'must be the id of a hosted zone')),
  /** What carries the bodies of objects: a service on Fargate, or the functions of the operations within their limits. */
  byteLane: z.enum(['fargate', 'functions']),
  /** Of one server of the byte lane, in units of a 1,024th of a processor, and in MiB. */
  byteLaneCpu: wholeNumber,
  byteLaneMemory: wholeNumber,
  /** The ids of the zones of the byte lane. Without any, the first two of the region that can have one. */
  zones: list(z.string().regex(/^[a-z]{3,6}\d-az\d$/, 'must be ids of zones, such as use1-az1')),
  byteLaneMinimumTasks: wholeNumber,
  byteLaneMaximumTasks: wholeNumber,
  /** The stream of a table that was restored, and takes the place of the one that the data stack made. */
  restoredTable: optional(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/[\w.-]{3,255}\/stream\/[\d:T.-]+$/,
        'must be the ARN of the stream of a table (LatestStreamArn), arn:aws:dynamodb:…:table/…/stream/…',
      ),
  ),
  /** The version of the distribution's secret that the distribution proves itself by. Without it, the one that is current as it is deployed. */
  edgeSecretVersion: optional(
    z.string().regex(/^[\w-]{32,64}$/, 'must be the id of a version of the secret (VersionId)'),
  ),
  /** What was replaced or deleted keeps its bytes for so long: a table that is put back by no more than this finds them all. PITR reaches back 35 days. */
  releaseGraceDays: wholeNumber.max(35, 'must be 35 at most, which is how far a table can be put back'),
  /** What becomes of table, blobs and secrets when their stack goes. */
  removalPolicy: z.enum(['retain', 'destroy']),
  /** What differs from the default limits, quotas among them; on the command line, as JSON. */
  limits: z.preprocess((value) => (typeof value === 'string' ? parseJson(value) : value), limits),
  /** A web ACL of WAF for the distributions. */
  webAcl: optional(
    z
      .string()
      .regex(
        /^arn:aws[a-z-]*:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/,
        'must be the ARN of a web ACL for CloudFront, in us-east-1',
      ),
  ),
  /** Where clients reach it, for the URLs of public links. Without it, where each request was sent. */
  publicUrl: optional(z.url({ protocol: /^https?$/, error: 'must be an address that begins with https://' })),
  /** Whether there is a console, on a distribution of its own. */
  console: yesOrNo,
  /** The name of the console. Without it, it has the distribution's own. */
  consoleDomain: optional(hostName),
  /** Further origins that the console is opened at. On the command line, with commas between them. */
  consoleOrigins: list(z.string().refine(isOrigin, 'must be origins, such as https://console.example.com')),
  /** Whether signatures for another region are refused. */
  strictRegion: yesOrNo,
  /** Whether signatures of version 2 are taken, which do not cover the body. */
  signatureV2: yesOrNo,
  /** Whether keys of customers (SSE-C) are taken: without a domain they reach the byte lane unencrypted, inside the provider's network. */
  customerKeys: yesOrNo,
  /** Regions besides its own that buckets may be asked for in; none: any. On the command line, with commas between them. */
  regions: list(z.string().regex(/^[A-Za-z0-9-]{1,63}$/, 'must be names of regions')),
  xmlNamespace: z.url(),
  allUsersGroupUri: z.url(),
  logRetentionDays: wholeNumber.refine(
    (days) => days in RetentionDays,
    'must be a retention that CloudWatch Logs knows',
  ),
  /** What the API lets through before it answers SlowDown. */
  requestsPerSecond: wholeNumber,
  burst: wholeNumber,
});

const settings = fields.superRefine((given, context) => {
  const wrong = (path: keyof typeof given, message: string): void => {
    context.addIssue({ code: 'custom', path: [path], message });
  };
  if (given.websiteDomain && !given.domain) wrong('websiteDomain', 'needs a domain as well');
  if (given.domain && !given.certificate) wrong('certificate', 'a domain needs one');
  if (given.consoleDomain && !given.certificate) wrong('consoleDomain', 'needs a certificate');
  for (const path of ['consoleDomain', 'consoleOrigins'] as const) {
    const origins = [given[path] ?? []].flat().map((name) => (path === 'consoleDomain' ? `https://${name}` : name));
    if (origins.filter(isOrigin).some((origin) => sharesOrigin(origin, given)))
      wrong(path, 'objects are served there, whose scripts could use the keys of whoever is signed in');
  }
  if (given.websiteDomain && given.byteLane === 'functions') wrong('websiteDomain', 'websites need the byte lane');
  if (given.hostedZone && !given.domain) wrong('hostedZone', 'is of no use without a domain');
  const [, , , region, account] = given.restoredTable?.split(':') ?? [];
  if (given.restoredTable && (region !== given.region || account !== given.account))
    wrong('restoredTable', `is not in account ${given.account} and region ${given.region}, where the deployment is`);
  if (!memoryOfCpu[given.byteLaneCpu]?.includes(given.byteLaneMemory))
    wrong('byteLaneMemory', `Fargate has no servers of ${given.byteLaneCpu} units and ${given.byteLaneMemory} MiB`);
  const zones = zonesProblem(given);
  if (zones !== undefined) wrong('zones', zones);
  const byteLaneCertificate = originCertificateOf(given);
  if (given.byteLane === 'fargate' && given.domain) {
    if (byteLaneCertificate === undefined) {
      wrong(
        'originCertificate',
        `a byte lane with a domain needs one, in ${given.region}: requests travel to it by TLS`,
      );
    } else if (byteLaneCertificate.split(':')[3] !== given.region) {
      wrong('originCertificate', `is not in ${given.region}, where the load balancer is`);
    }
  }
  if (given.byteLaneMinimumTasks > given.byteLaneMaximumTasks)
    wrong('byteLaneMinimumTasks', 'is more than the maximum');
});

function zonesProblem({
  zones,
  region,
}: {
  readonly zones: readonly string[];
  readonly region: string;
}): string | undefined {
  if (zones.length === 0) return undefined;
  if (new Set(zones).size !== zoneCount || zones.length !== zoneCount) return `must be ${zoneCount} different zones`;
  if (!zones.every((id) => id.startsWith(`${zonePrefix(region)}-`))) return `must be zones of ${region}`;
  const unfit = zones.filter((id) => zonesWithoutVpcOrigins.has(id));
  return unfit.length > 0 ? `CloudFront has no VPC origins in ${unfit.join(', ')}` : undefined;
}

/** The sizes of the preset, where they are not set themselves. */
function sizesOf(context: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sizes: Sizes = presets[context['preset'] as Preset] ?? presets.standard;
  const isSet = (name: string): boolean => context[name] !== undefined && context[name] !== '';
  return Object.fromEntries(Object.entries(sizes).filter(([name]) => !isSet(name)));
}

/** The ids of the zones of the byte lane. */
export function zonesOf({ zones, region }: Pick<Settings, 'zones' | 'region'>): readonly string[] {
  return zones.length > 0 ? zones : defaultZones(region);
}

/** The certificate of the byte lane's load balancer. That of the distribution serves both where both have to be in us-east-1. */
export function originCertificateOf({
  domain,
  region,
  certificate,
  originCertificate,
}: Pick<Settings, 'domain' | 'region' | 'certificate' | 'originCertificate'>): string | undefined {
  if (domain === undefined) return undefined;
  return originCertificate ?? (region === 'us-east-1' ? certificate : undefined);
}

/** What the distribution finds at the load balancer of the byte lane. */
export interface ByteLaneEntry {
  readonly port: 80 | 443;
  /** Undefined: plain HTTP, as there is no name that a certificate could be for. */
  readonly certificate: string | undefined;
}

/** How the distribution reaches the byte lane: by TLS where there is a domain, and so a certificate. */
export function byteLaneEntry(settings: Parameters<typeof originCertificateOf>[0]): ByteLaneEntry {
  const certificate = originCertificateOf(settings);
  return { port: certificate === undefined ? 80 : 443, certificate };
}

/** Whether objects may be served at an origin. Where there is no domain, the distribution's own name serves them alone. */
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

/** What a deployment may choose. The values in `cdk.json` hold unless the command line says otherwise. */
export type Settings = Readonly<z.infer<typeof settings>>;

/** A mistake in the settings: its message says all that is wrong, and a stack would not help. */
export class SettingsError extends Error {}

/** Reads the settings from the context of an app. @throws SettingsError that names every wrong one */
export function readSettings(node: Node): Settings {
  return parseSettings(
    Object.fromEntries(Object.keys(fields.shape).map((name) => [name, node.tryGetContext(name) as unknown])),
  );
}

/** Reads the settings from a context; other values in it mean nothing. @throws SettingsError that names every wrong one */
export function parseSettings(context: Readonly<Record<string, unknown>>): Settings {
  const parsed = settings.safeParse({ ...context, ...sizesOf(context) });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new SettingsError(`the settings in cdk.json, or given by -c, do not hold: ${issues.join('; ')}`);
}
