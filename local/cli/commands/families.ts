import type { Command } from 'commander';
import type { Named } from '../command.ts';

/** A command of the program, or those with a common first word. What makes it is loaded when it is used: docs/adr/0095-code-is-loaded-on-demand.md. */
export interface Family extends Named {
  /** Its line in the help of the program: name, options and operands. */
  readonly term: string;
  /** What it is listed below. */
  readonly heading: string;
  readonly load: () => Promise<() => Command>;
}

/** What a file of this folder has: how its command is made. */
interface Module {
  readonly commandLine: (named: Named) => Command;
}

type Row = readonly [term: string, does: string, load: () => Promise<Module>];

/** The headings of the program's help, and the commands below each: a file for each family. */
const groups: readonly (readonly [heading: string, rows: readonly Row[]])[] = [
  [
    'Service:',
    [
      ['start [options]', 'Run the service on this machine until SIGTERM or Ctrl-C', () => import('./start.ts')],
      ['operator', 'Manage operators, who administer the service over HTTP', () => import('./operator.ts')],
      ['run', 'Run scheduled work now', () => import('./run.ts')],
      [
        'release [options]',
        'Free the bytes of deleted and replaced versions now, whatever --release-grace says, also while the service runs',
        () => import('./release.ts'),
      ],
      ['backup', 'Back up a data directory while its service runs, and keep the backups', () => import('./backup.ts')],
      [
        'restore [options] <target>',
        'Restore a data directory from the backups in a target',
        () => import('./restore.ts'),
      ],
      [
        'import [options] <source>',
        'Copy buckets from any S3, with versions and their times, also while the service runs',
        () => import('./import.ts'),
      ],
      [
        'export [options] <destination>',
        'Copy buckets to any S3, with versions in their order, also while the service runs',
        () => import('./export.ts'),
      ],
      [
        'migrate [options]',
        'Copy all of a data directory to a table in PostgreSQL and a bucket, or back, while no service runs on either',
        () => import('./migrate.ts'),
      ],
      [
        'scrub [options]',
        'Check that table and blobs are consistent, also while the service runs',
        () => import('./scrub.ts'),
      ],
      [
        'doctor [options]',
        'Examine the files of a data directory that does not start, or rescue what can be read',
        () => import('./doctor.ts'),
      ],
      [
        'compact [options]',
        'Give the free space of the table back to the disk, while no service runs on the data directory',
        () => import('./compact.ts'),
      ],
      ['job', 'Have a running service scrub, release or back up, from elsewhere', () => import('./job.ts')],
    ],
  ],
  [
    'Tenants:',
    [
      ['customer', 'Manage customers, which have projects', () => import('./customer.ts')],
      ['project', 'Manage projects, which own buckets and objects', () => import('./project.ts')],
      ['user', 'Manage users of projects', () => import('./user.ts')],
      ['policy', 'Manage the policies of users, which say what they may do', () => import('./policy.ts')],
      ['key', 'Manage access keys of users', () => import('./key.ts')],
      [
        'env [options] <key id>',
        'Print the environment variables of a key for the AWS CLI and SDKs, with its secret',
        () => import('./env.ts'),
      ],
      ['quota', 'Limit the buckets of a project, or the size of a bucket', () => import('./quota.ts')],
      [
        'usage [options] <project>',
        'Show the requests, traffic and storage of a project by day (UTC)',
        () => import('./usage.ts'),
      ],
      [
        'audit [options] [project]',
        'Show who changed identities, rights and settings, and data of buckets that are audited',
        () => import('./audit.ts'),
      ],
    ],
  ],
  [
    'Buckets and objects:',
    [
      [
        'bucket',
        'List, empty and remove buckets, and policies that lock out their owners',
        () => import('./bucket.ts'),
      ],
      ['link', 'Manage public links, which let anybody read an object until they expire', () => import('./link.ts')],
      ['monitoring', 'Turn the metrics and alarms of a bucket on or off', () => import('./monitoring.ts')],
      ['metrics', 'Show the size of buckets over time', () => import('./metrics.ts')],
      ['alarm', 'Manage alarms of monitored buckets', () => import('./alarm.ts')],
      ['webhook', 'Manage the webhooks to which events of buckets are delivered', () => import('./webhook.ts')],
      ['events', 'Show events that could not be delivered, and deliver them again', () => import('./events.ts')],
    ],
  ],
];

/** The commands of the program, in the order of its help. */
export const families: readonly Family[] = groups.flatMap(([heading, rows]) =>
  rows.map(([term, does, load]) => {
    const named = { name: term.split(' ')[0]!, does };
    const loadMaker = async (): Promise<() => Command> => {
      const { commandLine } = await load();
      return () => commandLine(named).helpGroup(heading);
    };
    return { ...named, term, heading, load: loadMaker };
  }),
);
