import { checkBucketName } from '../../shared/http/bucket-name.ts';
import type { Buckets } from '../../shared/metadata/buckets/buckets.ts';
import { asService, byOperator } from '../../shared/metadata/objects/service-authorisation.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { argument, command, optional } from './command.ts';

/** Buckets per page. Two items are read for each. */
const page = 200;

export const bucketCommands = {
  /** Returns a page of the buckets of a project, with their sizes. */
  'bucket list': command(
    { project: argument.text, after: optional(argument.text) },
    async ({ accounts, buckets, usage }, { project, after }) => {
      const { id, email } = await accounts.project(project);
      const found = await buckets.ownedBy(id, { limit: page, ...(after !== undefined && { after }) });
      const listed = await Promise.all(
        found.buckets.map(async ({ name, created }) => {
          const bucket = await buckets.find(name);
          return bucket && { bucket: name, project: email, created, ...(await usage.of(bucket.id)) };
        }),
      );
      return {
        buckets: listed.filter((one) => one !== undefined),
        ...(found.more && { next: found.buckets.at(-1)!.name }),
      };
    },
  ),
  /** Removes and returns the policy, which restores access for everybody it denied, including the owner. */
  'bucket remove-policy': command({ bucket: argument.text }, async ({ buckets }, given) => {
    const bucket = await buckets.load(given.bucket);
    const policy = await buckets.documents.of(bucket, 'policy');
    if (policy === undefined) throw new S3Error('NoSuchBucketPolicy');
    await buckets.documents.set(asService(bucket), 'policy', undefined);
    return { bucket: bucket.name, policy: policy['text'] as string };
  }),
};

/**
 * Creates a bucket unless the project has one of this name.
 * @throws S3Error InvalidBucketName, BucketAlreadyExists (another project's), SlowDown
 */
export async function declareBucket(buckets: Buckets, name: string, project: string): Promise<void> {
  checkBucketName(name);
  await buckets.create(byOperator, name, project, Infinity);
}
