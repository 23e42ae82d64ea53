import { Refusal } from '../../../functions/admin/command.ts';
import type { Job, JobKind, JobOptions, Jobs } from '../../../functions/admin/jobs.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { day } from '../../../shared/ports/durations.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { backupCommand } from '../schedules/backup-schedule.ts';
import { runProgram, type ProgramRun } from '../schedules/program-run.ts';

/** How many that have ended are remembered, and for how long. */
const most = 100;
const remembered = day;

interface Deps {
  /** The options of the service. */
  readonly options: Pick<StartOptions, 'data' | 'backupTo' | 'backupPassphraseFile'>;
  /** The file of the program. */
  readonly program: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

interface Kept {
  job: Job;
  readonly run: ProgramRun;
  readonly end: Promise<void>;
  isCancelled: boolean;
}

/** Jobs that are commands of the program, each in a process of its own. They end with the service, which forgets them. */
export class ProgramJobs implements Jobs {
  readonly #deps: Deps;
  readonly #kept = new Map<string, Kept>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async start(kind: JobKind, options: JobOptions): Promise<Job> {
    const command = this.#commandOf(kind, options);
    const running = this.list().find(({ job, state }) => job === kind && state === 'running');
    if (running) throw new Refusal(`a ${kind} is running already: ${running.id}`);
    const { clock, randomness, program } = this.#deps;
    const id = Buffer.from(randomness.bytes(9)).toString('base64url');
    const run = runProgram(program, command, (said) => {
      kept.job = { ...kept.job, said };
    });
    const kept: Kept = {
      job: { id, job: kind, state: 'running', started: clock.now() },
      run,
      isCancelled: false,
      end: run.ended.then(({ code, stdout }) => {
        const result = parsed(stdout);
        // A scrub that has found something ends with 1, and with what it has found.
        const state = kept.isCancelled ? 'cancelled' : code === 0 || result !== undefined ? 'done' : 'failed';
        kept.job = { ...kept.job, state, ended: clock.now(), ...(result !== undefined && { result }) };
      }),
    };
    this.#kept.set(id, kept);
    return kept.job;
  }

  list(): readonly Job[] {
    this.#forget();
    return Array.from(this.#kept.values(), ({ job }) => job);
  }

  find(id: string): Job | undefined {
    this.#forget();
    return this.#kept.get(id)?.job;
  }

  async cancel(id: string): Promise<Job | undefined> {
    const kept = this.#kept.get(id);
    if (kept?.job.state === 'running') {
      kept.isCancelled = true;
      kept.run.kill();
      await kept.end;
    }
    return kept?.job;
  }

  /** Ends all of them. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#kept.keys(), (id) => this.cancel(id)));
  }

  #commandOf(kind: JobKind, { content = false, repair = false }: JobOptions): readonly string[] {
    const { data, backupTo: to, backupPassphraseFile } = this.#deps.options;
    if (kind !== 'scrub' && (content || repair)) throw new Refusal(`a ${kind} has no options`);
    if (kind === 'backup') {
      if (to === undefined) throw new Refusal('the service has no target for backups: start it with --backup-to');
      return backupCommand({ to, data, backupPassphraseFile });
    }
    const options = [...(content ? ['--content'] : []), ...(repair ? ['--repair'] : [])];
    return [kind, ...options, '--json', '--data', data];
  }

  #forget(): void {
    const ended = Array.from(this.#kept.values(), ({ job }) => job).filter(({ state }) => state !== 'running');
    const before = this.#deps.clock.now() - remembered;
    for (const [at, { id, ended: time = 0 }] of ended.entries()) {
      if (time < before || at < ended.length - most) this.#kept.delete(id);
    }
  }
}

/** Returns what a command has printed. Undefined: nothing, only a part, or more than is kept. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
