import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import { fullDiff, ResourceImpact, type ResourceDifference } from '@aws-cdk/cloudformation-diff';

export interface StackTemplate {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: string } }>>;
}

interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** The stacks of an app by their names, in the order in which `cdk deploy --all` deploys them. */
export type Stacks = ReadonlyMap<string, StackTemplate>;

/** What a deployment did to a running service. */
export interface Changes {
  /** Resources that were replaced by others of their kind, as `stack/logical id`, with their types. */
  readonly replaced: readonly string[];
  /** Stacks that the app does not have any more. `cdk deploy` leaves them running. */
  readonly left: readonly string[];
}

/** A deployment that CloudFormation, or the service of a resource, refuses and that is rolled back; or one that does harm. */
class DeploymentRefused extends Error {}

const specification = loadAwsServiceSpecSync();

function typeOf(name: string): ReturnType<typeof lookUp> {
  const known = types.get(name) ?? lookUp(name);
  types.set(name, known);
  return known;
}
const types = new Map<string, ReturnType<typeof lookUp>>();
const lookUp = (name: string) => specification.lookup('resource', 'cloudFormationType', 'equals', name)[0];

/**
 * What may exist only once, besides what CloudFormation identifies by a name that the template chooses.
 * - A mapping of a stream to a function: ResourceConflictException
 *   (https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html).
 * - A listener at a port: DuplicateListener
 *   (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateListener.html).
 * - Addresses in a network: InvalidSubnet.Conflict (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSubnet.html).
 * - A record of DNS (https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeResourceRecordSets.html).
 * - The alias of a distribution: CNAMEAlreadyExists
 *   (https://docs.aws.amazon.com/cloudfront/latest/APIReference/API_CreateDistribution.html).
 */
const unique: Readonly<Record<string, readonly string[]>> = {
  'AWS::Lambda::EventSourceMapping': ['EventSourceArn', 'FunctionName'],
  'AWS::ElasticLoadBalancingV2::Listener': ['LoadBalancerArn', 'Port'],
  'AWS::EC2::Subnet': ['VpcId', 'CidrBlock'],
  'AWS::Route53::RecordSet': ['HostedZoneId', 'Name', 'Type'],
};

/**
 * The stacks of a deployment that runs, to which `cdk deploy --all` is applied. They refuse what CloudFormation and the services refuse:
 * - to remove or change an export that another stack imports
 *   (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-importvalue.html);
 * - a reference to what is not there;
 * - to make a resource whose name is taken: one that replaces another is made before that one is deleted
 *   (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html);
 * - to change a VPC origin that a distribution uses (https://github.com/aws/aws-cdk/issues/34629).
 *
 * They also refuse what would do harm:
 * - the replacement or removal of what holds state;
 * - a number of tasks in a template, to which each deployment returns what scaling has changed
 *   (https://github.com/aws/containers-roadmap/issues/493);
 * - a weak reference (Fn::GetStackOutput) in what cannot be replaced, where a new value means a replacement: the value is known only after the
 *   change set is made, and until then a replacement is planned (https://github.com/aws/aws-cdk/issues/38829);
 * - a weak reference that stays what it was while what it refers to is replaced: nobody is told
 *   (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html).
 */
export class DeployedStacks {
  readonly #stacks = new Map<string, StackTemplate>();

  constructor(stacks: Stacks) {
    this.deploy(stacks);
  }

