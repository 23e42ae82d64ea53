import { Command, type Option } from 'commander';
import type { Ask } from '../../functions/admin/command.ts';
import { UsageError } from '../../shared/errors/operator-error.ts';
import { inCloud, onDataDirectory, onSharedTable, overHttp, type Administrator } from './administrators.ts';
import type { ServiceOptions } from '../server/administration/service-settings.ts';
import { examplesHelp, headings } from './help.ts';
import type { Operand } from './operands.ts';
import { readAs, region } from '../../shared/command-line/option-values.ts';
import { option, startOption } from '../../shared/command-line/option.ts';
import { withDeps, type Deps } from './data-deps.ts';
import { cloudOption, endpointOption, tokenFileOption } from './settings.ts';
import type { Report } from '../../shared/command-line/report.ts';

/** The name of a command, and what it does. */
export interface Named {
  readonly name: string;
  readonly does: string;
}

/** A command of a family: `stillage <family> <verb>`. */
interface Described extends Named {
  readonly operands?: readonly Operand[];
  readonly options?: readonly Option[];
  /** Command lines without the leading `stillage`. */
  readonly examples: readonly string[];
}

/** An administrative command, which works on a data directory and on a cloud deployment. */
export interface Verb<Options> extends Described {
  /** Options that the service of a data directory was started with. A cloud deployment knows its own. */
  readonly service?: readonly Option[];
  /** False: the API of operators does not have it. */
  readonly isOverHttp?: false;
  /** @throws OperatorError, which is shown as one line */
  readonly act: (ask: Ask, operands: readonly string[], options: Options) => Promise<Report | string>;
}

/** A command that runs on a data directory only. */
export interface LocalVerb<Options> extends Described {
  /** @throws OperatorError, S3Error or AccountRefusal: each is shown as one line */
  readonly act: (deps: Deps, operands: readonly string[], options: Options) => Promise<Report | string>;
}

/** A command that opens no data directory. */
export interface PlainVerb<Options> extends Described {
  /** @throws OperatorError, which is shown as one line */
  readonly act: (operands: readonly string[], options: Options) => Promise<Report | string>;
}

/** Returns `stillage <name>` with its verbs. */
export function family({ name, does }: Named, verbs: readonly Command[]): Command {
  const command = new Command(name).description(does).helpCommand(false);
  for (const verb of verbs) command.addCommand(verb);
  return command;
}

