import type { Command } from 'commander';
import { argument, command, optional, Refusal, type AdministrationDeps } from '../../../functions/admin/command.ts';
import { jobKinds, jobStates, type Job, type Jobs } from '../../../functions/admin/jobs.ts';
import { result } from '../../../functions/admin/results.ts';
import { option } from '../../../shared/command-line/option.ts';
import { recordReport, tableReport, time, type Report } from '../../../shared/command-line/report.ts';
import { family, verb, type Named } from '../command.ts';
import * as operand from '../operands.ts';

const named = { id: argument.word } as const;
const shownJob = result.object({
  ...{ id: result.text, job: result.enum(jobKinds), state: result.enum(jobStates), started: result.time },
  ...{ ended: result.optional(result.time), said: result.optional(result.text), result: result.any },
});

export const jobCommands = {
  start: command(
    'job start',
    'manage',
    { job: argument.text, content: optional(argument.flag), repair: optional(argument.flag) },
    shownJob,
    async (deps, { job, ...options }) => {
      const kind = jobKinds.find((one) => one === job);
      if (kind === undefined) throw new Refusal(`job must be one of ${jobKinds.join(', ')}`);
      return jobsOf(deps).start(kind, options);
    },
  ),
  list: command('job list', 'read', {}, result.list(shownJob), async (deps) => jobsOf(deps).list()),
  show: command('job show', 'read', named, shownJob, async (deps, { id }) => known(id, jobsOf(deps).find(id))),
  cancel: command('job cancel', 'manage', named, shownJob, async (deps, { id }) =>
    known(id, await jobsOf(deps).cancel(id)),
  ),
};

/** @throws Refusal */
function jobsOf({ jobs }: AdministrationDeps): Jobs {
  if (jobs !== undefined) return jobs;
  throw new Refusal(
    'jobs run in a service with --admin-port: name it with --endpoint, or run the command of the job on the machine',
  );
}

/** @throws Refusal */
function known(id: string, job: Job | undefined): Job {
  if (job === undefined)
    throw new Refusal(`there is no job ${JSON.stringify(id)}: the service may have been restarted`);
  return job;
}

// Made when they are needed, as in the other families: the cloud has their commands, and neither operands nor options.
const id = (): operand.Operand => ['<id>', 'id of the job', operand.word];

const whichJob = (): operand.Operand => operand.oneOf('job', jobKinds);

/** Returns `stillage job`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb<{ readonly content?: true; readonly repair?: true }>({
      name: 'start',
      does: 'Start a job, which runs in a process beside the service and ends with it',
      operands: [whichJob()],
      options: [
        option('--content', 'of a scrub: read and verify the bytes of all objects, too'),
        option('--repair', 'of a scrub: repair what can be repaired'),
      ],
      examples: ['job start scrub --content --endpoint http://127.0.0.1:9002 --token-file operator.token'],
      act: async (ask, [job], { content, repair }) =>
        reportOf(await ask(jobCommands.start, { job: job!, content, repair })),
    }),
    verb({
      name: 'list',
      does: 'List the jobs that run, and those of the last day',
      examples: ['job list'],
      act: async (ask) =>
        tableReport(
          await ask(jobCommands.list, {}),
          [
            ['ID', (job) => job.id],
            ['JOB', ({ job }) => job],
            ['STATE', ({ state }) => state],
            ['STARTED', ({ started }) => time(started)],
            ['ENDED', ({ ended }) => (ended === undefined ? '-' : time(ended))],
            ['SAID', ({ said }) => said ?? '-'],
          ],
          'no jobs',
        ),
    }),
    verb({
      name: 'show',
      does: 'Show a job, with its result once it has ended',
      operands: [id()],
      examples: ['job show rrV0b1cJk2wE --json'],
      act: async (ask, [name]) => reportOf(await ask(jobCommands.show, { id: name! })),
    }),
    verb({
      name: 'cancel',
      does: 'End a job',
      operands: [id()],
      examples: ['job cancel rrV0b1cJk2wE'],
      act: async (ask, [name]) => reportOf(await ask(jobCommands.cancel, { id: name! })),
    }),
  ]);
}

function reportOf(job: Job): Report {
  return recordReport(job, [
    ['id', job.id],
    ['job', job.job],
    ['state', job.state],
    ['started', time(job.started)],
    ['ended', job.ended === undefined ? undefined : time(job.ended)],
    ['said', job.said],
    ['result', job.result === undefined ? undefined : JSON.stringify(job.result)],
  ]);
}
