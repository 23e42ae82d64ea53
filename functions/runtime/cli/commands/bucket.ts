import type { Command } from 'commander';
import type { Ask, ResultOf } from '../../../admin/commands.ts';
import { family, verb } from '../command.ts';
import { tableReport, time } from '../../command-line/report.ts';
import { sizeText } from '../../command-line/sizes.ts';

type ListedBucket = ResultOf<'bucket list'>['buckets'][number];

/** Returns `stillage bucket`. */
export function bucketFamily(): Command {
  return family('bucket', 'List buckets, and remove policies that lock out their owners', [
    verb({
      name: 'list',
      does: 'List the buckets of a project, or of all projects, with their size',
      operands: [['[project]', 'project@customer, or its canonical user id']],
      examples: ['bucket list', 'bucket list shop@acme --json'],
      act: async (ask, [project]) => {
        const projects = project === undefined ? (await ask('project list', {})).map(({ id }) => id) : [project];
        const buckets: ListedBucket[] = [];
        for (const one of projects) buckets.push(...(await bucketsOf(ask, one)));
        return tableReport(
          buckets,
          [
            ['BUCKET', ({ bucket }) => bucket],
            ['PROJECT', ({ project: email }) => email],
            ['OBJECTS', ({ objects }) => String(objects)],
            ['SIZE', ({ bytes }) => sizeText(bytes)],
            ['CREATED', ({ created }) => time(created)],
          ],
          'no buckets',
        );
      },
    }),
    verb({
      name: 'remove-policy',
      does: 'Remove the policy of a bucket, even if it denies everybody, and print it',
      operands: [['<bucket>', 'name of the bucket']],
      examples: ['bucket remove-policy photos', 'bucket remove-policy photos > policy.json'],
      act: async (ask, [bucket]) => {
        const removed = await ask('bucket remove-policy', { bucket: bucket! });
        return { data: removed, text: removed.policy };
      },
    }),
  ]);
}

async function bucketsOf(ask: Ask, project: string): Promise<readonly ListedBucket[]> {
  const listed: ListedBucket[] = [];
  for (let after: string | undefined, more = true; more;) {
    const { buckets, next } = await ask('bucket list', { project, after });
    listed.push(...buckets);
    after = next;
    more = next !== undefined;
  }
  return listed;
}
