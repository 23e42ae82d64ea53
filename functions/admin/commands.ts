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

/** Every command of administration, by its name. */
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

/** What a command is given. */
export type GivenTo<Name extends CommandName> = z.output<Commands[Name]['takes']>;

/** What comes of a command. */
export type ResultOf<Name extends CommandName> = Awaited<ReturnType<Commands[Name]['run']>>;

/** Whoever carries out commands, wherever that is. @throws Error that says in a line why something cannot be done */
export type Ask = <Name extends CommandName>(name: Name, given: GivenTo<Name>) => Promise<ResultOf<Name>>;
