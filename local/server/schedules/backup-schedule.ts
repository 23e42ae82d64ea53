import type { Clock } from '../../../shared/ports/clock.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { runProgram, type ProgramRun } from './program-run.ts';
import { onTheClock, type Schedule } from './schedule.ts';

const failure = 'the backup failed';

/** Of the service, what its backups need. */
type BackupOptions = Pick<StartOptions, 'data' | 'backupEvery' | 'backupPassphraseFile'> & {
  readonly to: string;
  /** The file of the program. */
  readonly program: string;
};

/**
 * Backs up the data directory now, which is resumed if the last one was killed, and then each time that `backupEvery` passes. A process of its own
 * does it, so that requests do not wait for its work.
 */
export function scheduleBackups(options: BackupOptions, clock: Clock, telemetry: Telemetry): Schedule {
  let running: ProgramRun | undefined;
  const backUp = async (): Promise<void> => {
    running = runProgram(options.program, backupCommand(options));
    const { code, stdout, stderr } = await running.ended;
    running = undefined;
    // It prints what it made also if something could not be read.
    if (stdout !== '') telemetry.note('a backup was made', shown(stdout));
    if (code !== 0 && !isStopping) telemetry.problem(failure, undefined, { said: stderr.trim() });
  };
  let isStopping = false;
  const schedule = onTheClock(options.backupEvery, clock, backUp, telemetry, failure);
  return {
    stop: async () => {
      isStopping = true;
      running?.kill();
      await schedule.stop();
    },
  };
}

/** Returns the arguments of the command that backs up a data directory as its service was told to. */
export function backupCommand({
  to,
  data,
  backupPassphraseFile: file,
}: {
  readonly to: string;
  readonly data: string;
  readonly backupPassphraseFile?: string | undefined;
}): readonly string[] {
  return ['backup', 'create', to, '--data', data, '--json', ...(file === undefined ? [] : ['--passphrase-file', file])];
}

function shown(json: string): Readonly<Record<string, string | number>> {
  const { id, items, blobs, added, took, unread } = JSON.parse(json) as Record<string, string | number>;
  return { id: id!, items: items!, blobs: blobs!, added: added!, took: took!, unread: unread! };
}
