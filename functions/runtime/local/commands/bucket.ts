import type { Command } from 'commander';
import { Buckets } from '../../../../shared/metadata/buckets.ts';
import { Usage } from '../../../../shared/metadata/usage.ts';
import { family, verb, type Rooms } from './command.ts';
import { tableReport, time } from './report.ts';
import { sizeText } from './sizes.ts';

interface ListedBucket {
  readonly bucket: string;
  readonly project: string;
  readonly created: number;
  readonly objects: number;
  readonly bytes: number;
}

const page = 1000;

/** `stillage bucket` */
export function bucketFamily(): Command {
  return family('bucket', 'what buckets there are', [
    verb({
      name: 'list',
      does: 'list the buckets of a project, or of all, with what they hold',
      operands: [['[project]', 'project@customer, or its canonical id']],
      examples: ['bucket list', 'bucket list shop@acme --json'],
      act: async (rooms, [project]) => {
        const projects =
          project === undefined ? await rooms.accounts.projects() : [await rooms.accounts.project(project)];
        const buckets = await Promise.all(projects.map(({ id, email }) => bucketsOf(rooms, id, email)));
        return tableReport(
          buckets.flat(),
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
  ]);
}

async function bucketsOf(rooms: Rooms, id: string, project: string): Promise<readonly ListedBucket[]> {
  const repository = new Buckets(rooms);
  const usage = new Usage(rooms);
  const listed: ListedBucket[] = [];
  for (let after: string | undefined, more = true; more;) {
    const found = await repository.ownedBy(id, { limit: page, ...(after !== undefined && { after }) });
    for (const { name, created } of found.buckets) {
      const bucket = await repository.find(name);
      if (bucket) listed.push({ bucket: name, project, created, ...(await usage.of(bucket.id)) });
    }
    after = found.buckets.at(-1)?.name;
    more = found.more;
  }
  return listed;
}
