import { execFile } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { bundleBackground, bundleFunctions } from '../../infra/bundles/bundle.ts';
import { describeOperations } from '../../infra/bundles/operation-descriptions.ts';
import { temporaryDirectory } from '../infra/synthesis.ts';

const measuring = `
  const before = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
  process.exit();
`;

/** Milliseconds of processor time, the median. */
async function importTime(file: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const options = ['--input-type=module', '--no-warnings', '-e', measuring, pathToFileURL(file).href];
    const { stdout } = await promisify(execFile)(process.execPath, options, { env: { AWS_REGION: 'us-east-1' } });
    times.push(Number(stdout));
  }
  return times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!;
}

/** The most that a bundle may have, in thousands of bytes: test/infra/cold-starts.test.ts. */
export const maxBundleKilobytes = 660;

/**
 * Measures the cost of starting a function of the cloud: the size of its bundle, and the processor time of its import, in separate
 * processes with an empty compile cache. Prints it in the form of docs/cold-starts.md.
 */
export async function benchColdStarts(rounds: number): Promise<void> {
  const directory = await temporaryDirectory();
  try {
    const all = [
      ...(await bundleFunctions(await describeOperations(), join(directory, 'functions'))),
      ...(await bundleBackground(backgroundFunctions, join(directory, 'background'))),
    ];
    process.stderr.write(`${all.length} functions are bundled; each is imported ${rounds} times\n`);
    const rows: { name: string; size: number; time: number }[] = [];
    for (const { name, directory: own } of all) {
      const file = join(own, 'index.mjs');
      rows.push({ name, size: (await stat(file)).size, time: await importTime(file, rounds) });
    }
    const [machine] = cpus();
    process.stdout.write(
      [
        '<!-- Written by `npm run --silent bench -- cold-starts`. Do not edit. -->',
        '',
        '# Cold starts',
        '',
        'What each cloud function loads before its first request: the size of its bundle, which contains all of its code, and the processor',
        `time of importing it (the median of ${rounds} processes). Creating the Lambda execution environment, and the first connections to`,
        `DynamoDB, S3 and Secrets Manager, come on top. A test limits each bundle to ${maxBundleKilobytes} KB; no import should take more than 150 ms.`,
        '',
        `Node.js ${process.version} on ${cpus().length} × ${machine?.model.trim()}, ${new Date().toISOString().slice(0, 10)}, by \`npm run bench -- cold-starts --rounds ${rounds}\`.`,
        'Functions that use no blobs contain no S3 client.',
        '',
        '| function | bundle, KB | import, ms of CPU |',
        '|---|---|---|',
        ...rows
          .toSorted((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1))
          .map(({ name, size, time }) => `| ${name} | ${Math.round(size / 1000)} | ${time.toFixed(0)} |`),
        '',
      ].join('\n'),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}
