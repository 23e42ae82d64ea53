import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';
import { z } from 'zod';

/** From the command line (`-c name=value`) everything comes as text. */
const wholeNumber = z.coerce.number().int().positive();

const settings = z.object({
  /** Names the deployment: several can live in one account. */
  stage: z.string().regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be a short lower-case word'),
  account: z.string().regex(/^\d{12}$/, 'must be the 12 digits of an account'),
  /** Where it runs, and the region it says it is. */
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region of AWS'),
  /** Buckets are addressed below it. */
  domain: z.string().min(1),
  websiteDomain: z.string().min(1),
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

/** What a deployment may choose. The values in `cdk.json` hold unless the command line says otherwise. */
export type Settings = Readonly<z.infer<typeof settings>>;

/** Reads the settings from the context of an app. @throws Error that names every wrong one */
export function readSettings(node: Node): Settings {
  const context = Object.fromEntries(
    Object.keys(settings.shape).map((name) => [name, node.tryGetContext(name) as unknown]),
  );
  const parsed = settings.safeParse(context);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Error(`the settings in cdk.json, or given by -c, do not hold: ${issues.join('; ')}`);
}
