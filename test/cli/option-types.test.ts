import { CommanderError, type Command, type Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { families } from '../../local/cli/commands/families.ts';
import { runWarm } from '../support/programs/warm-program.ts';

/**
 * Values that each option refuses, as do all commands that have it. An option that takes a value and is not here fails the test:
 * declare its type by an `argParser` or `choices`, and write what it refuses.
 */
const refused: Readonly<Record<string, readonly string[]>> = {
  '--access': ['', 'all'],
  '--access-log-interval': ['', '0', '999ms', '25h', 'often'],
  '--accounts': [''],
  '--admin-port': ['', '65536', 'x'],
  '--admin-url': ['', 'operators.example.com', 'https://operators.example.com/', 'ftp://operators.example.com'],
  '--alarm-webhook-allow': ['', 'hooks.internal', 'https://hooks.internal:443'],
  '--all-users-group-uri': ['', 'nowhere', 'http://x"y'],
  '--allow-region': ['', 'us east'],
  '--audit-days': ['', '-1', '1.5', '3651'],
  '--aws-region': ['', 'us east'],
  '--backup-every': ['', '59s', '31d', 'daily'],
  '--backup-passphrase-file': [''],
  '--backup-to': ['', 's3://'],
  '--blobs': ['', '/var/blobs', 's3://', 's3://b?x=1'],
  '--bucket': ['', 'A_B'],
  '--buckets': ['', '-1', '1.5', 'x', 'A_B', 'first,,second'],
  '--bytes': ['', '-1', '1.5', 'much'],
  '--batch': ['', '0', '101', 'x'],
  '--cloud': ['', 'a b', 'https://example.com'],
  '--comparison': ['', '>'],
  '--console-files': [''],
  '--console-origin': ['', 'console.example.com'],
  '--console-port': ['', '-1', '65536', 'x'],
  '--console-url': ['', 'console.example.com', 'javascript:alert(1)'],
  '--data': [''],
  '--datapoints-to-alarm': ['', '0', '1.5', 'all'],
  '--description': ['a\u0000b', 'x'.repeat(1025)],
  '--display-name': ['', 'a\nb', 'x'.repeat(129)],
  '--domain': ['', 'a b', 'https://s3.example.com', 's3.example.com:80'],
  '--end': ['', 'now', '2026-13-01'],
  '--endpoint': ['', '127.0.0.1:9002', 'ftp://127.0.0.1'],
  '--evaluation-periods': ['', '0', '1.5', 'x'],
  '--expires': ['', '0', '1h', '-1'],
  '--format': ['', 'xml'],
  '--host': ['', 'http://127.0.0.1', 'a b', '1.2.3.4:80', 'localhost:9000', '[::1]'],
  '--id': ['', 'a b', 'x'.repeat(129)],
  '--keep-daily': ['', '0', '-1', 'x'],
  '--keep-hourly': ['', '0', '-1', 'x'],
  '--keep-last': ['', '0', '-1', 'x'],
  '--keep-monthly': ['', '0', '-1', 'x'],
  '--keep-weekly': ['', '0', '-1', 'x'],
  '--keep-yearly': ['', '0', '-1', 'x'],
  '--key-file': [''],
  '--last': ['', '0h', '3', 'x'],
  '--lifecycle-day-seconds': ['', '0', '-1', 'x'],
  '--lifetime': ['', '0', '7', '-1'],
  '--limit': ['', 'x', 'bodyIdle', 'bodyIdol=1', 'bodyIdle=x', 'toString=1'],
  '--metric': ['', 'x'],
  '--metrics-port': ['', '65536', 'x'],
  '--metrics-token-file': [''],
  '--min-age': ['', '-1', '7', '7w'],
  '--missing-data': ['', 'x'],
  '--monitoring-seconds': ['', '0', '86401', 'x'],
  '--month': ['', '2026-13', 'may'],
  '--new-passphrase-file': [''],
  '--objects': ['', '-1', '1.5', 'many'],
  '--on-alarm': ['', 'http://hooks.example.com', 'https://a:b@hooks.example.com', 'log'],
  '--on-insufficient-data': ['', 'mailto:a@b.c'],
  '--on-ok': ['', 'x'],
  '--overlap': ['', 'soon', '-1', '24'],
  '--passphrase-file': [''],
  '--period': ['', '0', '7', 'x'],
  '--port': ['', '-1', '65536', 'x'],
  '--prefix': ['', 'a\u0000b', 'x'.repeat(1025)],
  '--project': ['', 'a b', '@acme'],
  '--public-url': ['', 's3.example.com', 'ftp://s3.example.com', 'https://a:b@s3.example.com'],
  '--rate': ['', '0', '-1', 'fast'],
  '--ready-file': [''],
  '--region': ['', 'us east'],
  '--release-grace': ['', '31d', '7', '-1'],
  '--rescue': [''],
  '--scope': ['', 'all'],
  '--scrub-rate': ['', 'default', '-1', 'fast'],
  '--secret-file': [''],
  '--since': ['', '7', '-1', 'yesterday'],
  '--start': ['', 'yesterday'],
  '--statistic': ['', 'Median'],
  '--table': ['', 'postgres://host', 'mysql://host/db', 'db'],
  '--threshold': ['', 'x', '1e', '0x10', 'NaN', 'Infinity'],
  '--tls': ['', 'yes', 'Self-signed'],
  '--tls-cert': [''],
  '--tls-key': [''],
  '--to': ['', 'yesterday', '2026-13-01T00:00:00Z', '2026-11-28'],
  '--token-file': [''],
  '--trust-proxy': ['', 'nobody', '10.0.0.0/33'],
  '--url': ['', 'foo'],
  '--version-id': ['', 'a b', 'v1'],
  '--website-domain': ['', 'a b', 'web.example.com:80'],
  '--without': ['', 'everything'],
  '--workers': ['', '0', '1.5', '1001', 'x'],
  '--xml-namespace': ['', 'http://x"y'],
};

const s3Address = {
  takes: 's3://photos?endpoint=http://127.0.0.1:9000',
  refuses: ['', 'photos', 's3:photos', 's3://a?b=c', 's3://a:b@c', 's3://a?endpoint=ftp://there', 's3://a/%zz'],
};

/** A value that each operand takes, and values that it refuses. */
const operands: Readonly<Record<string, { readonly takes: string; readonly refuses: readonly string[] }>> = {
  alarm: { takes: 'full', refuses: ['', 'x'.repeat(256)] },
  bucket: { takes: 'photos', refuses: ['', 'A_b', 'a'] },
  customer: { takes: 'acme', refuses: ['', 'a b', 'a:b'] },
  destination: s3Address,
  document: {
    takes: '{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:*","Resource":"*"}}',
    refuses: ['', '{', '[]', '{}'],
  },
  id: { takes: 'AP6w61-P5FSALQ75-H-fIgggzpaO', refuses: [''] },
  job: { takes: 'scrub', refuses: ['', 'rm'] },
  key: { takes: 'hello.txt', refuses: [''] },
  'key id': { takes: 'STILYOUS4EQOCTROTQOJ', refuses: ['', 'a,b', 'a b'] },
  name: { takes: 'thumbnails', refuses: ['', 'a b', 'a:b'] },
  operator: { takes: 'platform', refuses: ['', 'a b', 'a:b'] },
  policy: { takes: 'uploads', refuses: [''] },
  privilege: { takes: 'monitoring', refuses: ['', 'sleep'] },
  project: { takes: 'shop@acme', refuses: ['', 'a b', '@acme', 'shop:ci@acme'] },
  'project or bucket': { takes: 'photos', refuses: ['', 'A_b', 'shop@'] },
  requests: { takes: 'writes', refuses: ['', 'reads', 'All'] },
  source: s3Address,
  target: { takes: 's3://backups/of/this?endpoint=http://127.0.0.1:9000', refuses: ['', 's3://', 's3://a?b=c'] },
  url: { takes: 'https://hooks.example.com/new', refuses: ['', 'hooks.example.com', 'ftp://hooks.example.com'] },
  user: { takes: 'shop:ci@acme', refuses: ['', 'ci', 'shop@acme', 'x/y/z', 'shop:@acme'] },
  'user or project': { takes: 'shop@acme', refuses: ['', 'shop', 'a:b:c@d'] },
};

/** A command that does work, by the words that lead to it. Making it again leaves no option behind that was given before. */
interface Leaf {
  readonly path: readonly string[];
  readonly family: () => Command;
}

function leavesBelow(family: () => Command, path: readonly string[], command: Command): Leaf[] {
  if (command.commands.length === 0) return [{ path, family }];
  return command.commands.flatMap((one) => leavesBelow(family, [...path, one.name()], one));
}

const makers = await Promise.all(families.map(({ load }) => load()));
const leaves = makers.flatMap((make) => leavesBelow(make, [], make()));

function commandOf({ path, family }: Leaf): Command {
  return path.reduce((command, name) => command.commands.find((one) => one.name() === name)!, family());
}

const takesValue = (option: Option): boolean => option.required || option.optional;
const cases = leaves.flatMap((leaf) => {
  const command = commandOf(leaf);
  const words = [leaf.family().name(), ...leaf.path].join(' ');
  return command.options.map((option) => ({ leaf, option, words, name: `${words} ${option.long}` }));
});

/** Parses a command line of the command, with an action that does nothing. Returns the error, and what was written about it. */
function parse(
  leaf: Leaf,
  args: readonly string[],
  given = commandOf(leaf).registeredArguments.map((one) => operands[one.name()]!.takes),
): { acted: boolean; error: unknown; stderr: string } {
  const command = commandOf(leaf);
  const mandatory = command.options.filter((option) => option.mandatory && !args[0]?.startsWith(option.long!));
  const outcome = { acted: false, error: undefined as unknown, stderr: '' };
  command.exitOverride().configureOutput({ writeErr: (text) => (outcome.stderr += text) });
  command.action(() => {
    outcome.acted = true;
  });
  try {
    command.parse([...given, ...mandatory.flatMap(({ long }) => [long!, '1']), ...args], { from: 'user' });
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

describe('every option of every command', () => {
  it('is examined here, and those alone', () => {
    const taking = cases.filter(({ option }) => takesValue(option)).map(({ option }) => option.long!);
    expect([...new Set(taking)].sort()).toEqual(Object.keys(refused).sort());
    expect(leaves.length).toBeGreaterThan(40);
  });

  it.each(cases.filter(({ option }) => takesValue(option)))('$name declares its type', ({ option }) => {
    expect(option.parseArg ?? option.argChoices).toBeDefined();
  });

  it.each(cases.filter(({ option }) => takesValue(option)))('$name refuses wrong values', ({ leaf, option, words }) => {
    for (const value of refusedBy(words, option)) {
      const { acted, error, stderr } = parse(leaf, [`${option.long}=${value}`]);
      expect(error, `${option.long}=${value}`).toBeInstanceOf(CommanderError);
      expect((error as CommanderError).code).toBe('commander.invalidArgument');
      expect({ acted, lines: stderr.replaceAll(value, '').trimEnd().split('\n').length }).toEqual({
        acted: false,
        lines: 1,
      });
    }
  });

  it.each(cases.filter(({ option }) => !takesValue(option)))('$name takes no value', ({ leaf, option }) => {
    const { acted, error } = parse(leaf, [`${option.long}=x`]);
    expect(acted).toBe(false);
    expect((error as CommanderError).code).toBe('commander.unknownOption');
  });
});

const operandCases = leaves.flatMap((leaf) =>
  commandOf(leaf).registeredArguments.map((one, at) => ({
    leaf,
    at,
    named: one.name(),
    name: `${leaf.family().name()} ${leaf.path.join(' ')} <${one.name()}>`,
  })),
);

describe('every operand of every command', () => {
  it('is examined here, and those alone', () => {
    expect([...new Set(operandCases.map(({ named }) => named))].sort()).toEqual(Object.keys(operands).sort());
  });

  it.each(operandCases)('$name refuses wrong values', ({ leaf, at, named }) => {
    const right = commandOf(leaf).registeredArguments.map((one) => operands[one.name()]!.takes);
    expect(parse(leaf, [])).toEqual({ acted: true, error: undefined, stderr: '' });
    for (const value of operands[named]!.refuses) {
      const { acted, error, stderr } = parse(leaf, [], right.with(at, value));
      expect(error, value).toBeInstanceOf(CommanderError);
      expect((error as CommanderError).code, value).toBe('commander.invalidArgument');
      expect({ acted, lines: stderr.trimEnd().split('\n').length }).toEqual({ acted: false, lines: 1 });
    }
  });
});

/** The same name is the number of buckets in `quota set` and their names in `start`, and a period is seconds or `5m`. */
function refusedBy(words: string, { long }: Option): readonly string[] {
  const values = refused[long!] ?? [];
  if (words === 'start' && long === '--buckets') return ['', ',', 'A_B', 'first,A_B'];
  if (words === 'quota set' && long === '--buckets') return ['', '-1', '1.5', 'x'];
  return values;
}

it('the program ends with 2 and a line, and does nothing', async () => {
  const wrong = [
    ['alarm', 'put', 'bucket', 'alarm', '--threshold', 'x'],
    ['alarm', 'put', 'bucket', 'alarm', '--threshold', '1', '--on-alarm', 'nowhere'],
    ['link', 'create', 'bucket', 'key', '--version-id', 'x'],
    ['project', 'create', 'a@b', '--id', 'a b'],
    ['user', 'create', 'a:b@c', '--without', 'everything'],
    ['doctor', '--rescue', ''],
    ['start', '--host', '1.2.3.4:80'],
    ['start', '--buckets', ''],
    ['start', '--buckets', 'A_b'],
    ['project', 'create', 'bad'],
    ['user', 'create', 'x'],
    ['bucket', 'empty', 'A_b', '--yes'],
  ];
  for (const args of wrong) {
    const { code, stdout, stderr } = await runWarm(args);
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: (?:option|command-argument) [^\n]+\n$/);
  }
});
