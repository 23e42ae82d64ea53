import type { Template } from 'aws-cdk-lib/assertions';
import { Match } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { pageFor } from '../../infra/stacks/console-files-stack.ts';
import { consolePagesCode } from '../../infra/bundles/edge-function-code.ts';
import { securityHeaders } from '../../shared/protocol/console/headers.ts';
import { edgeRuntime } from '../support/cloud/edge-runtime.ts';
import { resources, synthesise, withDomain, inventory, type Synthesis } from './synthesis.ts';

const functions = [{ name: 'HeadBucket', serves: ['HeadBucket'], needs: { table: 'read' } }] as const;

let plain: Synthesis;
let named: Synthesis;
beforeAll(async () => {
  plain = await synthesise(functions, { console: true });
  const context = { ...withDomain, consoleDomain: 'console.example.com', consoleOrigins: 'https://other.example' };
  named = await synthesise(functions, { console: true, context });
});

/** The headers of a response headers policy, by its id. */
function headersOf(template: Template): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    resources(template, 'AWS::CloudFront::ResponseHeadersPolicy').map(([id, { Properties }]) => {
      const { CustomHeadersConfig: custom, SecurityHeadersConfig: security } = Properties[
        'ResponseHeadersPolicyConfig'
      ] as {
        CustomHeadersConfig: { Items: readonly { Header: string; Value: string; Override: boolean }[] };
        SecurityHeadersConfig: {
          ContentSecurityPolicy: { ContentSecurityPolicy: string };
          ReferrerPolicy: { ReferrerPolicy: string };
          ContentTypeOptions: { Override: boolean };
        };
      };
      return [
        id.replace(/[0-9A-F]{8}$/, ''),
        {
          ...Object.fromEntries(custom.Items.map(({ Header, Value }) => [Header, Value])),
          'Content-Security-Policy': security.ContentSecurityPolicy.ContentSecurityPolicy,
          'Referrer-Policy': security.ReferrerPolicy.ReferrerPolicy,
          ...(security.ContentTypeOptions.Override && { 'X-Content-Type-Options': 'nosniff' }),
        },
      ];
    }),
  );
}

