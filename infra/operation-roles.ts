import { ArnFormat, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Needs } from '../shared/protocol/operation.ts';
import { acknowledgeBlobs, acknowledgeWildcard, type Data, grantsName, grantsOf } from './grants.ts';

/**
 * The roles of the functions of one deployment. Operations that need the same share one: a role each would take a hundred of
 * the five hundred resources that a stack may have, and grant nothing else.
 */
export class OperationRoles extends Construct {
  /** What the names of all log groups of these functions begin with. */
  readonly logPrefix: string;
  readonly #data: Data;
  readonly #roles = new Map<string, Role>();

  constructor(scope: Construct, id: string, props: { readonly data: Data; readonly stage: string }) {
    super(scope, id);
    this.#data = props.data;
    this.logPrefix = `/stillage/${props.stage}`;
  }

  /** The role that grants exactly these needs. */
  of(needs: Needs): Role {
    const name = grantsName(needs);
    const role = this.#roles.get(name) ?? this.#create(name, needs);
    this.#roles.set(name, role);
    return role;
  }

  #create(name: string, needs: Needs): Role {
    const logGroups = Stack.of(this).formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: `${this.logPrefix}/*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const statements = [...grantsOf(needs, this.#data), logging(logGroups), tracing()];
    const role = new Role(this, name, {
      description: `Stillage: the functions whose operations need ${name}`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Operation: new PolicyDocument({ statements }) },
    });
    acknowledgeWildcard(role, logGroups, 'The functions that share a role have a log group each.');
    acknowledgeWildcard(role, '*', 'X-Ray has no resources to name.');
    acknowledgeBlobs(role, needs, this.#data);
    return role;
  }
}

function logging(logGroups: string): PolicyStatement {
  const actions = ['logs:CreateLogStream', 'logs:PutLogEvents'];
  return new PolicyStatement({ sid: 'Log', actions, resources: [logGroups] });
}

function tracing(): PolicyStatement {
  const actions = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'];
  return new PolicyStatement({ sid: 'Trace', actions, resources: ['*'] });
}
