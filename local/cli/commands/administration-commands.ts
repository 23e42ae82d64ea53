import type { AdministrationCommand } from '../../../functions/admin/command.ts';
import { emptyingCommands } from '../emptying.ts';
import { alarmCommands } from './alarm.ts';
import { auditCommands } from './audit.ts';
import { bucketCommands } from './bucket.ts';
import { customerCommands } from './customer.ts';
import { envCommands } from './env.ts';
import { eventsCommands } from './events.ts';
import { jobCommands } from './job.ts';
import { keyCommands } from './key.ts';
import { linkCommands } from './link.ts';
import { metricsCommands } from './metrics.ts';
import { monitoringCommands } from './monitoring.ts';
import { policyCommands } from './policy.ts';
import { projectCommands } from './project.ts';
import { quotaCommands } from './quota.ts';
import { usageCommands } from './usage.ts';
import { userCommands } from './user.ts';
import { webhookCommands } from './webhook.ts';

/**
 * The administrative commands, which the function of a deployment and the API of operators carry out as well. The command line is left out of
 * the function's bundle.
 */
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
  auditCommands,
  webhookCommands,
  eventsCommands,
  jobCommands,
].flatMap((commands) => Object.values<AdministrationCommand<never, unknown>>(commands));