describe('the console in the cloud', () => {
  it('is as it was last looked at', () => {
    expect(inventory(plain.console!)).toMatchSnapshot('on the name of its distribution');
    expect(inventory(named.console!)).toMatchSnapshot('with a domain');
  });

  it('has a bucket that the distribution alone reads', () => {
    plain.console!.hasResourceProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    });
    plain.console!.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
      OriginAccessControlConfig: {
        OriginAccessControlOriginType: 's3',
        SigningBehavior: 'always',
        SigningProtocol: 'sigv4',
      },
    });
    const statements = resources(plain.console!, 'AWS::S3::BucketPolicy').flatMap(
      ([, { Properties }]) => (Properties['PolicyDocument'] as { Statement: Record<string, unknown>[] }).Statement,
    );
    const allowing = statements.filter(({ Effect }) => Effect === 'Allow');
    expect(allowing.length).toBeGreaterThan(0);
    for (const { Principal, Condition } of allowing) {
      expect(Principal).toEqual({ Service: 'cloudfront.amazonaws.com' });
      expect(JSON.stringify(Condition)).toContain('AWS:SourceArn');
    }
  });

  it('has a distribution that reads only, over TLS, and sends the headers that are sent on one machine', () => {
    named.console!.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: Match.objectLike({
        Aliases: ['console.example.com'],
        DefaultCacheBehavior: Match.objectLike({
          AllowedMethods: ['GET', 'HEAD'],
          ViewerProtocolPolicy: 'redirect-to-https',
          Compress: true,
        }),
        CacheBehaviors: [Match.objectLike({ PathPattern: '/preview/*', AllowedMethods: ['GET', 'HEAD'] })],
      }),
    });
    const sources = { console: 'https://console.example.com', endpoint: 'https://s3.example.com' };
    expect(headersOf(named.console!)).toEqual({
      PageHeaders: securityHeaders('/', sources),
      PreviewHeaders: securityHeaders('/preview/frame.html', sources),
    });
  });

  it('lets the page reach the names of distributions where its own is not known, and the page says which', () => {
    const policy = headersOf(plain.console!)['PageHeaders']!['Content-Security-Policy'];
    expect(policy).toContain("connect-src 'self' https://*.cloudfront.net;");
    const page = pageFor('https://d1.cloudfront.net', '<!doctype html><HEAD><title>x</title>');
    expect(page).toBe(
      '<!doctype html><HEAD><meta http-equiv="Content-Security-Policy" ' +
        `content="connect-src 'self' https://d1.cloudfront.net; frame-src 'self' https://d1.cloudfront.net"><title>x</title>`,
    );
    expect(() => pageFor('https://d1.cloudfront.net', '<title>x</title>')).toThrow('no <head>');
  });

  it('is told where the API is, and its page comes after what it loads', () => {
    const deployments = resources(named.consoleFiles!, 'Custom::CDKBucketDeployment');
    expect(
      deployments.map(([, { Properties }]) => [
        (Properties['SystemMetadata'] as Record<string, string>)['cache-control'],
        Properties['Prune'],
        Properties['Exclude'],
        Properties['Include'],
      ]),
    ).toEqual([
      ['public, max-age=31536000, immutable', false, ['*'], ['assets/*']],
      ['no-cache', false, ['assets/*', 'index.html', 'config.json'], undefined],
      ['no-store', false, undefined, undefined],
      ['no-cache', false, undefined, undefined],
    ]);
    const { Resources } = named.consoleFiles!.toJSON() as { Resources: Record<string, { DependsOn?: string[] }> };
    const [page, ...first] = deployments.map(([id]) => id).toReversed();
    expect(Resources[page!]!.DependsOn).toEqual(expect.arrayContaining(first));
  });

  it('may call the API, whose processes know its origin', () => {
    const [name] = resources(plain.console!, 'AWS::CloudFront::Distribution')[0]!;
    const environments = resources(plain.api, 'AWS::Lambda::Function').map(
      ([, { Properties }]) => (Properties['Environment'] as { Variables: Record<string, unknown> }).Variables,
    );
    expect(environments.length).toBeGreaterThan(0);
    for (const { STILLAGE_CONSOLE_ORIGINS } of environments) {
      expect(JSON.stringify(STILLAGE_CONSOLE_ORIGINS)).toMatch(new RegExp(`"https://".*${name}`));
    }
    expect(JSON.stringify(plain.streaming!.toJSON())).toContain('STILLAGE_CONSOLE_ORIGINS');
    named.api.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          STILLAGE_CONSOLE_ORIGINS: 'https://other.example,https://console.example.com',
        }),
      },
    });
  });

  it('may read errors that the service knows nothing of, and no other origin may', () => {
    named.edge.hasResourceProperties('AWS::CloudFront::ResponseHeadersPolicy', {
      ResponseHeadersPolicyConfig: {
        CorsConfig: {
          AccessControlAllowCredentials: false,
          AccessControlAllowOrigins: { Items: ['https://other.example', 'https://console.example.com'] },
          AccessControlExposeHeaders: { Items: ['*'] },
          OriginOverride: false,
        },
      },
    });
  });

  it('can be left out', async () => {
    const without = await synthesise(functions, { context: { console: 'false' } });
    expect([without.console, without.consoleFiles]).toEqual([undefined, undefined]);
    without.edge.resourceCountIs('AWS::CloudFront::ResponseHeadersPolicy', 0);
    expect(JSON.stringify(without.api.toJSON())).not.toContain('STILLAGE_CONSOLE_ORIGINS');
  });
});

describe('the function of the console', () => {
  it('finds the file of a path as the service on one machine does', async () => {
    const find = edgeRuntime(await consolePagesCode());
    const fileOf = (target: string): string =>
      find({ method: 'GET', target, headers: [['host', 'console.example.com']], address: '192.0.2.1' }).uri;
    for (const [target, file] of [
      ['/', '/index.html'],
      ['/b/bucket/a.html?v=1', '/index.html'],
      ['/profile', '/index.html'],
      ['/b/%zz/../x', '/index.html'],
      ['/assets/app-1a2b3c4d.js', '/assets/app-1a2b3c4d.js'],
      ['/assets/', '/assets/'],
      ['/preview/frame.html', '/preview/frame.html'],
      ['/config.json', '/config.json'],
      ['/favicon.ico', '/favicon.ico'],
    ] as const) {
      expect([target, fileOf(target)]).toEqual([target, file]);
    }
  });
});
