import { beforeAll, describe, expect, it } from 'vitest';
import { VpcOriginPath } from '../cloud/vpc-origin.ts';
import { resources, synthesise, withDomain, type Synthesis } from './synthesis.ts';

let plain: Synthesis;
let named: Synthesis;
beforeAll(async () => {
  plain = await synthesise([]);
  named = await synthesise([], { context: withDomain });
});

const path = ({ streaming, edge }: Synthesis): VpcOriginPath => new VpcOriginPath(streaming!, edge);
const vpcOrigin = ({ edge }: Synthesis): { readonly id: string; readonly config: Record<string, unknown> } => {
  const [id, { Properties }] = resources(edge, 'AWS::CloudFront::VpcOrigin')[0]!;
  return { id, config: Properties['VpcOriginEndpointConfig'] as Record<string, unknown> };
};

describe('the way from the distribution to the byte lane', () => {
  it('is open to what CloudFront sends, over plain HTTP, where there is no domain', () => {
    expect(path(plain).fault({ originName: 'internal.elb.amazonaws.com', host: undefined })).toBeUndefined();
  });

  it('is encrypted where there is a domain, by a certificate for the name of the API or of a website', () => {
    const { domain, websiteDomain } = withDomain;
    expect(path(named).fault({ originName: domain, host: undefined })).toBeUndefined();
    expect(path(named).fault({ originName: domain, host: `bucket.${websiteDomain}` })).toBeUndefined();
    expect(path(named).fault({ originName: 'internal.elb.amazonaws.com', host: undefined })).toBe(502);
    expect(vpcOrigin(named).config).toMatchObject({
      OriginProtocolPolicy: 'https-only',
      OriginSSLProtocols: ['TLSv1.2'],
    });
  });

  it('is another VPC origin where it has another protocol, since one that is in use cannot be changed', () => {
    // https://github.com/aws/aws-cdk/issues/34629
    expect(vpcOrigin(named).id).not.toBe(vpcOrigin(plain).id);
    expect(vpcOrigin(named).config['Name']).not.toBe(vpcOrigin(plain).config['Name']);
  });
});

describe('the zones of the byte lane', () => {
  /** https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-vpc-origins.html#vpc-origins-supported-regions */
  const without = ['use1-az3', 'usw1-az2', 'apne1-az3', 'apne2-az1', 'cac1-az3'];
  const zonesOf = ({ streaming }: Synthesis): readonly unknown[] =>
    resources(streaming!, 'AWS::EC2::Subnet').map(([, { Properties }]) => {
      // A name means another zone in each account: https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html
      expect(Properties['AvailabilityZone']).toBeUndefined();
      return Properties['AvailabilityZoneId'];
    });

  it.each([
    ['us-east-1', 'use1', 3],
    ['us-west-1', 'usw1', 2],
    ['ap-northeast-1', 'apne1', 3],
    ['ap-northeast-2', 'apne2', 3],
    ['ap-southeast-2', 'apse2', 3],
    ['ca-central-1', 'cac1', 3],
    ['eu-central-1', 'euc1', 3],
  ])('of %s are those that can have a VPC origin, by their ids', async (region, prefix, count) => {
    const zones = zonesOf(await synthesise([], { context: { region } }));
    expect(zones).toHaveLength(2 * count);
    expect(new Set(zones).size).toBe(count);
    for (const zone of zones) {
      expect(zone).toMatch(new RegExp(`^${prefix}-az\\d$`));
      expect(without).not.toContain(zone);
    }
  });

  it('are those that the settings name', async () => {
    const zones = zonesOf(await synthesise([], { context: { zones: 'use1-az4,use1-az6' } }));
    expect(new Set(zones)).toEqual(new Set(['use1-az4', 'use1-az6']));
  });
});
