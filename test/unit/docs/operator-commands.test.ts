import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
/** The pages with commands that were never run in an AWS account. */
const pages = ['first-day', 'cloud', 'cloud-operations', 'scrub'].map((name) =>
  readFileSync(join(root, `docs/${name}.md`), 'utf8'),
);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const stillage = readdirSync(join(root, 'local/cli/commands')).join(' ');

/** The shell blocks, each with its lines joined where a backslash continues them. */
const blocks = pages.flatMap((page) =>
  [...page.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block]) => block!.replace(/\\\n\s*/g, '')),
);
/** Every `aws …` command, including those within `$(…)`, up to its end. */
const awsCommands = blocks.flatMap((block) => commandsIn(block));

function commandsIn(text: string): string[] {
  return [
    ...text.matchAll(/(?<![\w.-])aws ((?:'[^']*'|"(?:\$\((?:[^()]|\([^()]*\))*\)|[^"])*"|\$\([^()]*\)|[^\n|;)'"])*)/g),
  ]
    .filter(([whole]) => /^aws [a-z0-9-]+ [a-z0-9-]+/.test(whole))
    .flatMap(([, command]) => [
      command!,
      ...[...command!.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, inner]) => commandsIn(inner!)),
    ]);
}

interface Model {
  readonly operations: Readonly<
    Record<string, { readonly input?: { readonly members?: Readonly<Record<string, unknown>> } }>
  >;
}

/** The services that have another name in the AWS CLI than in their models. */
const modelNames: Readonly<Record<string, string>> = { cloudwatch: 'monitoring', s3api: 's3', ce: 'ce' };
/** https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-options.html */
const globalOptions = ['--query', '--output', '--region', '--debug', '--cli-binary-format', '--max-items'];
/** Commands of the CLI that no API has: their options, as https://docs.aws.amazon.com/cli/latest/reference/ has them. */
const ownCommands: Readonly<Record<string, readonly string[]>> = {
  'logs tail': ['--follow', '--since'],
  's3 cp': ['--recursive'],
  's3 rm': ['--recursive'],
};

/** Options that the CLI renames because they conflict with global ones: https://docs.aws.amazon.com/cli/latest/reference/sns/subscribe.html */
const renamed: Readonly<Record<string, readonly string[]>> = { 'sns subscribe': ['--notification-endpoint'] };

/** The options of an operation, or undefined if the service has none of this name. */
function optionsOf(service: string, operation: string): readonly string[] | undefined {
  const own = ownCommands[`${service} ${operation}`];
  if (own !== undefined) return own;
  const name = modelNames[service] ?? service;
  const apis = join(root, 'node_modules/aws-sdk/apis');
  const newest = readdirSync(apis)
    .filter((file) => new RegExp(`^${name}-\\d{4}-\\d\\d-\\d\\d\\.min\\.json$`).test(file))
    .toSorted()
    .at(-1);
  if (newest === undefined) return undefined;
  const { operations } = JSON.parse(readFileSync(join(apis, newest), 'utf8')) as Model;
  const found = Object.entries(operations).find(([one]) => kebabCase(one) === operation);
  if (found === undefined) return undefined;
  const members = Object.keys(found[1].input?.members ?? {}).map((member) => `--${kebabCase(member)}`);
  return [...members, ...(renamed[`${service} ${operation}`] ?? [])];
}

/** As the CLI derives names: `DescribeStacks`, `taskARNs`, `ListObjectsV2`. */
function kebabCase(name: string): string {
  return name
    .replace(/(?<=[a-z])(?=V\d)|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-')
    .replace(/-v-(\d)/gi, '-v$1')
    .toLowerCase();
}

describe('the commands for operators of a cloud deployment', () => {
  it('are found', () => {
    expect(blocks.length).toBeGreaterThan(30);
    expect(awsCommands.length).toBeGreaterThan(60);
  });

  it.each([...new Set(awsCommands)])('says what the AWS CLI knows: aws %s', (command) => {
    const [service = '', operation = ''] = command.split(/\s+/);
    const options = optionsOf(service, operation);
    expect(options, `aws ${service} has no ${operation}`).toBeDefined();
    const bare = command.replace(/'[^']*'|"(?:\$\((?:[^()]|\([^()]*\))*\)|[^"])*"/g, 'x');
    const given = bare.match(/(?<=\s)--[a-z0-9-]+/g) ?? [];
    expect(given.filter((option) => !options!.includes(option) && !globalOptions.includes(option))).toEqual([]);
  });

  it('are checked: a wrong command and a wrong option would be found', () => {
    expect(optionsOf('ecs', 'start-everything')).toBeUndefined();
    expect(optionsOf('nothing', 'get-it')).toBeUndefined();
    expect(optionsOf('ecs', 'stop-task')).not.toContain('--task-arn');
    expect(optionsOf('s3api', 'list-objects-v2')).toContain('--prefix');
  });

  it.each(blocks.flatMap((block) => [...block.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!)))(
    'runs a script that there is: %s',
    (name) => expect(manifest.scripts).toHaveProperty([name]),
  );

  it.each(blocks.flatMap((block) => [...block.matchAll(/npx stillage (\w+)/g)].map(([, name]) => name!)))(
    'administers by a command that there is: %s',
    (name) => expect(`${stillage} env`).toContain(name),
  );

  it('are understood by a shell', (context) => {
    try {
      execFileSync('bash', ['-n'], { input: blocks.join('\n') });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') context.skip('no bash on this machine');
      throw error;
    }
  });
});

it('no page has readers download a package of a name that nobody owns yet', () => {
  const all = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  for (const name of ['README.md', ...all.map((file) => join('docs', file))]) {
    expect(readFileSync(join(root, name), 'utf8'), name).not.toMatch(
      /npx (?:-y|--yes) stillage|npm install[^\n]* stillage$/m,
    );
  }
});
