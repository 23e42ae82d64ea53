/** A statement of a role, whose resources are named by {@link thingOf}. */
export interface Grant {
  readonly actions: readonly string[];
  /** `table`, `blobs`, `queue Lifecycle`, …; `*` is everything. */
  readonly things: readonly string[];
  /** An account id: resources of this account are excluded. */
  readonly foreignTo?: string;
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: { readonly StringNotEquals?: { readonly 'aws:ResourceAccount'?: string } };
}

interface Template {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }>
  >;
}

/** A function or task with a role in a template. */
export interface Grantee {
  readonly name: string;
  /** Functions that need the same share one. */
  readonly role: string;
  readonly grants: readonly Grant[];
}

/** A function of a template: the grants of its role, and its environment. */
export interface DeployedFunction extends Grantee {
  readonly environment: Readonly<Record<string, unknown>>;
}

/** The functions of a template, by the ids of their constructs. */
export function deployedFunctions(template: object): ReadonlyMap<string, DeployedFunction> {
  const { Resources } = template as Template;
  const all = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Function');
  return new Map(
    all.map(([id, { Properties = {} }]) => {
      const name = id.replace(/Function[0-9A-F]{8}$/, '');
      const { 'Fn::GetAtt': role } = Properties['Role'] as { 'Fn::GetAtt': [string, string] };
      const { Policies } = Resources[role[0]]!.Properties as {
        Policies: { PolicyDocument: { Statement: Statement[] } }[];
      };
      const grants = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.map(grantOf));
      const { Variables } = Properties['Environment'] as { Variables: Record<string, unknown> };
      return [name, { name, role: role[0], grants, environment: Variables }];
    }),
  );
}

/**
 * Tasks of a template, by the policy of their role.
 * @param template of the streaming stack
 * @param task the id of their definition: `Task` are the servers of the byte lane
 */
export function deployedTask(template: object, name: string, task = 'Task'): Grantee {
  const { Resources } = template as Template;
  const policies = Object.entries(Resources).filter(
    ([id, { Type }]) => Type === 'AWS::IAM::Policy' && id.startsWith(`${task}TaskRole`),
  );
  const grants = policies.flatMap(([, { Properties }]) => {
    const { PolicyDocument } = Properties as { PolicyDocument: { Statement: Statement[] } };
    return PolicyDocument.Statement.map(grantOf);
  });
  return { name, role: name, grants };
}

function grantOf({ Effect, Action, Resource, Condition }: Statement): Grant {
  if (Effect !== 'Allow') throw new Error('only grants are understood');
  const foreignTo = Condition?.StringNotEquals?.['aws:ResourceAccount'];
  return {
    actions: [Action].flat(),
    things: [Resource].flat().map(thingOf),
    ...(foreignTo !== undefined && { foreignTo }),
  };
}

/**
 * Returns the name of a resource that a template refers to.
 * @throws Error if it is unknown
 */
export function thingOf(reference: unknown): string {
  const text = JSON.stringify(reference);
  if (text === '"*"') return '*';
  const found = things.find(([pattern]) => pattern.test(text));
  if (found === undefined) throw new Error(`a template speaks of ${text}`);
  const [, log] = /log-group:([^:]+):\*/.exec(text) ?? [];
  if (log !== undefined) return `log ${log}`;
  return found[1] || (/((?<!\w)\w*?DeadLetters|Lifecycle)[0-9A-F]{8}/.exec(text)?.[1] ?? '');
}

/** From the most specific on. */
const things: readonly (readonly [RegExp, string])[] = [
  [/Table\w*StreamArn|:table\/.*\/stream\//, 'stream'],
  [/Table|:table\//, 'table'],
  [/Blobs.*\/blobs\/\*/, 'blobs'],
  [/Blobs/, 'blob bucket'],
  [/EdgeSecret/, 'edge secret'],
  [/Secret/, 'secret'],
  [/arn:aws:sns/, 'topics'],
  [/Log[0-9A-F]{8}|log-group/, 'logs'],
  [/(DeadLetters|Lifecycle)[0-9A-F]{8}/, ''],
];
