import { computed, signal } from '@preact/signals';
import { Job, type JobSpec } from './job.ts';

/** The jobs of this session, the newest first. */
export const jobs = signal<readonly Job[]>([]);
export const activeJobs = computed(() => jobs.value.filter((job) => job.isActive.value));
/** Those with failures that were neither tried again nor cleared. */
export const failedJobs = computed(() => jobs.value.filter((job) => job.state.value === 'failed'));
/** The job that has ended last. */
export const lastEnded = signal<Job | undefined>(undefined);

/** Counts up whenever a job has changed what a bucket holds, so that lists read again. */
export const changes = signal<{ readonly bucket: string; readonly count: number }>({ bucket: '', count: 0 });

let count = 0;

/** Starts a job. */
export function start<T>(spec: JobSpec<T>): Job<T> {
  const job = new Job<T>(++count, {
    ...spec,
    ended: () => {
      noteChange(spec.bucket);
      spec.ended?.();
      lastEnded.value = job as Job;
    },
  });
  jobs.value = [job as Job, ...jobs.value];
  return job;
}

export function noteChange(bucket: string): void {
  changes.value = { bucket, count: changes.value.count + 1 };
}

/** Takes what has ended off the list. */
export function clearEnded(): void {
  jobs.value = activeJobs.value;
}

/** Stops everything: nothing signs any more. */
export function stopAll(): void {
  for (const job of activeJobs.value) job.stop();
  jobs.value = [];
}
