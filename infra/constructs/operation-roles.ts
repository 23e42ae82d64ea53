import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Needs } from '../../shared/protocol/operation.ts';
import { acknowledgeBlobs, acknowledgeWildcard, type Data, grantsName, grantsOf } from './grants.ts';

/**
 * The roles of a deployment's functions. Operations with the same needs share a role: separate ones would take a hundred of the 500
 * resources of a stack, and grant the same.
 */
export class OperationRoles extends Construct {
  readonly #data: Data;
  readonly #log: LogGroup;
  readonly #roles = new Map<string, Role>();

  constructor(scope: Construct, id: string, props: { readonly data: Data; readonly log: LogGroup }) {
    super(scope, id);
    this.#data = props.data;
    this.#log = props.log;
  }

  /** Returns the role that grants exactly these needs. */
  of(needs: Needs): Role {
    const name = grantsName(needs);
    const role = this.#roles.get(name) ?? this.#create(name, needs);
    this.#roles.set(name, role);
    return role;
  }

  #create(name: string, needs: Needs): Role {
    const statements = [...grantsOf(needs, this.#data), logging(this.#log), tracing()];
    const role = new Role(this, name, {
      description: `Stillage: the functions whose operations need ${name}`,
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Operation: new PolicyDocument({ statements }) },
    });
    acknowledgeWildcard(role, '*', 'X-Ray has no resource-level permissions.');
    acknowledgeBlobs(role, needs, this.#data);
    return role;
  }
}

function logging(log: LogGroup): PolicyStatement {
  const actions = ['logs:CreateLogStream', 'logs:PutLogEvents'];
  return new PolicyStatement({ sid: 'Log', actions, resources: [log.logGroupArn] });
}

function tracing(): PolicyStatement {
  const actions = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'];
  return new PolicyStatement({ sid: 'Trace', actions, resources: ['*'] });
}
