import cluster from 'node:cluster';
import { Command } from 'commander';
import { keyOfEnvironment } from '../../server/first-start/initial-key.ts';
import { runLocalServer } from '../../server/server.ts';
import type { GivenStartOptions } from '../../../shared/command-line/start-options.ts';
import { defaultWorkers } from '../../server/processes/default-workers.ts';
import { runWorker } from '../../server/processes/worker.ts';
import type { Named } from '../command.ts';
import { examplesHelp } from '../help.ts';
import { limitsHelp } from '../../../shared/command-line/limits.ts';
import { outliveOutput } from '../standard-output.ts';
import { allStartOptions } from '../../../shared/command-line/option.ts';

const examples = [
  'start',
  'start --port 9100 --data /var/lib/stillage',
  'start --host 0.0.0.0 --domain s3.example.com --tls-cert tls.crt --tls-key tls.key',
  'start --ephemeral --port 0 --ready-file endpoint.txt --buckets photos,logs',
];

const environmentHelp = `
Repeatable options also take several values separated by commas.

Only in the environment, as other users of a machine can read command lines:
  STILLAGE_ACCESS_KEY, STILLAGE_SECRET_KEY    access key to create if missing
  STILLAGE_BACKUP_PASSPHRASE                  passphrase of the backups, if no file has it`;

/** Returns `stillage start`. */
export function commandLine({ name, does }: Named): Command {
  const command = new Command(name).description(does);
  for (const option of allStartOptions()) command.addOption(option);
  return command
    .optionsGroup('Help:')
    .addHelpText('after', examplesHelp(examples))
    .addHelpText('after', environmentHelp)
    .addHelpText('after', limitsHelp)
    .action(async ({ workers, ...given }: GivenStartOptions) => {
      outliveOutput();
      const options = {
        ...given,
        workers: workers ?? (given.ephemeral || given.table !== undefined ? 1 : defaultWorkers()),
      };
      if (cluster.isWorker) return runWorker(options);
      const key = await keyOfEnvironment(process.env, options);
      await runLocalServer({ ...options, ...(key && { key }) }, async () => {
        const { administrationCommands } = await import('./administration-commands.ts');
        return administrationCommands;
      });
    });
}
