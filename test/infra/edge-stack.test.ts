import { Match, type Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { inventory, resources, synthesise, withDomain, type Synthesis } from './synthesis.ts';

interface Origin {
  readonly Id: string;
  readonly OriginCustomHeaders: readonly { readonly HeaderName: string; readonly HeaderValue: unknown }[];
  readonly CustomOriginConfig?: unknown;
  readonly VpcOriginConfig?: unknown;
}

interface Behaviour {
  readonly TargetOriginId: string;
  readonly [property: string]: unknown;
}

interface DistributionConfig {
  readonly Aliases?: readonly string[];
  readonly Origins: readonly Origin[];
  readonly DefaultCacheBehavior: Behaviour;
  readonly CacheBehaviors?: readonly Behaviour[];
  readonly CustomErrorResponses: readonly { readonly ErrorCode: number; readonly ErrorCachingMinTTL: number }[];
  readonly ViewerCertificate?: unknown;
  readonly WebACLId?: string;
}

const distributions = (template: Template): [id: string, config: DistributionConfig][] =>
  resources(template, 'AWS::CloudFront::Distribution').map(([id, { Properties }]) => [
    id,
    Properties['DistributionConfig'] as DistributionConfig,
  ]);

/** The managed policies: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html */
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const allViewerExceptHostHeader = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

const webAcl = 'arn:aws:wafv2:us-east-1:000000000000:global/webacl/rates/01234567-89ab-cdef-0123-456789abcdef';

let plain: Synthesis;
let named: Synthesis;
beforeAll(async () => {
  plain = await synthesise([], { router: 'function handler(event) { return event.request; }' });
  named = await synthesise([], { context: { ...withDomain, webAcl } });
});

describe('the edge stack', () => {
  it('has these resources', () => {
    expect(inventory(plain.edge)).toMatchSnapshot('on the name of the distribution');
    expect(inventory(named.edge)).toMatchSnapshot('with a domain');
  });

  it('puts a web ACL before each distribution, if there is one', () => {
    const aclsOf = (template: Template) => distributions(template).map(([, { WebACLId }]) => WebACLId);
    expect(aclsOf(named.edge)).toEqual([webAcl, webAcl]);
    expect(aclsOf(plain.edge)).toEqual([undefined]);
  });

  it('runs the router on each request of a viewer, in each distribution', () => {
    plain.edge.hasResourceProperties('AWS::CloudFront::Function', {
      FunctionCode: 'function handler(event) { return event.request; }',
      FunctionConfig: { Runtime: 'cloudfront-js-2.0' },
      AutoPublish: true,
    });
    for (const [, { DefaultCacheBehavior, CacheBehaviors = [] }] of distributions(named.edge)) {
      for (const behaviour of [DefaultCacheBehavior, ...CacheBehaviors]) {
        expect(behaviour['FunctionAssociations']).toMatchObject([{ EventType: 'viewer-request' }]);
      }
    }
  });

  it('caches nothing, not even errors, and changes nothing', () => {
    for (const [, config] of distributions(named.edge)) {
      for (const behaviour of [config.DefaultCacheBehavior, ...(config.CacheBehaviors ?? [])]) {
        expect(behaviour).toMatchObject({ CachePolicyId: cachingDisabled, Compress: false });
        expect([...(behaviour['AllowedMethods'] as string[])].toSorted()).toEqual([
          'DELETE',
          'GET',
          'HEAD',
          'OPTIONS',
          'PATCH',
          'POST',
          'PUT',
        ]);
      }
      const errors = config.CustomErrorResponses;
      expect(errors.map(({ ErrorCode }) => ErrorCode)).toEqual([400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]);
      expect(new Set(errors.map(({ ErrorCachingMinTTL }) => ErrorCachingMinTTL))).toEqual(new Set([0]));
    }
  });

  it('has an origin for each lane, and websites only for that of their pages, which the distribution proves itself to by a secret that is in no template', () => {
    for (const { edge } of [plain, named]) {
      for (const [id, { Origins }] of distributions(edge)) {
        expect(Origins.map(({ Id }) => Id).toSorted()).toEqual(
          id.startsWith('Websites') ? ['byte'] : ['byte', 'control'],
        );
        for (const { OriginCustomHeaders } of Origins) {
          expect(OriginCustomHeaders).toHaveLength(1);
          expect(OriginCustomHeaders[0]!.HeaderName).toBe('x-stillage-edge');
          expect(JSON.stringify(OriginCustomHeaders[0]!.HeaderValue)).toMatch(
            /resolve:secretsmanager:.*EdgeSecret.*:SecretString/,
          );
        }
      }
    }
  });

  it('proves itself by the version of the secret that the settings name', async () => {
    const edgeSecretVersion = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
    const { edge } = await synthesise([], { context: { ...withDomain, edgeSecretVersion } });
    const proofs = distributions(edge).flatMap(([, { Origins }]) =>
      Origins.flatMap(({ OriginCustomHeaders }) => OriginCustomHeaders.map(({ HeaderValue }) => HeaderValue)),
    );
    expect(proofs).toHaveLength(3);
    for (const proof of proofs) {
      expect(JSON.stringify(proof)).toMatch(
        new RegExp(`resolve:secretsmanager:.*EdgeSecret.*:SecretString:::${edgeSecretVersion}\\}\\}`),
      );
    }
  });

  it('reaches the API by TLS 1.2, and the byte lane inside the network', () => {
    const [[, { Origins }]] = distributions(plain.edge) as [[string, DistributionConfig]];
    const [control, byte] = ['control', 'byte'].map((id) => Origins.find(({ Id }) => Id === id));
    expect(control!.CustomOriginConfig).toMatchObject({
      OriginProtocolPolicy: 'https-only',
      OriginSSLProtocols: ['TLSv1.2'],
      OriginReadTimeout: 30,
    });
    expect(byte!.VpcOriginConfig).toMatchObject({ OriginReadTimeout: 120 });
    plain.edge.resourceCountIs('AWS::CloudFront::VpcOrigin', 1);
  });

  it('has no byte lane where there is none', async () => {
    const { edge } = await synthesise([], { context: { byteLane: 'functions' } });
    expect(distributions(edge).flatMap(([, { Origins }]) => Origins.map(({ Id }) => Id))).toEqual(['control']);
    edge.resourceCountIs('AWS::CloudFront::VpcOrigin', 0);
  });
});

describe('the distribution of the API', () => {
  it('answers to TLS only', () => {
    for (const { edge } of [plain, named]) {
      const [[, { DefaultCacheBehavior, CacheBehaviors }]] = distributions(edge) as [[string, DistributionConfig]];
      for (const behaviour of [DefaultCacheBehavior, ...CacheBehaviors!]) {
        expect(behaviour).toMatchObject({
          ViewerProtocolPolicy: 'https-only',
          OriginRequestPolicyId: allViewerExceptHostHeader,
        });
      }
    }
  });

  it('is named after the domain and after each bucket in it, with the certificate', () => {
    const [[, config]] = distributions(named.edge) as [[string, DistributionConfig]];
    expect(config.Aliases).toEqual(['s3.example.com', '*.s3.example.com']);
    expect(config.ViewerCertificate).toEqual({
      AcmCertificateArn: withDomain.certificate,
      MinimumProtocolVersion: 'TLSv1.2_2021',
      SslSupportMethod: 'sni-only',
    });
  });

  it('is the only one, and has its own name alone, without a domain', () => {
    const all = distributions(plain.edge);
    expect(all).toHaveLength(1);
    expect(all[0]![1].Aliases ?? []).toEqual([]);
    plain.edge.resourceCountIs('AWS::Route53::RecordSet', 0);
  });
});

describe('the distribution of websites', () => {
  it('answers to plain HTTP as well, and tells the byte lane which it was', () => {
    const [, [, config]] = distributions(named.edge) as [unknown, [string, DistributionConfig]];
    expect(config.Aliases).toEqual(['*.website.s3.example.com']);
    expect(config.DefaultCacheBehavior).toMatchObject({ TargetOriginId: 'byte', ViewerProtocolPolicy: 'allow-all' });
    named.edge.hasResourceProperties('AWS::CloudFront::OriginRequestPolicy', {
      OriginRequestPolicyConfig: Match.objectLike({
        HeadersConfig: { HeaderBehavior: 'allViewerAndWhitelistCloudFront', Headers: ['CloudFront-Forwarded-Proto'] },
        QueryStringsConfig: { QueryStringBehavior: 'all' },
      }),
    });
  });
});

describe('the DNS', () => {
  it('has each name, for both versions of IP, where a zone is given', () => {
    const records = resources(named.edge, 'AWS::Route53::RecordSet').map(
      ([, { Properties }]) => `${String(Properties['Type'])} ${String(Properties['Name'])}`,
    );
    const names = ['s3.example.com.', '*.s3.example.com.', '*.website.s3.example.com.'];
    expect(records.toSorted()).toEqual(names.flatMap((name) => [`A ${name}`, `AAAA ${name}`]).toSorted());
  });

  it('is left to others without one', async () => {
    const { edge } = await synthesise([], { context: { ...withDomain, hostedZone: '' } });
    edge.resourceCountIs('AWS::Route53::RecordSet', 0);
  });
});
