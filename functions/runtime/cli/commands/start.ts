import cluster from 'node:cluster';
import { Command } from 'commander';
import { keyOfEnvironment } from '../../local/initial-key.ts';
import { startLocalServer } from '../../local/server.ts';
import type { StartOptions } from '../../local/settings.ts';
import { runWorker } from '../../local/workers/worker.ts';
import { limitsHelp } from '../limit-option.ts';
import { outliveReader } from '../standard-output.ts';
import { startOptions } from '../start-options.ts';

const environmentHelp = `
Every option is also an environment variable, STILLAGE_<OPTION>. Two are variables only, since everybody on a machine can read a command line:
  STILLAGE_ACCESS_KEY, STILLAGE_SECRET_KEY    create this access key at the start if it is missing`;

/** `stillage start`. */
export function startCommand(): Command {
  const command = new Command('start').description(
    'Run the whole service on this machine, until it is told to stop (SIGTERM or Ctrl-C).',
  );
  for (const option of startOptions()) command.addOption(option);
  return command
    .addHelpText('after', environmentHelp)
    .addHelpText('after', limitsHelp)
    .action(async (options: StartOptions) => {
      outliveReader();
      if (cluster.isWorker) return runWorker(options);
      const key = keyOfEnvironment(process.env, options);
      const server = await startLocalServer({ ...options, ...(key && { key }) });
      await server.stopped;
    });
}