/** Returns a command that runs on a data directory or a cloud deployment and prints its report, with `--json` as JSON. */
export function verb<Options extends object = object>({
  service = [],
  isOverHttp,
  act,
  ...described
}: Verb<Options>): Command {
  const command = describe(described, service);
  const cloud = [
    cloudOption(),
    option('--aws-region <region>', 'region of the deployment', region).default(undefined, "the AWS CLI's"),
  ];
  const many = [
    startOption('table', 'table of the service in PostgreSQL'),
    startOption('keyFile', 'file with the key of the service, for --table'),
  ];
  const remote = [endpointOption(), tokenFileOption()];
  for (const one of cloud) command.addOption(one.helpGroup(headings.cloud));
  for (const one of many) command.addOption(one.helpGroup(headings.many));
  if (isOverHttp !== false) for (const one of remote) command.addOption(one.helpGroup(headings.remote));
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

/** Returns a command that runs on a data directory only and prints its report, with `--json` as JSON. */
export function localVerb<Options extends object = object>({ act, ...described }: LocalVerb<Options>): Command {
  const command = describe(described, []);
  return command.action(async () => {
    const { data } = command.opts<{ readonly data: string }>();
    print(await withDeps(data, (deps) => act(deps, command.args, command.opts<Options>())), command);
  });
}

/** Returns a command that opens no data directory and prints its report, with `--json` as JSON. */
export function plainVerb<Options extends object = object>({ act, ...described }: PlainVerb<Options>): Command {
  const command = describe(described, undefined);
  return command.action(async () => print(await act(command.args, command.opts<Options>()), command));
}

/** @param service options of the service besides that for its data directory; undefined: the command needs none of them */
function describe(
  { name, does, operands = [], options = [], examples }: Described,
  service: readonly Option[] | undefined,
): Command {
  const command = new Command(name).description(does);
  for (const [syntax, description, type] of operands) {
    command.argument(syntax, description, (text: string) => readAs(type, text));
  }
  for (const one of options) command.addOption(one);
  command.option('--json', 'print JSON');
  const ofMachine = service === undefined ? [] : [dataOption(), ...service];
  for (const one of ofMachine) command.addOption(one.helpGroup(headings.machine));
  return command.addHelpText('after', examplesHelp(examples));
}

/** Returns the option for the data directory of a service. */
export function dataOption(): Option {
  return startOption('data', 'data directory of the service, running or not');
}

/** Returns `--limit` for a command that checks what the service does. */
export function limitOfService(): Option {
  return startOption('limit', 'limit that the service was started with');
}

/** Ways to reach a service, by the option that names it. */
const places = { data: '--data', table: '--table', cloud: '--cloud', endpoint: '--endpoint' } as const;

/**
 * Opens the data directory, the deployment or the service behind an endpoint. The command line takes precedence over the environment.
 * @throws OperatorError
 */
async function administratorFor(command: Command, service: readonly Option[]): Promise<Administrator> {
  const { data, table, keyFile, cloud, awsRegion, endpoint, tokenFile, ...options } = command.opts<
    ServiceOptions & Placed
  >();
  const place = placeOf(command);
  if (awsRegion !== undefined && place !== 'cloud') throw new UsageError('--aws-region needs --cloud');
  const isSaid = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  if (isSaid('tokenFile') && place !== 'endpoint') throw new UsageError('--token-file needs --endpoint');
  if (isSaid('keyFile') && place !== 'table') throw new UsageError('--key-file needs --table');
  if (place === 'data') return onDataDirectory(data, options);
  if (place === 'table') {
    if (keyFile === undefined) throw new UsageError('--table needs --key-file, the file with the key of the service');
    return onSharedTable(table!, keyFile, options);
  }
  const refused = service.find((one) => isSaid(one.attributeName()));
  if (refused)
    throw new UsageError(`${refused.long} cannot be used with ${places[place]}: a deployment has its own setting`);
  if (place === 'cloud') return inCloud(cloud!, awsRegion);
  if (tokenFile === undefined)
    throw new UsageError('--endpoint needs --token-file, the file with the token of an operator');
  return overHttp(endpoint!, tokenFile);
}

type Place = keyof typeof places;

interface Placed {
  readonly data: string;
  readonly table?: string;
  readonly keyFile?: string;
  readonly cloud?: string;
  readonly awsRegion?: string;
  readonly endpoint?: string;
  readonly tokenFile?: string;
}

/** Returns which place is meant, if only one is. @throws UsageError */
function placeOf(command: Command): Place {
  const names = Object.keys(places) as Place[];
  for (const [source, nameOf, problem] of [
    ['cli', (name: Place) => places[name], () => 'cannot be used together'],
    ['env', variableOf, (one: Place, other: Place) => `are both set: choose with ${places[one]} or ${places[other]}`],
  ] as const) {
    const [place, other] = names.filter((name) => command.getOptionValueSource(name) === source);
    if (place === undefined) continue;
    if (other === undefined) return place;
    throw new UsageError(`${nameOf(place)} and ${nameOf(other)} ${problem(place, other)}`);
  }
  return 'data';
}

function variableOf(name: Place): string {
  return `STILLAGE_${name.toUpperCase()}`;
}

function print(report: Report | string, command: Command): void {
  const { data, text } = typeof report === 'string' ? { data: { message: report }, text: report } : report;
  const { json } = command.opts<{ readonly json?: true }>();
  process.stdout.write(`${json === true ? JSON.stringify(data, undefined, 2) : text}\n`);
}
