import type { Template } from 'aws-cdk-lib/assertions';
import { resources } from '../infra/synthesis.ts';

interface Output {
  readonly Value: unknown;
  readonly Export?: { readonly Name: string };
}

/** The names of deployed resources, by the beginning of their logical ids. */
export type PhysicalNames = Readonly<Record<string, string>>;

/** Resolves values of a template, as CloudFormation does at a deployment. */
export class TemplateValues {
  readonly #outputs: ReadonlyMap<string, unknown>;
  readonly #names: PhysicalNames;

  constructor(templates: readonly Template[], names: PhysicalNames) {
    const outputs = templates.flatMap((template) =>
      Object.entries((template.toJSON() as { Outputs?: Record<string, Output> }).Outputs ?? {}),
    );
    this.#outputs = new Map(outputs.map(([id, { Value, Export }]) => [Export?.Name ?? id, Value]));
    this.#names = names;
  }

  /** @throws Error for an unknown intrinsic function */
  textOf(value: unknown): string {
    if (typeof value === 'string') return value;
    const [[kind, argument]] = Object.entries(value as Record<string, unknown>) as [[string, unknown]];
    if (kind === 'Fn::ImportValue') return this.textOf(this.#outputs.get(String(argument)));
    // Logical ids end with a hash, so no two stacks have outputs of one name.
    if (kind === 'Fn::GetStackOutput')
      return this.textOf(this.#outputs.get((argument as { OutputName: string }).OutputName));
    if (kind === 'Fn::Join') {
      const [separator, parts] = argument as [string, unknown[]];
      return parts.map((part) => this.textOf(part)).join(separator);
    }
    const id = String(kind === 'Ref' ? argument : (argument as string[])[0]);
    const found = Object.entries(this.#names).find(([prefix]) => new RegExp(`^${prefix}[0-9A-F]{8}$`).test(id));
    if (found === undefined) throw new Error(`nothing is known of ${kind} ${id}`);
    return found[1];
  }

  /** The environment of a function of the control lane. */
  functionEnvironment(api: Template, name: string): Record<string, string> {
    const found = resources(api, 'AWS::Lambda::Function').find(
      ([, { Properties }]) => Properties['Description'] === `Stillage: ${name}`,
    );
    const { Variables } = found![1].Properties['Environment'] as { Variables: Record<string, unknown> };
    return Object.fromEntries(Object.entries(Variables).map(([key, value]) => [key, this.textOf(value)]));
  }

  /** The environment of a server of the byte lane. */
  serverEnvironment(streaming: Template): Record<string, string> {
    const task = resources(streaming, 'AWS::ECS::TaskDefinition')[0]![1];
    const definitions = task.Properties['ContainerDefinitions'] as {
      Environment: { Name: string; Value: unknown }[];
    }[];
    return Object.fromEntries(definitions[0]!.Environment.map(({ Name, Value }) => [Name, this.textOf(Value)]));
  }
}
