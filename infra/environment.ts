import type { Data } from './constructs/grants.ts';
import { hostNamesOf } from './host-names.ts';
import type { Settings } from './settings.ts';

/**
 * Returns what the SDK needs besides in a container. Lambda sets the region itself; whether ECS does is documented and disputed.
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-environment-variables.html,
 * https://github.com/aws/containers-roadmap/issues/1611
 */
export function containerEnvironment({ region }: Pick<Settings, 'region'>): Record<string, string> {
  return { AWS_REGION: region };
}

/** Returns the environment of every process of a deployment, which functions/cloud/settings.ts reads. */
export function environmentOf(settings: Settings, { table, blobs, secret, edgeSecret }: Data): Record<string, string> {
  const {
    region,
    xmlNamespace,
    allUsersGroupUri,
    limits,
    publicUrl,
    strictRegion,
    signatureV2,
    customerKeys,
    regions,
    auditDays,
    auditStrict,
  } = settings;
  const { consoleOrigins } = settings;
  const { domain, websiteDomain } = hostNamesOf(settings);
  return {
    STILLAGE_TABLE: table.tableName,
    STILLAGE_BLOB_BUCKET: blobs.bucketName,
    STILLAGE_SECRET: secret.secretArn,
    STILLAGE_EDGE_SECRET: edgeSecret.secretArn,
    STILLAGE_REGION: region,
    STILLAGE_DOMAIN: domain,
    STILLAGE_WEBSITE_DOMAIN: websiteDomain,
    STILLAGE_XML_NAMESPACE: xmlNamespace,
    STILLAGE_ALL_USERS_GROUP_URI: allUsersGroupUri,
    STILLAGE_LIMITS: JSON.stringify(limits),
    ...(auditDays > 0 && { STILLAGE_AUDIT_DAYS: String(auditDays) }),
    ...(auditStrict && { STILLAGE_AUDIT_STRICT: 'true' }),
    ...(publicUrl !== undefined && { STILLAGE_PUBLIC_URL: publicUrl.replace(/(?<!\/)\/+$/, '') }),
    ...(strictRegion && { STILLAGE_STRICT_REGION: 'true' }),
    ...(!signatureV2 && { STILLAGE_SIGNATURE_V2: 'false' }),
    ...(!customerKeys && { STILLAGE_CUSTOMER_KEYS: 'false' }),
    ...(consoleOrigins.length > 0 && { STILLAGE_CONSOLE_ORIGINS: consoleOrigins.join(',') }),
    ...(regions.length > 0 && { STILLAGE_REGIONS: regions.join(',') }),
  };
}
