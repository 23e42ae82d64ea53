import { CfnResource, RemovalPolicy } from 'aws-cdk-lib';
import {
  CfnSubnet,
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type ISubnet,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/**
 * The network of the byte lane, in the zones of its stack. Gateway endpoints, which are free, lead to table and blobs. Servers have public
 * addresses, which cost less than a NAT gateway or interface endpoints for images, logs and secrets; their security group accepts
 * connections of the load balancer only.
 */
export class Network extends Vpc {
  constructor(scope: Construct, id: string, { logRetentionDays }: { readonly logRetentionDays: RetentionDays }) {
    super(scope, id, {
      ipAddresses: IpAddresses.cidr('10.72.0.0/16'),
      natGateways: 0,
      // The default security group is unused, and restricting it would need a custom resource.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: 'servers', subnetType: SubnetType.PUBLIC, cidrMask: 20 },
        { name: 'balancer', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
      ],
      gatewayEndpoints: {
        Blobs: { service: GatewayVpcEndpointAwsService.S3 },
        Table: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    // Above the addresses that releases before 0.3 gave to their first and second zone, whichever these were.
    for (const subnet of this.publicSubnets)
      placeInZone(subnet, 'Servers', (zone) => `10.72.${64 + 16 * (zone - 1)}.0/20`);
    for (const subnet of this.isolatedSubnets) placeInZone(subnet, 'Balancer', (zone) => `10.72.${192 + zone}.0/24`);
    const logGroup = new LogGroup(scope, 'RefusedLog', {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.addFlowLog('Refused', {
      destination: FlowLogDestination.toCloudWatchLogs(logGroup),
      trafficType: FlowLogTrafficType.REJECT,
    });
  }
}

/**
 * Names a subnet, and what belongs to it, by the number of its zone's id, and gives it addresses of that zone alone. The CDK counts zones
 * instead: then a subnet whose zone changes is replaced by one with the same addresses, which EC2 refuses
 * (https://github.com/aws/aws-cdk/issues/28369).
 */
function placeInZone(subnet: ISubnet, name: string, addresses: (zone: number) => string): void {
  const id = subnet.availabilityZone;
  const zone = Number(id.slice(id.indexOf('-az') + 3));
  for (const resource of subnet.node.findAll().filter(CfnResource.isCfnResource)) {
    resource.overrideLogicalId(`Network${name}Zone${zone}${resource.node.id}`);
    if (!(resource instanceof CfnSubnet)) continue;
    resource.cidrBlock = addresses(zone);
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-subnet.html
    resource.availabilityZoneId = id;
    resource.availabilityZone = undefined;
  }
}
