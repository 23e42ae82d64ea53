/**
 * Zones are chosen by id, as the name `us-east-1a` maps to a different zone in each account.
 * https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html
 */

/**
 * Zones without support for VPC origins of CloudFront; `use1-az3` has no arm64 on Fargate either.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-vpc-origins.html#vpc-origins-supported-regions
 */
export const zonesWithoutVpcOrigins: ReadonlySet<string> = new Set([
  'use1-az3',
  'usw1-az2',
  'apne1-az3',
  'apne2-az1',
  'cac1-az3',
]);

/** A load balancer needs two zones; with three, two are left while one is evacuated. */
export const zoneCounts: readonly number[] = [2, 3];

/** Regions where an account has no third zone that fits, by the prefix of their ids. */
const withTwoZones: ReadonlySet<string> = new Set(['usw1']);

/** The highest number in a zone id. */
const highestNumber = 6;

/** Returns the prefix of a region's zone ids: `use1` of `us-east-1`, `apse2` of `ap-southeast-2`. */
export function zonePrefix(region: string): string {
  const [place = '', ...rest] = region.split('-');
  const number = rest.pop() ?? '';
  const direction = rest.map((word) => word.replace(/^(north|south)(east|west)$/, '$1-$2')).join('-');
  const initials = direction.split('-').map((word) => (word === 'gov' ? 'g' : word.charAt(0)));
  return `${place}${initials.join('')}${number}`;
}

/** Returns the default zones of a region: the first three that support VPC origins, or all two of them. */
export function defaultZones(region: string): readonly string[] {
  const prefix = zonePrefix(region);
  const all = Array.from({ length: highestNumber }, (_, index) => `${prefix}-az${index + 1}`);
  return all.filter((id) => !zonesWithoutVpcOrigins.has(id)).slice(0, withTwoZones.has(prefix) ? 2 : 3);
}
