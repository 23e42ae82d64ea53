import type * as z from 'zod/mini';
import { alarmCommands } from './alarms.ts';
import { bucketCommands } from './buckets.ts';
import { customerCommands } from './customers.ts';
import { keyCommands } from './keys.ts';
import { linkCommands } from './links.ts';
import { metricsCommands } from './metrics.ts';
import { monitoringCommands } from './monitoring.ts';
import { projectCommands } from './projects.ts';
import { quotaCommands } from './quotas.ts';
import { usageCommands } from './usage.ts';
import { userCommands } from './users.ts';

/** The administrative commands by name. */
export const administrationCommands = {
  ...customerCommands,
  ...projectCommands,
  ...userCommands,
  ...keyCommands,
  ...quotaCommands,
  ...bucketCommands,
  ...usageCommands,
  ...linkCommands,
  ...monitoringCommands,
  ...metricsCommands,
  ...alarmCommands,
};

type Commands = typeof administrationCommands;

export type CommandName = keyof Commands;

/** The arguments of a command. */
export type GivenTo<Name extends CommandName> = z.output<Commands[Name]['takes']>;

/** The result of a command. */
export type ResultOf<Name extends CommandName> = Awaited<ReturnType<Commands[Name]['run']>>;

/** Carries out commands, on this machine or in the cloud. @throws Error with one line that says why a command was refused */
export type Ask = <Name extends CommandName>(name: Name, given: GivenTo<Name>) => Promise<ResultOf<Name>>;
