import { CommanderError, Help, type Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { families } from '../../local/cli/commands/families.ts';
import { withHelpStyle } from '../../local/cli/help.ts';
import { runProgram } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';

/** A command with the words that lead to it. */
interface Named {
  readonly path: readonly string[];
  readonly command: Command;
}

function commandsBelow(path: readonly string[], command: Command): Named[] {
  const own = { path: [...path, command.name()], command };
  return [own, ...command.commands.flatMap((one) => commandsBelow(own.path, one))];
}

const loaded = await Promise.all(families.map(async ({ load, ...family }) => ({ ...family, make: await load() })));
const commands = loaded.flatMap(({ make }) => commandsBelow([], withHelpStyle(make())));
const leaves = commands.filter(({ command }) => command.commands.length === 0);

/** Returns the output of `--help` on a terminal of 100 columns. */
function helpOf({ path, command }: Named): string {
  let text = '';
  command.exitOverride().configureOutput({ writeOut: (more) => (text += more), getOutHelpWidth: () => 100 });
  expect(() => command.parse(['--help'], { from: 'user' }), path.join(' ')).toThrow(CommanderError);
  return text;
}

describe('help', () => {
  it.each(loaded)('of $name is as it was', async ({ name, make }) => {
    const texts = commandsBelow([], withHelpStyle(make())).map(
      (one) => `$ stillage ${one.path.join(' ')} --help\n${helpOf(one)}`,
    );
    await expect(texts.join('\n')).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  it.each(loaded)('has $name in the list of commands as it is', ({ name, does, term, heading, make }) => {
    const command = make();
    expect([command.name(), command.description(), command.helpGroup()]).toEqual([name, does, heading]);
    expect(new Help().subcommandTerm(command)).toBe(term);
  });

  it('has examples at every command, which are of this command', () => {
    for (const leaf of leaves) {
      const [, examples = ''] = helpOf(leaf).split(/\nExamples:\n|\n\nRepeatable options/);
      const lines = examples.trimEnd().split('\n');
      expect(lines.length, leaf.path.join(' ')).toBeGreaterThan(0);
      for (const line of lines) expect(line).toContain(`  stillage ${leaf.path.join(' ')}`);
    }
  });

  it.each(commands.map((command) => [command.path.join(' '), command] as const))(
    'of %s fits into 100 columns',
    (_, command) => {
      expect(
        helpOf(command)
          .split('\n')
          .filter((line) => line.length > 100),
      ).toEqual([]);
    },
  );

  it('is printed by the program, on standard output and with exit code 0', async () => {
    for (const args of [['--help'], ['key', '--help'], ['key', 'rotate', '--help']]) {
      const { code, stdout, stderr } = await runProgram(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: ${['stillage', ...args.slice(0, -1)].join(' ')} \\[`));
    }
  });
});

it('of the program names the variable of every option, and the documentation', async () => {
  const { stdout, stderr } = await runWarm(['--help'], { STILLAGE_STRICT_REGION: 'false' });
  // That it is off is no reason to call it unknown.
  expect(stderr).toBe('');
  const options = commands.flatMap(({ command }) => command.options);
  const variables = new Set(options.flatMap(({ envVar }) => envVar ?? []));
  expect(variables).toContain('STILLAGE_STRICT_REGION');
  const listed = [...stdout.matchAll(/^ {2}(STILLAGE_\w+) +(--.*)$/gm)];
  expect(listed.map(([, variable]) => variable)).toEqual([...variables].toSorted());
  for (const [, variable, flags] of listed) {
    expect(options.filter(({ envVar }) => envVar === variable).map((one) => one.flags)).toContain(flags);
  }
  expect(stdout).toContain('docs/configuration.md');
});

describe('a mistake in the command line', () => {
  it.each([
    [['customer', 'create'], "error: missing required argument 'customer'\n"],
    [['customer', 'list', 'acme', 'more'], /^error: too many arguments/],
    [['custom'], /^error: unknown command 'custom'/],
    [
      ['key', 'rotate', 'id', '--overlap', 'soon'],
      /^error: .*Must be a number followed by s, m, h or d, such as .*; or 0\.\n$/,
    ],
    [['quota', 'set', 'bucket', '--bytes', 'much'], /^error: .*Must be a number of bytes/],
    [['key', 'create', 'a:b@c', '--id', 'x', '--random'], /^error: .*cannot be used with/],
  ])('%j ends with 2 and says what is wrong', async (args, line) => {
    const { code, stdout, stderr } = await runWarm(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    if (typeof line === 'string') expect(stderr).toBe(line);
    else expect(stderr).toMatch(line);
  });

  it('does not make a data directory', async () => {
    const { code, stderr } = await runWarm(['customer', 'list', '--data', '/nowhere/data']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'stillage: --data: /nowhere/data is not a data directory: name that of the service, or start a service on it first\n',
    });
  });
});
