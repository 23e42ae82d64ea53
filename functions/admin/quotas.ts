import { asService } from '../../shared/metadata/objects/service-authorisation.ts';
import { bucketCountOf } from '../../shared/metadata/buckets/bucket-count.ts';
import { quotaOf } from '../../shared/metadata/quotas/quotas.ts';
import { limitTable } from '../../shared/protocol/limits.ts';
import { argument, command, optional, present, Refusal } from './command.ts';

/** The highest quota of buckets for a project. */
export const maxBuckets = limitTable.bucketsPerProject.most;

export const quotaCommands = {
  'quota show project': command({ project: argument.text }, async ({ accounts, table, settings }, { project }) => {
    const { id, bucketQuota } = await accounts.project(project);
    const used = await bucketCountOf(table, id);
    const quota = bucketQuota ?? settings.limits.bucketsPerProject;
    return { project, buckets: { used, quota, isDefault: bucketQuota === undefined } };
  }),
  'quota show bucket': command({ bucket: argument.text }, async ({ buckets, usage, settings: { limits } }, given) => {
    const bucket = await buckets.load(given.bucket);
    return {
      bucket: bucket.name,
      used: await usage.held(bucket.id),
      quota: quotaOf(bucket, { bytes: limits.bucketBytes, objects: limits.bucketObjects }),
      isDefault: { bytes: bucket.quota?.bytes === undefined, objects: bucket.quota?.objects === undefined },
    };
  }),
  'quota set project': command(
    { project: argument.text, buckets: argument.choice },
    async ({ accounts }, { project, buckets }) => {
      if (buckets !== 'default' && buckets > maxBuckets) {
        throw new Refusal(`a project may have at most ${maxBuckets} buckets`);
      }
      await accounts.setBucketQuota(project, buckets === 'default' ? undefined : buckets);
    },
  ),
  /** Omitted quotas stay unchanged. */
  'quota set bucket': command(
    { bucket: argument.text, bytes: optional(argument.choice), objects: optional(argument.choice) },
    async ({ buckets }, { bucket, ...asked }) => {
      const found = await buckets.load(bucket);
      const { quota = {} } = found;
      const chosen = Object.entries({ ...quota, ...present(asked) }).filter(([, amount]) => amount !== 'default');
      await buckets.setQuota(asService(found), Object.fromEntries(chosen));
    },
  ),
};
