import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packedProject } from '../support/programs/packed-project.ts';
import { isInstalled, run, skip, type Outcome } from '../support/programs/programs.ts';

/*
 * The programs on the page "Stillage in your tests", as they are printed there, against the packed package. A file is named by the comment in
 * its first line.
 */

const page = await readFile(join(import.meta.dirname, '../../docs/testing-with-stillage.md'), 'utf8');
const configuration = await readFile(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
  language: language!,
  text: text!,
  file: /^(?:\/\/|#) (\S+\.\w+)\n/.exec(text!)?.[1],
}));

const project = packedProject({
  others: [
    '@aws-sdk/client-s3@3.1169.0',
    '@aws-sdk/s3-request-presigner@3.1162.0',
    '@playwright/test@1.65.1',
    'jest@30.5.2',
    'vitest@4.1.11',
    'yaml@2.9.1',
  ],
});

/** Returns the text of the file that the page prints. */
function file(name: string): string {
  return blocks.find((block) => block.file === name)!.text;
}

/** Returns the block of a language, without the name of a file, that contains a text. */
function fragment(language: string, containing: string): string {
  return blocks.find((block) => block.language === language && !block.file && block.text.includes(containing))!.text;
}

/** Runs a program in the project, without the environment of the test runner. */
async function inProject(program: string, args: readonly string[], env = {}): Promise<Outcome> {
  const clean = [
    '-u',
    'VITEST',
    '-u',
    'NODE_ENV',
    '-u',
    'NODE_OPTIONS',
    '-u',
    'VITEST_WORKER_ID',
    '-u',
    'VITEST_POOL_ID',
  ];
  const all = { NO_COLOR: '1', FORCE_COLOR: '0', CI: '1', ...env };
  return run('env', [...clean, program, ...args], { cwd: project.folder, env: all });
}

async function write(name: string, text = file(name)): Promise<void> {
  await writeFile(join(project.folder, name), text);
}

describe('of the page on tests', () => {
  it('every program is examined here', () => {
    expect(blocks.map((block) => block.file ?? block.language)).toEqual([
      'sh',
      'js',
      'photos.test.mjs',
      'photos.jest.cjs',
      'photos.node.mjs',
      'photos.spec.mjs',
      // Of pnpm and Yarn: package-managers.test.ts.
      'yaml',
      'yaml',
      'js',
      'js',
      'java',
      'go',
      'python',
      'csharp',
      'conftest.py',
      'test_photos.py',
      '.github/workflows/test.yml',
      '.gitlab-ci.yml',
    ]);
  });

  it('every variable of the service is one', () => {
    const names = new Set(page.match(/STILLAGE_[A-Z_]*[A-Z]/g));
    expect(names.size).toBeGreaterThan(3);
    for (const name of names) expect(configuration).toContain(name);
  });

  it('the first program runs', async () => {
    await write('first.mjs', fragment('js', 'await stillage.stop()'));
    // The SDK warns of old releases of Node.
    expect((await inProject(process.execPath, ['--no-warnings', 'first.mjs'])).stdout).toBe('');
  });

  it('the faults are what it says', async () => {
    const before = `import { startStillage } from 'stillage';
      const stillage = await startStillage({ port: 0, ephemeral: true, buckets: ['photos'] });`;
    const after = `await stillage.stop();`;
    expect(await project.script('faults.mjs', `${before}\n${fragment('js', 'stillage.fault(')}\n${after}`)).toBe('');
  });

  it.each([
    ['photos.test.mjs', 'node_modules/vitest/vitest.mjs', ['run'], /Tests {2}2 passed/],
    ['photos.jest.cjs', 'node_modules/jest/bin/jest.js', ['--testMatch', '**/*.jest.cjs', '--'], /Tests: +2 passed/],
    ['photos.node.mjs', '--test', [], /pass 2\n[^]*fail 0/],
    ['photos.spec.mjs', 'node_modules/@playwright/test/cli.js', ['test'], /2 passed/],
  ])('%s passes', async (name, runner, args, said) => {
    await write(name);
    const { stdout, stderr } = await inProject(process.execPath, [runner, ...args, name]);
    expect(stdout + stderr).toMatch(said);
  });

  it('the fixture of pytest serves a test, and ends with it', async (context) => {
    if (!isInstalled('python3', ['-c', 'import boto3, pytest'])) skip(context, 'pip install boto3 pytest');
    await write('conftest.py');
    const check = `${file('test_photos.py')}\ndef test_endpoint(s3):\n    print("endpoint=" + s3.meta.endpoint_url)\n`;
    await write('test_photos.py', check);
    const { stdout } = await inProject('python3', ['-m', 'pytest', '-s', '-p', 'no:cacheprovider', 'test_photos.py']);
    expect(stdout).toMatch(/2 passed/);
    await expect(fetch(/endpoint=(\S+)/.exec(stdout)![1]!)).rejects.toThrow();
  });

  it.each(['.github/workflows/test.yml', '.gitlab-ci.yml'])('the commands of %s run', async (name) => {
    const parsed = await project.script(
      'parse.mjs',
      `import { parse } from 'yaml';console.log(JSON.stringify(parse(${JSON.stringify(file(name))})))`,
    );
    const { env, commands } = pipeline(JSON.parse(parsed) as Pipeline);
    expect(commands).toContain('npm test');
    const port = await freePort();
    // The project here is installed already, without a lockfile.
    const own = (text: string): string => text.replaceAll('9000', String(port)).replace(/^npm ci$/m, '');
    await write(
      'photos.ci.mjs',
      `import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
       const s3 = new S3Client({ forcePathStyle: true });
       const { ETag } = await s3.send(new PutObjectCommand({ Bucket: 'photos', Key: 'a', Body: 'bytes' }));
       console.log('stored', ETag);`,
    );
    await inProject('npm', ['pkg', 'set', 'scripts.test=node photos.ci.mjs']);
    // Like a pipeline, the job ends the processes that it started in the background.
    const job = `trap "trap '' TERM; kill 0" EXIT\nrm -f ready\n${own(commands)}\n`;
    const variables = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, own(value)]));
    const { stdout } = await inProject('setsid', ['--wait', 'bash', '-e', '-c', job], variables);
    expect(stdout).toContain('stored "');
  });
});

