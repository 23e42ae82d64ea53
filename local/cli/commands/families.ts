import type { Command } from 'commander';
import type { AdministrationCommand } from '../../../functions/admin/command.ts';
import { emptyingCommands } from '../emptying.ts';
import { alarmCommands, alarmFamily } from './alarm.ts';
import { bucketCommands, bucketFamily } from './bucket.ts';
import { compactCommand } from './compact.ts';
import { customerCommands, customerFamily } from './customer.ts';
import { doctorCommand } from './doctor.ts';
import { envCommand, envCommands } from './env.ts';
import { eventsCommands, eventsFamily } from './events.ts';
import { keyCommands, keyFamily } from './key.ts';
import { linkCommands, linkFamily } from './link.ts';
import { metricsCommands, metricsFamily } from './metrics.ts';
import { monitoringCommands, monitoringFamily } from './monitoring.ts';
import { policyCommands, policyFamily } from './policy.ts';
import { projectCommands, projectFamily } from './project.ts';
import { quotaCommands, quotaFamily } from './quota.ts';
import { releaseCommand } from './release.ts';
import { runFamily } from './run.ts';
import { scrubCommand } from './scrub.ts';
import { startCommand } from './start.ts';
import { usageCommand, usageCommands } from './usage.ts';
import { userCommands, userFamily } from './user.ts';
import { webhookCommands, webhookFamily } from './webhook.ts';

/** The headings of the program's help, and the commands below each: a file for each family. */
const groups: readonly (readonly [heading: string, families: readonly (() => Command)[]])[] = [
  ['Service:', [startCommand, runFamily, releaseCommand, scrubCommand, doctorCommand, compactCommand]],
  [
    'Tenants:',
    [customerFamily, projectFamily, userFamily, policyFamily, keyFamily, envCommand, quotaFamily, usageCommand],
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

/** The administrative commands, which the function of a deployment carries out as well: it leaves the command line out of its bundle. */
export const administrationCommands: readonly AdministrationCommand<never, unknown>[] = [
  customerCommands,
  projectCommands,
  userCommands,
  policyCommands,
  keyCommands,
  envCommands,
  quotaCommands,
  bucketCommands,
  emptyingCommands,
  usageCommands,
  linkCommands,
  monitoringCommands,
  metricsCommands,
  alarmCommands,
  webhookCommands,
  eventsCommands,
].flatMap((commands) => Object.values<AdministrationCommand<never, unknown>>(commands));
