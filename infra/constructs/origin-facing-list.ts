import { Peer, type IPeer } from 'aws-cdk-lib/aws-ec2';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { AwsCustomResource, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './grants.ts';

/**
 * The managed prefix list of the servers by which CloudFront reaches origins. Its id depends on the region.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/LocationsOfEdgeServers.html#managed-prefix-list
 */
const originFacingList = 'com.amazonaws.global.cloudfront.origin-facing';

/**
 * Looks up the id of the list during deployment. A look-up during synthesis would need an account.
 */
export class OriginFacingList extends Construct {
  /** The peer of CloudFront's servers, including VPC origins. */
  readonly peer: IPeer;

  constructor(scope: Construct, id: string, { logGroup }: { readonly logGroup: LogGroup }) {
    super(scope, id);
    const resource = new AwsCustomResource(this, 'LookUp', {
      resourceType: 'Custom::OriginFacingList',
      onUpdate: {
        service: 'EC2',
        action: 'DescribeManagedPrefixLists',
        parameters: { Filters: [{ Name: 'prefix-list-name', Values: [originFacingList] }] },
        outputPaths: [idPath],
        physicalResourceId: PhysicalResourceId.fromResponse(idPath),
      },
      role: this.#role(logGroup),
      installLatestAwsSdk: false,
      logGroup,
    });
    this.peer = Peer.prefixList(resource.getResponseField(idPath));
  }

  /** The log group of the look-up function, which runs for some seconds during a deployment. */
  #role(logGroup: LogGroup): Role {
    const statements = [
      new PolicyStatement({ sid: 'LookUp', actions: ['ec2:DescribeManagedPrefixLists'], resources: ['*'] }),
      new PolicyStatement({
        sid: 'Log',
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    ];
    const role = new Role(this, 'Role', {
      description: 'Stillage: looks up, at deployment, by which servers CloudFront reaches the byte lane',
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { LookUp: new PolicyDocument({ statements }) },
    });
    acknowledgeWildcard(role, '*', 'ec2:DescribeManagedPrefixLists has no resource-level permissions.');
    return role;
  }
}

const idPath = 'PrefixLists.0.PrefixListId';
