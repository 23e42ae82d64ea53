import { Peer, type IPeer } from 'aws-cdk-lib/aws-ec2';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { AwsCustomResource, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './grants.ts';

/**
 * The prefix list of the servers by which CloudFront reaches origins. Its id differs from region to region.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/LocationsOfEdgeServers.html#managed-prefix-list
 */
const originFacingList = 'com.amazonaws.global.cloudfront.origin-facing';

/**
 * Looks up the id of that list while the stack is deployed: an app that looked it up before could not be synthesised without an account.
 */
export class OriginFacingList extends Construct {
  /** Whoever CloudFront sends, VPC origins included. */
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

  /** Of the function that looks it up, which runs for some seconds of a deployment. */
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
    acknowledgeWildcard(role, '*', 'To look up prefix lists is a right on no resource.');
    return role;
  }
}

const idPath = 'PrefixLists.0.PrefixListId';
