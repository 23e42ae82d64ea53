// `npm run preflight`: asks an account whether it is ready for a deployment, and changes nothing. docs/first-day.md
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

await new Command('preflight')
  .description(
    'Ask the account of your AWS credentials whether a deployment can begin: bootstrap, service-linked roles, quotas, zones, certificates, hosted zone. Reads only.',
  )
  .option('-c, --context <name=value>', 'a setting, in place of that in cdk.json; can be repeated', collect)
  .option('--json', 'print the findings as JSON')
  .addHelpText(
    'after',
    '\nExit code: 0, all is ready; 1, something is missing or could not be asked; 2, a mistake on the command line.',
  )
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
