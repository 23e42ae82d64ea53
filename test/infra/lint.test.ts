import { Bucket } from 'aws-cdk-lib/aws-s3';
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { describeOperations, functionsOf } from '../../infra/bundles/operation-descriptions.ts';
import { synthesise, templates, temporaryDirectory, withDomain } from './synthesis.ts';

// The rules of the CDK take seconds to load, and cfn-lint is written in Python.
vi.setConfig({ testTimeout: 600_000 });

const functions = functionsOf(await describeOperations());

describe('cdk-nag, and the rules of the CDK', () => {
  it('find nothing that is not acknowledged beside its resource', async () => {
    await synthesise(functions, { validated: true, console: true });
  });

  it('find nothing in a deployment of another name', async () => {
    const context = { stage: 'dev', account: '123456789012', region: 'eu-central-1', removalPolicy: 'destroy' };
    await synthesise(functions, { validated: true, context });
  });

  it('find nothing in one with a domain, nor in one without a byte lane', async () => {
    const consoleDomain = 'console.example.com';
    await synthesise(functions, { validated: true, context: { ...withDomain, consoleDomain }, console: true });
    await synthesise(functions, { validated: true, context: { byteLane: 'functions', adminApi: 'true' } });
  });

  it('would find something', async () => {
    const careless = synthesise(functions, {
      validated: true,
      spoil: ({ data }) => void new Bucket(data, 'Careless'),
    });
    await expect(careless).rejects.toThrow('AwsSolutions-S1');
  });
});

describe('cfn-lint', () => {
  it('finds nothing in the templates', async (context) => {
    const directory = await temporaryDirectory();
    try {
      const files = await Promise.all(
        templates(await synthesise(functions, { context: { ...withDomain, adminApi: 'true' }, console: true })).map(
          async ([name, template]) => {
            const file = join(directory, `${name}.template.json`);
            await writeFile(file, JSON.stringify(template.toJSON(), undefined, 1));
            return file;
          },
        ),
      );
      const found = await cfnLint(files);
      if (found === undefined) context.skip('no cfn-lint: pip install cfn-lint');
      expect(found).toBe('');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

/** W3005: the CDK makes a function depend on its role, to which it refers anyway. */
const ignored = ['W3005'];

/** Returns the output of cfn-lint; undefined if it is not installed. */
async function cfnLint(files: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('cfn-lint', ['--ignore-checks', ...ignored, '--', ...files]);
    return stdout;
  } catch (error) {
    const { code, stdout } = error as { code: string | number; stdout?: string };
    // 127: a version manager's stub is on the PATH, and nothing behind it.
    if (code === 'ENOENT' || code === 127) return undefined;
    return stdout || String(error);
  }
}
