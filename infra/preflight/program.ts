// `npm run preflight`: checks whether an account is ready for a deployment. Changes nothing. docs/first-day.md
import { Command, InvalidArgumentError } from 'commander';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AwsAccount } from './aws-account.ts';
import { preflight, type Finding } from './checks.ts';
import { parseSettings, type Settings, SettingsError } from '../settings.ts';

interface Options {
  readonly context?: Readonly<Record<string, string>>;
  readonly json?: true;
}

const help = `
Credentials are those of the AWS CLI: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.

Exit code:
  0  everything is ready
  1  something is missing, or a check failed
  2  the command line or a setting is invalid

Examples:
  npm run preflight
  npm run preflight -- -c account=123456789012 -c region=eu-central-1 --json

Settings: docs/cloud.md`;

await new Command('npm run preflight --')
  .description(
    'Check whether an AWS account is ready for a deployment: bootstrap, service-linked roles, quotas, zones, certificates, hosted zone. Reads only.',
  )
  .option('-c, --context <name=value>', 'setting that overrides cdk.json (repeatable)', collect)
  .option('--json', 'print the findings as JSON')
  .helpOption('-h, --help', 'print this help')
  .configureOutput({ getOutHelpWidth: () => Math.min(process.stdout.columns ?? 100, 100) })
  .addHelpText('after', help)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(async ({ context = {}, json }: Options) => {
    const settings = await readOrEnd(context);
    const findings = await preflight(settings, new AwsAccount(settings.region));
    process.stdout.write(json ? `${JSON.stringify({ findings }, undefined, 2)}\n` : findings.map(shown).join(''));
    process.exitCode = findings.every(({ state }) => state === 'ok') ? 0 : 1;
  })
  .parseAsync();

function collect(pair: string, context: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be name=value.');
  return { ...context, [name]: value };
}

async function readOrEnd(given: Readonly<Record<string, string>>): Promise<Settings> {
  try {
    const text = await readFile(join(import.meta.dirname, '../../cdk.json'), 'utf8');
    const { context } = JSON.parse(text) as { context: Record<string, unknown> };
    return parseSettings({ ...context, ...given });
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}

function shown({ check, state, found, do: todo }: Finding): string {
  return `${state.padEnd(7)}  ${check}: ${found}\n${todo === undefined ? '' : `         → ${todo}\n`}`;
}
