import { Option, type Command } from 'commander';
import { nothingDone, type LifecycleTally } from '../../../../shared/metadata/lifecycle/lifecycle-key.ts';
import { applyLifecycle, type LifecycleReport } from '../../../../shared/metadata/lifecycle/apply-lifecycle.ts';
import { lifecycleDeps } from '../../compose/lifecycle.ts';
import { calendarOf } from '../../local/lifecycle-schedule.ts';
import { lifecycleDayOption } from '../schedule-options.ts';
import { family, localVerb } from '../command.ts';
import type { Deps } from '../data-deps.ts';
import { count, recordReport, time, type Report } from '../report.ts';
import { collectMetricsCommand, evaluateAlarmsCommand } from './run-monitoring.ts';

/** `stillage run`: what a service does on a schedule, done now. */
export function runFamily(): Command {
  return family('run', 'Do now what the service does on a schedule.', [
    applyLifecycleCommand(),
    collectMetricsCommand(),
    evaluateAlarmsCommand(),
  ]);
}

interface ApplyLifecycleOptions {
  readonly lifecycleDaySeconds?: number;
  readonly workers: number;
}

function applyLifecycleCommand(): Command {
  return localVerb<ApplyLifecycleOptions>({
    name: 'apply-lifecycle',
    does: 'Apply the lifecycle rules of all buckets; a pass that was interrupted is gone on with first.',
    options: [
      lifecycleDayOption(),
      new Option('--workers <n>', 'stretches of keys that are worked on at the same time').default(4).argParser(Number),
    ],
    examples: ['run apply-lifecycle', 'run apply-lifecycle --json --data /var/lib/stillage'],
    act: (deps, _, options) => runApplyLifecycle(deps, options),
  });
}

/**
 * Goes on with the pass that is not over, if there is one; then, or else, makes a pass that has begun after the call. Tells on standard
 * error how far it is.
 */
async function runApplyLifecycle(deps: Deps, { lifecycleDaySeconds, workers }: ApplyLifecycleOptions): Promise<Report> {
  const calledAt = deps.clock.now();
  const work = lifecycleDeps(deps);
  const progress = new Progress();
  const passes: LifecycleReport[] = [];
  const options = {
    calendar: calendarOf(lifecycleDaySeconds),
    workers: Math.max(1, Math.floor(workers) || 1),
    progress: (bucket: string, done: LifecycleTally) => progress.tell(bucket, done),
  };
  do {
    passes.push(await applyLifecycle(work, options));
    progress.end();
  } while (passes.at(-1)!.pass.startedAt < calledAt);
  return reportOf(passes, calledAt);
}

function reportOf(reports: readonly LifecycleReport[], calledAt: number): Report {
  const passes = reports.map(({ pass }) => ({
    startedAt: time(pass.startedAt),
    ...(pass.finishedAt !== undefined && { finishedAt: time(pass.finishedAt) }),
    interrupted: pass.startedAt < calledAt,
    ...pass.tally,
  }));
  const { keys, expired, removed, markers, aborted, changed } = reports.at(-1)?.pass.tally ?? nothingDone;
  const { text } = recordReport(undefined, [
    ['looked at', count(keys, 'key')],
    ['expired', count(expired, 'object')],
    ['removed', `${count(removed, 'non-current version')}, ${count(markers, 'delete marker')}`],
    ['aborted', count(aborted, 'upload')],
    ['left alone', changed === 0 ? undefined : `${count(changed, 'key')} that changed meanwhile`],
  ]);
  return { data: { passes }, text };
}

const tellEvery = 1000;

/** One line a second on standard error; on a terminal, always the same line. */
class Progress {
  #began = Date.now();
  #told = Date.now();
  #line = '';

  tell(bucket: string, { keys, expired, removed, markers, aborted }: LifecycleTally): void {
    const now = Date.now();
    const rate = Math.round((keys * 1000) / Math.max(1, now - this.#began));
    const gone = expired + removed + markers + aborted;
    this.#line = `${bucket}: ${count(keys, 'key')} looked at, ${gone.toLocaleString('en')} gone, ${rate} keys/s`;
    if (now - this.#told < tellEvery) return;
    this.#told = now;
    this.#write(process.stderr.isTTY ? `\r\u001b[K${this.#line}` : `${this.#line}\n`);
  }

  end(): void {
    if (this.#line === '') return;
    this.#write(process.stderr.isTTY ? `\r\u001b[K${this.#line}\n` : `${this.#line}\n`);
    this.#line = '';
    this.#began = Date.now();
  }

  #write(text: string): void {
    process.stderr.write(text);
  }
}
