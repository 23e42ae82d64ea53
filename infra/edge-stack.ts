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
import { keptHeaders, viewerProtocolHeader } from '../shared/protocol/kept-headers.ts';
import { byteLaneEntry, type Settings } from './settings.ts';

export interface EdgeStackProps extends StackProps {
  readonly settings: Settings;
  /** The code of the router. */
  readonly router: string;
  readonly api: SpecRestApi;
  /** Of the byte lane, if there is one. */
  readonly balancer: ApplicationLoadBalancer | undefined;
  readonly edgeSecret: Secret;
}

/** The ends of the lanes, as the router calls them. */
type Origins = Readonly<Record<'control' | 'byte', IOrigin | undefined>>;

/**
 * The distribution, which nothing is cached in, and the router in it. A behaviour is chosen by the path of the client before the
 * router runs, and a path says nothing of the operation: so there is one behaviour, and the router chooses the origin. Websites
 * have a distribution of their own, since they answer to plain HTTP as well.
 */
export class EdgeStack extends Stack {
  readonly distribution: Distribution;
  readonly websites: Distribution | undefined;
  /** What clients are configured with. */
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
        // The API knows its own name alone, and the router keeps the client's.
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
        // The API refuses the Host of a viewer, which this distribution forwards: the router sends it nothing from here.
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
    // A reference, which CloudFormation resolves as it deploys: the template holds no secret.
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
      // A function has answered by then, or has been ended.
      readTimeout: Duration.seconds(30),
    });
    return { control, byte: balancer && this.#byteLane(balancer, customHeaders) };
  }

  #byteLane(balancer: ApplicationLoadBalancer, customHeaders: Record<string, string>): IOrigin {
    const { stage, domain } = this.#settings;
    const isEncrypted = byteLaneEntry(this.#settings).certificate !== undefined;
    // A VPC origin cannot be changed while a distribution uses it (409), so another protocol is another origin, under another name:
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
      // The certificate must be for this name, or for that in the Host header; the way to the load balancer is that of the VPC origin.
      // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/http-502-bad-gateway.html
      domainName: isEncrypted && domain !== undefined ? domain : balancer.loadBalancerDnsName,
      customHeaders,
      // The longest that needs no higher quota: a copy of many bytes is answered when it is done.
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
      // It would change what clients sign (Accept-Encoding), and what they get.
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
      // An origin belongs to a distribution by a behaviour of its own; the router does not depend on it.
      additionalBehaviors: other ? { '/_stillage/origin': { ...defaultBehavior, origin: other } } : {},
      // Otherwise it answers errors from memory for ten seconds: what was created would not be there.
      errorResponses: cachedErrors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    });
    this.#name(id, distribution, domainNames);
    Validations.of(distribution).acknowledge(...acknowledged);
    new CfnOutput(this, `${id}Name`, { value: distribution.domainName });
    return distribution;
  }

  /**
   * What the console is told by errors of CloudFront, the load balancer and API Gateway, which know nothing of origins. To what the
   * service itself said of them, nothing is added.
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

  /** Enters the names into the DNS, where the settings say which zone that is. */
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

  /** All that the viewer sends, and whether it came over TLS. */
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
  { id: 'AwsSolutions-CFR1', reason: 'Who may ask is said by signatures and policies, not by countries.' },
  {
    id: 'AwsSolutions-CFR2',
    reason:
      'Every request is signed and verified; a web ACL reads bodies for attacks on programs that objects are not.',
  },
  {
    id: 'AwsSolutions-CFR3',
    reason:
      'Functions and servers log each request; a log of the distribution would hold presigned URLs, which are keys.',
  },
  {
    id: 'AwsSolutions-CFR4',
    reason:
      "The distribution's own name has the certificate of CloudFront, which sets no lowest version; a domain has TLS 1.2.",
  },
  {
    id: 'AwsSolutions-CFR5',
    reason:
      'Without a domain, the byte lane is reached inside the network of the cloud, at a load balancer that has no name to certify.',
  },
];
