import type { Data } from './grants.ts';
import type { Settings } from './settings.ts';

/** No name ends so (RFC 6761 §6.4): what is addressed below it is addressed by nobody. */
const nowhere = 'invalid';

/** The names that buckets and websites are addressed below. Without a domain there are none. */
export function hostNamesOf({ domain = nowhere, websiteDomain }: Pick<Settings, 'domain' | 'websiteDomain'>): {
  domain: string;
  websiteDomain: string;
} {
  return { domain, websiteDomain: websiteDomain ?? `website.${nowhere}` };
}

/** What every process of a deployment is told of it: what functions/runtime/cloud/settings.ts reads. */
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
  } = settings;
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
    ...(publicUrl !== undefined && { STILLAGE_PUBLIC_URL: publicUrl.replace(/(?<!\/)\/+$/, '') }),
    ...(strictRegion && { STILLAGE_STRICT_REGION: 'true' }),
    ...(!signatureV2 && { STILLAGE_SIGNATURE_V2: 'false' }),
    ...(!customerKeys && { STILLAGE_CUSTOMER_KEYS: 'false' }),
    ...(regions.length > 0 && { STILLAGE_REGIONS: regions.join(',') }),
  };
}
