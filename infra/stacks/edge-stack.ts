import { CfnOutput, Duration, SecretValue, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { Certificate, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  Function,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  type IOrigin,
  type IOriginRequestPolicy,
  OriginProtocolPolicy,
  OriginRequestCookieBehavior,
  OriginRequestHeaderBehavior,
  OriginRequestPolicy,
  OriginRequestQueryStringBehavior,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
  VpcOrigin as VpcOriginResource,
  VpcOriginEndpoint,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, VpcOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { ApplicationLoadBalancer } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { keptHeaders, viewerProtocolHeader } from '../../shared/protocol/kept-headers.ts';
import { byteLaneEntry, type Settings } from '../settings.ts';

export interface EdgeStackProps extends StackProps {
  readonly settings: Settings;
  /** The code of the router. */
  readonly router: string;
  readonly api: SpecRestApi;
  /** The load balancer of the byte lane, if there is one. */
  readonly balancer: ApplicationLoadBalancer | undefined;
  readonly edgeSecret: Secret;
}

/** The origins of the lanes, by their names in the router. */
type Origins = Readonly<Record<'control' | 'byte', IOrigin | undefined>>;

/**
 * The distribution, which caches nothing, and its router. CloudFront chooses the cache behaviour by the client's path before the router
 * runs, and a path does not determine the operation: so there is one behaviour, and the router chooses the origin. Websites have a
 * separate distribution, as they accept plain HTTP as well.
 */
export class EdgeStack extends Stack {
  readonly distribution: Distribution;
  readonly websites: Distribution | undefined;
  /** The endpoint for clients. */
  readonly endpoint: string;
  readonly distributionIds: readonly string[];
  readonly #settings: Settings;
  #cors: ResponseHeadersPolicy | undefined;

  constructor(scope: Construct, id: string, props: EdgeStackProps) {
    const { settings, router, api, balancer, edgeSecret, ...stackProps } = props;
    super(scope, id, stackProps);
    this.#settings = settings;
    const { domain, websiteDomain } = settings;
    const origins = this.#origins(api, balancer, edgeSecret);
    const viewerRequest = new Function(this, 'Router', {
      comment: `Stillage ${settings.stage}: finds the operation of a request`,
      code: FunctionCode.fromInline(router),
      runtime: FunctionRuntime.JS_2_0,
    });
    const functionAssociations = [{ function: viewerRequest, eventType: FunctionEventType.VIEWER_REQUEST }];
    this.distribution = this.#distribution(
      'Distribution',
      domain === undefined ? [] : [domain, `*.${domain}`],
      {
        origin: origins.control!,
        // The API accepts its own host name only; the router keeps the client's.
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        functionAssociations,
      },
      origins.byte,
    );
    if (websiteDomain !== undefined) {
      this.websites = this.#distribution(
        'Websites',
        [`*.${websiteDomain}`],
        {
          origin: origins.byte!,
          originRequestPolicy: this.#withProtocol(),
          viewerProtocolPolicy: ViewerProtocolPolicy.ALLOW_ALL,
          functionAssociations,
        },
        // The API refuses the viewer's Host, which this distribution forwards, so the router sends nothing to it from here.
        undefined,
      );
    }
    this.distributionIds = [this.distribution, ...(this.websites ? [this.websites] : [])].map(
      ({ distributionId }) => distributionId,
    );
    this.endpoint = `https://${domain ?? this.distribution.domainName}`;
    new CfnOutput(this, 'Endpoint', { value: this.endpoint });
  }

  #origins(api: SpecRestApi, balancer: ApplicationLoadBalancer | undefined, edgeSecret: Secret): Origins {
    // A dynamic reference that CloudFormation resolves at deployment, so the template contains no secret.
    const { edgeSecretVersion: versionId } = this.#settings;
    const proof =
      versionId === undefined
        ? edgeSecret.secretValue
        : SecretValue.secretsManager(edgeSecret.secretArn, { versionId });
    const customHeaders = { [keptHeaders.proof]: proof.unsafeUnwrap() };
    const control = new HttpOrigin(`${api.restApiId}.execute-api.${this.region}.${this.urlSuffix}`, {
      originId: 'control',
      originPath: `/${this.#settings.stage}`,
      customHeaders,
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      originSslProtocols: [OriginSslPolicy.TLS_V1_2],
      // A function has answered or timed out by then.
      readTimeout: Duration.seconds(30),
    });
    return { control, byte: balancer && this.#byteLane(balancer, customHeaders) };
  }

  #byteLane(balancer: ApplicationLoadBalancer, customHeaders: Record<string, string>): IOrigin {
    const { stage, domain } = this.#settings;
    const isEncrypted = byteLaneEntry(this.#settings).certificate !== undefined;
    // A VPC origin cannot be changed while a distribution uses it (409), so another protocol needs another origin with another name:
    // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-vpc-origins.html, aws/aws-cdk#34629.
    const origin = new VpcOriginResource(this, isEncrypted ? 'ByteLaneTls' : 'ByteLane', {
      endpoint: VpcOriginEndpoint.applicationLoadBalancer(balancer),
      vpcOriginName: `stillage-${stage}-byte-lane${isEncrypted ? '-tls' : ''}`,
      ...(isEncrypted
        ? {
            protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
            httpsPort: 443,
            originSslProtocols: [OriginSslPolicy.TLS_V1_2],
          }
        : { protocolPolicy: OriginProtocolPolicy.HTTP_ONLY, httpPort: 80 }),
    });
    return VpcOrigin.withVpcOrigin(origin, {
      originId: 'byte',
      // The certificate must match this name or the Host header; the VPC origin determines the network path.
      // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/http-502-bad-gateway.html
      domainName: isEncrypted && domain !== undefined ? domain : balancer.loadBalancerDnsName,
      customHeaders,
      // The longest without a higher quota, as a copy is answered when all bytes are copied.
      readTimeout: Duration.seconds(120),
      keepaliveTimeout: Duration.seconds(60),
    });
  }

  #distribution(
    id: string,
    domainNames: string[],
    behaviour: BehaviorOptions,
    other: IOrigin | undefined,
  ): Distribution {
    const { certificate, stage, webAcl } = this.#settings;
    const responseHeadersPolicy = this.#corsOfErrors();
    const defaultBehavior = {
      ...behaviour,
      ...(responseHeadersPolicy && { responseHeadersPolicy }),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      // Compression would change Accept-Encoding, which clients may sign, and the responses.
      compress: false,
    };
    const distribution = new Distribution(this, id, {
      comment: `Stillage ${stage}: ${id.toLowerCase()}`,
      domainNames,
      ...(domainNames.length > 0 &&
        certificate && {
          certificate: this.#certificate(certificate),
          minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
        }),
      ...(webAcl !== undefined && { webAclId: webAcl }),
      httpVersion: HttpVersion.HTTP2,
      defaultBehavior,
      // A distribution needs a behaviour for each origin; the router does not depend on this one.
      additionalBehaviors: other ? { '/_stillage/origin': { ...defaultBehavior, origin: other } } : {},
      // By default CloudFront caches errors for ten seconds, in which a new object would not be found.
      errorResponses: cachedErrors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    });
    this.#name(id, distribution, domainNames);
    Validations.of(distribution).acknowledge(...acknowledged);
    new CfnOutput(this, `${id}Name`, { value: distribution.domainName });
    return distribution;
  }

  /**
   * CORS headers on errors of CloudFront, the load balancer and API Gateway, so that the console can read them. Responses of the service
   * keep their own.
   * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/understanding-response-headers-policies.html
   */
  #corsOfErrors(): ResponseHeadersPolicy | undefined {
    const { consoleOrigins, stage } = this.#settings;
    if (consoleOrigins.length === 0) return undefined;
    this.#cors ??= new ResponseHeadersPolicy(this, 'ConsoleCors', {
      comment: `Stillage ${stage}: the console may read errors`,
      corsBehavior: {
        accessControlAllowCredentials: false,
        accessControlAllowHeaders: ['*'],
        accessControlAllowMethods: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'],
        accessControlAllowOrigins: [...consoleOrigins],
        accessControlExposeHeaders: ['*'],
        originOverride: false,
      },
    });
    return this.#cors;
  }

  #certificate(arn: string): ICertificate {
    return (
      (this.node.tryFindChild('Certificate') as ICertificate | undefined) ??
      Certificate.fromCertificateArn(this, 'Certificate', arn)
    );
  }

  /** Creates DNS records for the names if the settings name a hosted zone. */
  #name(id: string, distribution: Distribution, domainNames: readonly string[]): void {
    const { hostedZone: hostedZoneId, domain } = this.#settings;
    if (hostedZoneId === undefined || domain === undefined) return;
    const zone = HostedZone.fromHostedZoneAttributes(this, `${id}Zone`, { hostedZoneId, zoneName: domain });
    const target = RecordTarget.fromAlias(new CloudFrontTarget(distribution));
    for (const name of domainNames) {
      const label = `${id}${name.startsWith('*') ? 'Wildcard' : 'Apex'}`;
      new ARecord(this, `${label}A`, { zone, recordName: `${name}.`, target });
      new AaaaRecord(this, `${label}Aaaa`, { zone, recordName: `${name}.`, target });
    }
  }

  /** Forwards the whole viewer request and its protocol. */
  #withProtocol(): IOriginRequestPolicy {
    return new OriginRequestPolicy(this, 'WithProtocol', {
      comment: 'Stillage: all of a request, and its protocol',
      headerBehavior: OriginRequestHeaderBehavior.all(viewerProtocolHeader),
      queryStringBehavior: OriginRequestQueryStringBehavior.all(),
      cookieBehavior: OriginRequestCookieBehavior.all(),
    });
  }
}

/** https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html */
const cachedErrors = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

const acknowledged = [
  { id: 'AwsSolutions-CFR1', reason: 'Access depends on signatures and policies, not on countries.' },
  {
    id: 'AwsSolutions-CFR2',
    reason:
      'Every request is signed and verified. Web ACLs inspect bodies for attacks that do not concern stored objects.',
  },
  {
    id: 'AwsSolutions-CFR3',
    reason:
      'Functions and servers log each request. A log of the distribution would contain presigned URLs, which are credentials.',
  },
  {
    id: 'AwsSolutions-CFR4',
    reason:
      "The distribution's own name uses CloudFront's certificate, for which no minimum version can be set; a domain requires TLS 1.2.",
  },
  {
    id: 'AwsSolutions-CFR5',
    reason:
      'Without a domain, the load balancer of the byte lane has no name to certify. It is reached within the network of AWS.',
  },
];
