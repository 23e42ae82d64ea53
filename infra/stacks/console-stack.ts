import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AccessLevel,
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  Function,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  type HeadersReferrerPolicy,
  HttpVersion,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { previewFolder, securityHeaders, type ConsoleSources } from '../../shared/protocol/console/headers.ts';
import { consoleIndex } from '../../shared/protocol/console/pages.ts';
import type { Settings } from '../settings.ts';

export interface ConsoleStackProps extends StackProps {
  readonly settings: Settings;
  /** The code of the CloudFront Function that maps paths to files. */
  readonly pages: string;
}

/**
 * The console: a private bucket for its files, and a separate distribution, which never serves objects. The API is deployed after it,
 * as it needs the console's origin; the files come last, as they contain the address of the API (`ConsoleFilesStack`).
 */
export class ConsoleStack extends Stack {
  readonly bucket: IBucket;
  /** `https://console.example.com` */
  readonly origin: string;
  readonly #settings: Settings;

  constructor(scope: Construct, id: string, { settings, pages, ...props }: ConsoleStackProps) {
    super(scope, id, props);
    this.#settings = settings;
    this.bucket = this.#bucket();
    const distribution = this.#distribution(pages);
    this.origin = `https://${settings.consoleDomain ?? distribution.domainName}`;
    new CfnOutput(this, 'Console', { value: this.origin });
    new CfnOutput(this, 'ConsoleName', { value: distribution.domainName });
  }

  #bucket(): IBucket {
    const bucket = new Bucket(this, 'Files', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      // Every deployment uploads them again.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'The files are public, and only the distribution reads them.',
    });
    // The types differ in optional properties only.
    return bucket as IBucket;
  }

  #distribution(pages: string): Distribution {
    const { certificate, consoleDomain, stage, webAcl } = this.#settings;
    const pageOf = new Function(this, 'Pages', {
      comment: `Stillage ${stage}: finds the file of a path of the console`,
      code: FunctionCode.fromInline(pages),
      runtime: FunctionRuntime.JS_2_0,
    });
    const behaviour: BehaviorOptions = {
      origin: S3BucketOrigin.withOriginAccessControl(this.bucket, {
        // With s3:ListBucket, S3 answers 404 rather than 403 for a missing file.
        originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      }),
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: [{ function: pageOf, eventType: FunctionEventType.VIEWER_REQUEST }],
      // The Cache-Control of the files decides.
      cachePolicy: new CachePolicy(this, 'AsFilesSay', {
        comment: 'Stillage: the console, for as long as its files say',
        minTtl: Duration.seconds(0),
        defaultTtl: Duration.seconds(0),
        maxTtl: Duration.days(365),
        enableAcceptEncodingBrotli: true,
        enableAcceptEncodingGzip: true,
      }),
      compress: true,
    };
    const distribution = new Distribution(this, 'Distribution', {
      comment: `Stillage ${stage}: console`,
      ...(consoleDomain !== undefined && {
        domainNames: [consoleDomain],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', certificate!),
        minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      }),
      ...(webAcl !== undefined && { webAclId: webAcl }),
      httpVersion: HttpVersion.HTTP2,
      defaultRootObject: consoleIndex.slice(1),
      defaultBehavior: { ...behaviour, responseHeadersPolicy: this.#headers('PageHeaders', '/') },
      additionalBehaviors: {
        [`${previewFolder}*`]: {
          ...behaviour,
          responseHeadersPolicy: this.#headers('PreviewHeaders', previewFolder),
        },
      },
    });
    Validations.of(distribution).acknowledge(...acknowledged);
    return distribution;
  }

  /** The same headers as on one machine. CloudFront sets security headers separately. */
  #headers(id: string, path: string): ResponseHeadersPolicy {
    const {
      'Content-Security-Policy': contentSecurityPolicy,
      'X-Content-Type-Options': _,
      'Referrer-Policy': referrer,
      ...others
    } = securityHeaders(path, this.#sources());
    return new ResponseHeadersPolicy(this, id, {
      comment: `Stillage ${this.#settings.stage}: the console, ${path}`,
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy, override: true },
        contentTypeOptions: { override: true },
        referrerPolicy: { referrerPolicy: referrer as HeadersReferrerPolicy, override: true },
        strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override: true },
      },
      customHeadersBehavior: {
        customHeaders: Object.entries(others).map(([header, value]) => ({ header, value, override: true })),
      },
    });
  }

  /**
   * Without a domain, the endpoint is the name of a distribution that is deployed after this one. So the headers allow the pattern of
   * all such names, and the page itself, which is deployed last, names the endpoint.
   */
  #sources(): ConsoleSources {
    const { consoleDomain } = this.#settings;
    return {
      console: consoleDomain === undefined ? `'self'` : `https://${consoleDomain}`,
      endpoint: knownEndpoint(this.#settings) ?? 'https://*.cloudfront.net',
    };
  }
}

/** Returns the origin of the API if the settings determine it; undefined: it is the name of its distribution. */
export function knownEndpoint({ publicUrl, domain }: Settings): string | undefined {
  if (publicUrl !== undefined) return new URL(publicUrl).origin;
  return domain === undefined ? undefined : `https://${domain}`;
}

const acknowledged = [
  {
    id: 'Annotation::@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk',
    reason:
      'The CloudFront Function of the console lets no path through that would list the bucket, and its files are public.',
  },
  { id: 'AwsSolutions-CFR1', reason: 'Access depends on the keys of users, not on countries.' },
  {
    id: 'AwsSolutions-CFR2',
    reason: 'It serves public files. The setting webAcl adds a web ACL.',
  },
  {
    id: 'AwsSolutions-CFR3',
    reason: 'It serves public files: requests that matter are made to the API, which logs them.',
  },
  {
    id: 'AwsSolutions-CFR4',
    reason:
      "The distribution's own name uses CloudFront's certificate, for which no minimum version can be set; a domain requires TLS 1.2.",
  },
];
