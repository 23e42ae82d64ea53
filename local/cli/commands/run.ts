import type { Command } from 'commander';
import { nothingDone, type LifecycleTally } from '../../../shared/lifecycle/lifecycle-key.ts';
import { applyLifecycle, type LifecycleReport } from '../../../shared/lifecycle/apply-lifecycle.ts';
import { lifecycleDeps } from '../../../functions/compose/lifecycle.ts';
import { calendarOf } from '../../server/schedules/lifecycle-schedule.ts';
import { option, startOption } from '../../../shared/command-line/option.ts';
import { countTo } from '../../../shared/command-line/option-values.ts';
import { family, localVerb, type Named } from '../command.ts';
import type { Deps } from '../data-deps.ts';
import { count, recordReport, time, type Report } from '../../../shared/command-line/report.ts';
import { collectMetricsCommand, evaluateAlarmsCommand } from './run-monitoring.ts';

/** Returns `stillage run`, which runs scheduled work now. */
export function commandLine(named: Named): Command {
  return family(named, [applyLifecycleCommand(), collectMetricsCommand(), evaluateAlarmsCommand()]);
}

interface ApplyLifecycleOptions {
  readonly lifecycleDaySeconds?: number;
  readonly workers: number;
}

function applyLifecycleCommand(): Command {
  return localVerb<ApplyLifecycleOptions>({
    name: 'apply-lifecycle',
    does: 'Apply lifecycle rules, finishing an interrupted pass first',
    options: [
      startOption('lifecycleDaySeconds'),
      option('--workers <n>', 'key ranges to process concurrently', countTo(1000)).default(4),
    ],
    examples: ['run apply-lifecycle', 'run apply-lifecycle --json --data /var/lib/stillage'],
    act: (deps, _, options) => runApplyLifecycle(deps, options),
  });
}

/**
 * Finishes an interrupted pass, if there is one, and then runs a pass that starts after the call. Writes progress to standard
 * error.
 */
async function runApplyLifecycle(deps: Deps, { lifecycleDaySeconds, workers }: ApplyLifecycleOptions): Promise<Report> {
  const calledAt = deps.clock.now();
  const work = lifecycleDeps(deps);
  const progress = new Progress();
  const passes: LifecycleReport[] = [];
  const options = {
    calendar: calendarOf(lifecycleDaySeconds),
    everyRange: true,
    workers,
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
    ['checked', count(keys, 'key')],
    ['expired', count(expired, 'object')],
    ['removed', `${count(removed, 'noncurrent version')}, ${count(markers, 'delete marker')}`],
    ['aborted', count(aborted, 'upload')],
    ['skipped', changed === 0 ? undefined : `${count(changed, 'key')} that changed during the pass`],
  ]);
  return { data: { passes }, text };
}

const tellEvery = 1000;

/** Writes a line of progress to standard error once a second; on a terminal, always to the same line. */
class Progress {
  #began = Date.now();
  #told = Date.now();
  #line = '';

  tell(bucket: string, { keys, expired, removed, markers, aborted }: LifecycleTally): void {
    const now = Date.now();
    const rate = Math.round((keys * 1000) / Math.max(1, now - this.#began));
    const gone = expired + removed + markers + aborted;
    this.#line = `${bucket}: ${count(keys, 'key')} checked, ${gone.toLocaleString('en')} removed, ${rate} keys/s`;
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
