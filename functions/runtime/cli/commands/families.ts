import type { Command } from 'commander';
import { alarmFamily } from './alarm.ts';
import { bucketFamily } from './bucket.ts';
import { customerFamily } from './customer.ts';
import { envCommand } from './env.ts';
import { keyFamily } from './key.ts';
import { linkFamily } from './link.ts';
import { metricsFamily } from './metrics.ts';
import { monitoringFamily } from './monitoring.ts';
import { projectFamily } from './project.ts';
import { quotaFamily } from './quota.ts';
import { runFamily } from './run.ts';
import { scrubCommand } from './scrub.ts';
import { startCommand } from './start.ts';
import { usageCommand } from './usage.ts';
import { userFamily } from './user.ts';

/** The commands of the program, a file for each family, in the order in which its help shows them. */
export const families: readonly (() => Command)[] = [
  startCommand,
  customerFamily,
  projectFamily,
  userFamily,
  keyFamily,
  envCommand,
  quotaFamily,
  bucketFamily,
  usageCommand,
  linkFamily,
  monitoringFamily,
  metricsFamily,
  alarmFamily,
  runFamily,
  scrubCommand,
];
