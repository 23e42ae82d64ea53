import { Command, type Option } from 'commander';
import type { Ask } from '../../admin/commands.ts';
import { OperatorError } from '../operator-error.ts';
import { inCloud, onDataDirectory, type Administrator, type ServiceOptions } from './administrators.ts';
import { setting } from './setting.ts';
import { defaultOptions } from '../local/settings.ts';
import { withDeps, type Deps } from './data-deps.ts';
import type { Report } from './report.ts';

/** One command of a family: `stillage <family> <verb>`. */
interface Described {
  readonly name: string;
  readonly does: string;
  /** `['<name>', 'what it is']`; `[name]` may be left out. */
  readonly operands?: readonly (readonly [syntax: string, description: string])[];
  readonly options?: readonly Option[];
  /** What one would type behind `stillage`. */
  readonly examples: readonly string[];
}

/** A command of administration, which works on a data directory and in the cloud alike. */
export interface Verb<Options> extends Described {
  /** Options by which it is told how the service on a data directory was started. A deployment in the cloud knows that itself. */
  readonly service?: readonly Option[];
  /** @throws OperatorError, which is shown as one line */
  readonly act: (ask: Ask, operands: readonly string[], options: Options) => Promise<Report | string>;
}

/** A command that works on the data directory itself. */
export interface LocalVerb<Options> extends Described {
  /** @throws OperatorError, S3Error and what the deps refuse: each is shown as one line */
  readonly act: (deps: Deps, operands: readonly string[], options: Options) => Promise<Report | string>;
}

/** `stillage <name>` with its verbs. */
export function family(name: string, description: string, verbs: readonly Command[]): Command {
  const command = new Command(name).description(description).helpCommand(false);
  for (const verb of verbs) command.addCommand(verb);
  return command;
}

/** A command that asks for its work where the operator says, and prints what came of it, with `--json` as JSON. */
export function verb<Options extends object = object>({ service = [], act, ...described }: Verb<Options>): Command {
  const command = describe(described, service)
    .addOption(
      setting(
        '--cloud <deployment>',
        'a deployment in the cloud instead: its stage, or the ARN of its function',
        'CLOUD',
      ),
    )
    .option('--aws-region <region>', 'where it is (default: as the AWS CLI finds it)');
  return command.action(async () => {
    const given = command.opts<Options>();
    const administrator = await administratorFor(command, service);
    try {
      print(await act(administrator.ask, command.args, given), command);
    } finally {
      await administrator.close();
    }
  });
}

/** A command that opens the data directory, does its work and prints what came of it, with `--json` as JSON. */
export function localVerb<Options extends object = object>({ act, ...described }: LocalVerb<Options>): Command {
  const command = describe(described, []);
  return command.action(async () => {
    const { data } = command.opts<{ readonly data: string }>();
    print(await withDeps(data, (deps) => act(deps, command.args, command.opts<Options>())), command);
  });
}

function describe(
  { name, does, operands = [], options = [], examples }: Described,
  service: readonly Option[],
): Command {
  const command = new Command(name).description(does);
  for (const [syntax, description] of operands) command.argument(syntax, description);
  for (const option of [...options, ...service]) command.addOption(option);
  return command
    .option('--json', 'print JSON')
    .addOption(setting('--data <dir>', 'data directory of the service, running or not', 'DATA', defaultOptions.data))
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  stillage ${example}`).join('\n')}`);
}

/** What was said on the command line comes before what the environment says. @throws OperatorError */
async function administratorFor(command: Command, service: readonly Option[]): Promise<Administrator> {
  const { data, cloud, awsRegion, ...options } = command.opts<
    ServiceOptions & { readonly data: string; readonly cloud?: string; readonly awsRegion?: string }
  >();
  const isSaid = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  if (cloud === undefined || (isSaid('data') && !isSaid('cloud'))) {
    if (awsRegion !== undefined) throw new OperatorError('--aws-region is of no use without --cloud');
    return onDataDirectory(data, options);
  }
  if (isSaid('data')) throw new OperatorError('--data and --cloud cannot be used together');
  if (!isSaid('cloud') && command.getOptionValueSource('data') === 'env') {
    throw new OperatorError('STILLAGE_DATA and STILLAGE_CLOUD are both set; say --data or --cloud');
  }
  const useless = service.find((option) => isSaid(option.attributeName()));
  if (useless) throw new OperatorError(`${useless.long}: a deployment in the cloud knows that itself`);
  return inCloud(cloud, awsRegion);
}

function print(report: Report | string, command: Command): void {
  const { data, text } = typeof report === 'string' ? { data: { message: report }, text: report } : report;
  const { json } = command.opts<{ readonly json?: true }>();
  process.stdout.write(`${json === true ? JSON.stringify(data, undefined, 2) : text}\n`);
}