describe('of what needs an engine of containers, the syntax is right:', () => {
  it('JavaScript', async () => {
    await write('container.mjs', fragment('js', 'StillageContainer'));
    await inProject(process.execPath, ['--check', 'container.mjs']);
  });

  it('Python', async (context) => {
    if (!isInstalled('python3')) skip(context, 'install Python 3');
    const parse = 'import ast, sys; ast.parse(sys.stdin.read())';
    await run('python3', ['-c', parse], { input: fragment('python', 'DockerContainer') });
  });

  it('Go', async (context) => {
    if (!isInstalled('gofmt', ['-l', '/dev/null'])) skip(context, 'install Go, for gofmt');
    await run('gofmt', ['-e'], { input: `package tests\n\nfunc start() {\n${fragment('go', 'Generic')}\n}\n` });
  });

  it('Java', async (context) => {
    if (!isInstalled('java') || !isInstalled('javac')) skip(context, 'install a JDK, 17 or later');
    await write(
      'Snippet.java',
      `class Snippet { void start() throws Exception {\n${fragment('java', 'Generic')}\n} }\n`,
    );
    // Parses and no more: the libraries are not here.
    const parser = `import java.io.File;
      import javax.tools.*;
      class Parse {
        public static void main(String[] files) throws Exception {
          var found = new DiagnosticCollector<JavaFileObject>();
          var compiler = ToolProvider.getSystemJavaCompiler();
          var units = compiler.getStandardFileManager(null, null, null).getJavaFileObjects(new File(files[0]));
          ((com.sun.source.util.JavacTask) compiler.getTask(null, null, found, null, null, units)).parse();
          found.getDiagnostics().forEach(System.out::println);
        }
      }`;
    await write('Parse.java', parser);
    expect((await inProject('java', ['Parse.java', 'Snippet.java'])).stdout).toBe('');
  });
});

/** The parts of the pipelines of GitHub and GitLab that are read. */
interface Pipeline {
  readonly jobs?: { readonly test: { readonly env: Variables; readonly steps: readonly Step[] } };
  readonly test?: { readonly variables: Variables; readonly script: readonly string[] };
}
type Variables = Readonly<Record<string, string>>;
interface Step {
  readonly run?: string;
  readonly env?: Variables;
}

/** Returns the commands of a pipeline's one job, as one script, and its variables. */
function pipeline({ jobs, test }: Pipeline): { readonly env: Variables; readonly commands: string } {
  if (test !== undefined) return { env: test.variables, commands: test.script.join('\n') };
  const { env, steps } = jobs!.test;
  return {
    env: Object.assign({}, env, ...steps.map((step) => step.env ?? {})) as Variables,
    commands: steps.map((step) => step.run ?? '').join('\n'),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
