import type { Template } from 'aws-cdk-lib/assertions';
import { resources } from '../infra/synthesis.ts';

/*
 * The way from a distribution to a load balancer inside a network, as CloudFront's documentation and those who have gone it describe it:
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/private-content-vpc-origins.html
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/http-502-bad-gateway.html
 * https://github.com/londonaicentre/FLIP/pull/473 (a rule for the network's own addresses matches none of this traffic)
 * https://github.com/braintrustdata/terraform-aws-braintrust-data-plane/pull/290 (the list takes 55 of the 60 rules of a group)
 */

const originFacingList = 'com.amazonaws.global.cloudfront.origin-facing';
/** https://docs.aws.amazon.com/vpc/latest/userguide/working-with-aws-managed-prefix-lists.html */
const listWeight = 55;
const maximumRules = 60;

type Values = Readonly<Record<string, unknown>>;

interface Rule {
  readonly FromPort: number;
  readonly ToPort: number;
  readonly SourcePrefixListId?: unknown;
}

/** The parts of a request that CloudFront examines before it connects. */
export interface Connection {
  /** The domain name of the origin. */
  readonly originName: string;
  /** The Host header that is forwarded; undefined: the origin's name is. */
  readonly host: string | undefined;
}

/** How the distribution of a template reaches the load balancer of another. */
export class VpcOriginPath {
  readonly #streaming: Template;
  readonly #origin: Values;
  /** The host names in the certificates of the deployment: those of its distributions. */
  readonly #certified: readonly string[];

  constructor(streaming: Template, edge: Template) {
    this.#streaming = streaming;
    this.#certified = resources(edge, 'AWS::CloudFront::Distribution').flatMap(
      ([, { Properties }]) => (Properties['DistributionConfig'] as { Aliases?: readonly string[] }).Aliases ?? [],
    );
    const [, { Properties }] = resources(edge, 'AWS::CloudFront::VpcOrigin')[0]!;
    this.#origin = Properties['VpcOriginEndpointConfig'] as Values;
  }

  /** The status that CloudFront answers with itself, as it cannot connect; undefined if it can. */
  fault(connection: Connection): number | undefined {
    const isEncrypted = this.#origin['OriginProtocolPolicy'] === 'https-only';
    const port = Number(isEncrypted ? (this.#origin['HTTPSPort'] ?? 443) : (this.#origin['HTTPPort'] ?? 80));
    // Packets that a security group does not admit are dropped silently.
    if (!this.#admits(port) || !this.#hasGateway()) return 504;
    if (!this.#listens(port, isEncrypted ? 'HTTPS' : 'HTTP')) return 502;
    return isEncrypted && !this.#isCertified(connection) ? 502 : undefined;
  }

  #admits(port: number): boolean {
    const lists = this.#rules().filter(({ SourcePrefixListId }) => SourcePrefixListId !== undefined);
    if (lists.length * listWeight > maximumRules) throw new Error('RulesPerSecurityGroupLimitExceeded');
    return lists.some(
      ({ FromPort, ToPort, SourcePrefixListId }) =>
        FromPort <= port && port <= ToPort && this.#isOriginFacing(SourcePrefixListId),
    );
  }

  /** Returns the inbound rules of the load balancer's security groups. */
  #rules(): readonly Rule[] {
    const [, balancer] = resources(this.#streaming, 'AWS::ElasticLoadBalancingV2::LoadBalancer')[0]!;
    const groups = new Set((balancer.Properties['SecurityGroups'] as unknown[]).map((group) => referred(group)));
    const within = resources(this.#streaming, 'AWS::EC2::SecurityGroup')
      .filter(([id]) => groups.has(id))
      .flatMap(([, { Properties }]) => (Properties['SecurityGroupIngress'] ?? []) as readonly Rule[]);
    const beside = resources(this.#streaming, 'AWS::EC2::SecurityGroupIngress')
      .filter(([, { Properties }]) => groups.has(referred(Properties['GroupId'])))
      .map(([, { Properties }]) => Properties as unknown as Rule);
    return [...within, ...beside];
  }

  /** Whether a value is the result of a look-up by the name of the prefix list, whose id differs by region. */
  #isOriginFacing(value: unknown): boolean {
    const [id, path] = (value as { 'Fn::GetAtt'?: readonly [string, string] })['Fn::GetAtt'] ?? [];
    const found = resources(this.#streaming).find(([one]) => one === id);
    if (found === undefined || path !== 'PrefixLists.0.PrefixListId') return false;
    const { service, action, parameters } = JSON.parse(String(found[1].Properties['Create'])) as {
      service: string;
      action: string;
      parameters: { Filters: { Name: string; Values: string[] }[] };
    };
    const isNamed = parameters.Filters.some(
      ({ Name, Values }) => Name === 'prefix-list-name' && Values.length === 1 && Values[0] === originFacingList,
    );
    return service === 'EC2' && action === 'DescribeManagedPrefixLists' && isNamed;
  }

  /** The network must have an internet gateway, though nothing of this passes through it. */
  #hasGateway(): boolean {
    return resources(this.#streaming, 'AWS::EC2::VPCGatewayAttachment').length > 0;
  }

  #listens(port: number, protocol: string): boolean {
    return resources(this.#streaming, 'AWS::ElasticLoadBalancingV2::Listener').some(
      ([, { Properties }]) => Properties['Port'] === port && Properties['Protocol'] === protocol,
    );
  }

  /** One of the two names must be in the certificate. */
  #isCertified({ originName, host }: Connection): boolean {
    return [originName, host?.replace(/:\d+$/, '')].some(
      (wanted) => wanted !== undefined && this.#certified.some((name) => covers(name, wanted)),
    );
  }
}

/** A wildcard stands for one label. */
function covers(name: string, wanted: string): boolean {
  return name === wanted || (name.startsWith('*.') && name.slice(2) === wanted.slice(wanted.indexOf('.') + 1));
}

/** The logical id that a value refers to. */
function referred(value: unknown): string {
  const { Ref, 'Fn::GetAtt': attribute } = value as { Ref?: string; 'Fn::GetAtt'?: readonly [string, string] };
  return Ref ?? attribute?.[0] ?? '';
}
