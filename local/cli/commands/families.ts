import type { Command } from 'commander';
import { alarmFamily } from './alarm.ts';
import { auditCommand } from './audit.ts';
import { backupFamily } from './backup.ts';
import { bucketFamily } from './bucket.ts';
import { compactCommand } from './compact.ts';
import { customerFamily } from './customer.ts';
import { doctorCommand } from './doctor.ts';
import { envCommand } from './env.ts';
import { eventsFamily } from './events.ts';
import { exportCommand } from './export.ts';
import { jobFamily } from './job.ts';
import { importCommand } from './import.ts';
import { keyFamily } from './key.ts';
import { linkFamily } from './link.ts';
import { metricsFamily } from './metrics.ts';
import { migrateCommand } from './migrate.ts';
import { monitoringFamily } from './monitoring.ts';
import { operatorFamily } from './operator.ts';
import { policyFamily } from './policy.ts';
import { projectFamily } from './project.ts';
import { quotaFamily } from './quota.ts';
import { releaseCommand } from './release.ts';
import { restoreCommand } from './restore.ts';
import { runFamily } from './run.ts';
import { scrubCommand } from './scrub.ts';
import { startCommand } from './start.ts';
import { usageCommand } from './usage.ts';
import { userFamily } from './user.ts';
import { webhookFamily } from './webhook.ts';

/** The headings of the program's help, and the commands below each: a file for each family. */
const groups: readonly (readonly [heading: string, families: readonly (() => Command)[]])[] = [
  [
    'Service:',
    [
      startCommand,
      operatorFamily,
      runFamily,
      releaseCommand,
      backupFamily,
      restoreCommand,
      importCommand,
      exportCommand,
      migrateCommand,
      scrubCommand,
      doctorCommand,
      compactCommand,
      jobFamily,
    ],
  ],
  [
    'Tenants:',
    [
      customerFamily,
      projectFamily,
      userFamily,
      policyFamily,
      keyFamily,
      envCommand,
      quotaFamily,
      usageCommand,
      auditCommand,
    ],
  ],
  [
    'Buckets and objects:',
    [bucketFamily, linkFamily, monitoringFamily, metricsFamily, alarmFamily, webhookFamily, eventsFamily],
  ],
];

/** The commands of the program, in the order of its help. */
export const families: readonly (() => Command)[] = /* @__PURE__ */ groups.flatMap(([heading, members]) =>
  members.map((make) => () => make().helpGroup(heading)),
);
