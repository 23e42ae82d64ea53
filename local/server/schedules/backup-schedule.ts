import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
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
  let running: ChildProcess | undefined;
  const backUp = async (): Promise<void> => {
    const child = spawn(process.execPath, [options.program, ...commandOf(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running = child;
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]
        .setEncoding('utf8')
        .on('data', (text: string) => (output[name] = (output[name] + text).slice(-maxOutput)));
    }
    const [code] = (await once(child, 'close')) as [number | null];
    running = undefined;
    // It prints what it made also if something could not be read.
    if (output.stdout !== '') telemetry.note('a backup was made', shown(output.stdout));
    if (code !== 0 && !isStopping) telemetry.problem(failure, undefined, { said: output.stderr.trim() });
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

/** The characters of its output that are kept, the last ones. */
const maxOutput = 10_000;

function commandOf({ to, data, backupPassphraseFile: file }: BackupOptions): readonly string[] {
  return ['backup', 'create', to, '--data', data, '--json', ...(file === undefined ? [] : ['--passphrase-file', file])];
}

function shown(json: string): Readonly<Record<string, string | number>> {
  const { id, items, blobs, added, took, unread } = JSON.parse(json) as Record<string, string | number>;
  return { id: id!, items: items!, blobs: blobs!, added: added!, took: took!, unread: unread! };
}