  /** @throws DeploymentRefused */
  deploy(app: Stacks): Changes {
    const replaced: string[] = [];
    for (const [name, template] of app) {
      const former = this.#stacks.get(name) ?? { Resources: {} };
      this.#checkReferences(name, template);
      this.#checkExports(name, former, template);
      const differences = differencesOf(former, template);
      for (const [id, difference] of differences) {
        const where = `${name}/${id}`;
        const type = (difference.newResourceType ?? difference.oldResourceType)!;
        if (isReplaced(difference)) {
          if (typeOf(type)?.isStateful) throw new DeploymentRefused(`${where} (${type}) holds state and is replaced`);
          replaced.push(`${where} ${type}`);
        }
        if (difference.isRemoval && typeOf(type)?.isStateful && !isDisposable(type))
          throw new DeploymentRefused(`${where} (${type}) holds state and is removed`);
        this.#checkResource(where, name, id, difference);
      }
      this.#stacks.set(name, template);
    }
    for (const [name, template] of app) this.#checkStale(name, template, replaced);
    return { replaced, left: [...this.#stacks.keys()].filter((name) => !app.has(name)) };
  }

  #checkReferences(name: string, template: StackTemplate): void {
    const exported = new Set([...this.#stacks.values()].flatMap((one) => [...exportsOf(one).keys()]));
    for (const imported of importsOf(template)) {
      if (!exported.has(imported)) throw new DeploymentRefused(`No export named ${imported} found`);
    }
    for (const { StackName, OutputName } of weakReferencesOf(template)) {
      if (this.#stacks.get(StackName)?.Outputs?.[OutputName] === undefined)
        throw new DeploymentRefused(`${name}: the stack ${StackName} has no output ${OutputName}`);
    }
  }

  #checkExports(name: string, former: StackTemplate, template: StackTemplate): void {
    const now = exportsOf(template);
    for (const [exported, value] of exportsOf(former)) {
      if (now.get(exported) === value) continue;
      const user = [...this.#stacks].find(([, one]) => importsOf(one).has(exported))?.[0];
      if (user !== undefined) {
        const done = now.has(exported) ? 'updated' : 'deleted';
        throw new DeploymentRefused(`Export ${exported} cannot be ${done} as it is in use by ${user} (${name})`);
      }
    }
  }

  #checkResource(where: string, stack: string, id: string, difference: ResourceDifference): void {
    const { newValue } = difference;
    if (newValue === undefined) return;
    const { Type, Properties = {} } = newValue as TemplateResource;
    const type = typeOf(Type);
    if (Type === 'AWS::CloudFront::VpcOrigin' && difference.isUpdate)
      throw new DeploymentRefused(`${where}: a VPC origin that is in use cannot be changed (409)`);
    if (Type === 'AWS::ECS::Service' && difference.isUpdate && Properties['DesiredCount'] !== undefined)
      throw new DeploymentRefused(`${where}: a fleet of many is set to ${JSON.stringify(Properties['DesiredCount'])}`);
    const identities = identitiesOf(stack, newValue);
    for (const [property, value] of type?.isStateful || identities.length > 0 ? Object.entries(Properties) : []) {
      const isFixed = (type?.properties[property]?.causesReplacement ?? 'no') !== 'no';
      if (isFixed && JSON.stringify(value).includes('"Fn::GetStackOutput"'))
        throw new DeploymentRefused(`${where}: ${property} is a weak reference, by which a replacement is planned`);
    }
    if (!difference.isAddition && !isReplaced(difference)) return;
    for (const identity of identities) {
      for (const [other, template] of this.#stacks) {
        for (const [otherId, resource] of Object.entries(template.Resources)) {
          const isItself = other === stack && otherId === id && !isReplaced(difference);
          if (!isItself && identitiesOf(other, resource).includes(identity))
            throw new DeploymentRefused(`${where}: ${identity} already exists: ${other}/${otherId}`);
        }
      }
    }
  }

  /** Nothing refers weakly to what was replaced and does not know it. */
  #checkStale(name: string, template: StackTemplate, replaced: readonly string[]): void {
    const gone = replaced.map((one) => one.split(' ')[0]!);
    for (const { StackName, OutputName } of weakReferencesOf(template)) {
      const value = JSON.stringify(this.#stacks.get(StackName)!.Outputs![OutputName]!.Value);
      const stale = gone.find((one) => one.startsWith(`${StackName}/`) && value.includes(`"${one.split('/')[1]}"`));
      if (stale !== undefined) throw new DeploymentRefused(`${name} goes on using ${stale}, which was replaced`);
    }
  }
}

function differencesOf(former: StackTemplate, template: StackTemplate): [string, ResourceDifference][] {
  const differences: [string, ResourceDifference][] = [];
  fullDiff(former, template).resources.forEachDifference((id, difference) => differences.push([id, difference]));
  return differences;
}

function isReplaced({ changeImpact }: ResourceDifference): boolean {
  return changeImpact === ResourceImpact.WILL_REPLACE || changeImpact === ResourceImpact.MAY_REPLACE;
}

/** Logs of what is removed, and queues of what it left undone. */
function isDisposable(type: string): boolean {
  return type === 'AWS::Logs::LogGroup' || type === 'AWS::SQS::Queue';
}

function exportsOf({ Outputs = {} }: StackTemplate): ReadonlyMap<string, string> {
  return new Map(
    Object.values(Outputs).flatMap(({ Export, Value }) => (Export ? [[Export.Name, JSON.stringify(Value)]] : [])),
  );
}

function importsOf(template: StackTemplate): ReadonlySet<string> {
  return new Set([...JSON.stringify(template).matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name]) => name!));
}

interface WeakReference {
  readonly StackName: string;
  readonly OutputName: string;
}

function weakReferencesOf(template: StackTemplate): readonly WeakReference[] {
  return [...JSON.stringify(template).matchAll(/"Fn::GetStackOutput":(\{[^{}]*\})/g)].map(
    ([, reference]) => JSON.parse(reference!) as WeakReference,
  );
}

/** The names by which a resource is the only one: what its template calls it, and {@link unique}. */
function identitiesOf(stack: string, { Type, Properties = {} }: TemplateResource): readonly string[] {
  const type = typeOf(Type);
  const { primaryIdentifier = [], properties = {} } = type ?? {};
  const identities: string[] = [];
  const isNamed =
    primaryIdentifier.length > 0 &&
    primaryIdentifier.every((name) => Properties[name] !== undefined && name in properties);
  for (const names of [isNamed ? primaryIdentifier : [], unique[Type] ?? []]) {
    if (names.length === 0) continue;
    const values = JSON.stringify(names.map((name) => Properties[name]));
    // What its own stack makes is known there only.
    const within = /"(Ref|Fn::GetAtt)":/.test(values) ? ` of ${stack}` : '';
    identities.push(`${Type} ${values}${within}`);
  }
  const { DistributionConfig: { Aliases = [] } = {} } = Properties as { DistributionConfig?: { Aliases?: string[] } };
  return [...identities, ...Aliases.map((alias) => `the alias ${alias}`)];
}
