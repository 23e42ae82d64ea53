import type { Command } from 'commander';
import { family, verb, type Named } from '../command.ts';
import { everyPage } from '../every-page.ts';
import * as operand from '../operands.ts';
import { auditBucket, auditVerb } from './bucket-audit.ts';
import { listLocks, locksVerb } from './bucket-locks.ts';
import { projectCommands } from './project.ts';
import {
  bucketsOf,
  confirm,
  contentsOf,
  contentsText,
  emptyAndRemove,
  emptyBucket,
  emptyingCommands,
  lockedText,
  listBuckets,
  refuseUnasked,
  yesOption,
  type ConfirmedOptions,
  type ListedBucket,
} from '../emptying.ts';
import { tableReport, time } from '../../../shared/command-line/report.ts';
import { option } from '../../../shared/command-line/option.ts';
import { sizeText } from '../../../shared/command-line/sizes.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { argument, command } from '../../../functions/admin/command.ts';
import { result } from '../../../functions/admin/results.ts';

const removedPolicy = result.object({ bucket: result.text, policy: result.text });

export const bucketCommands = {
  list: listBuckets,
  locks: listLocks,
  audit: auditBucket,
  /** Removes and returns the policy, which restores access for everybody it denied, including the owner. */
  removePolicy: command(
    'bucket remove-policy',
    'manage',
    { bucket: argument.text },
    removedPolicy,
    async ({ buckets }, given) => {
      const bucket = await buckets.load(given.bucket);
      const policy = await buckets.documents.of(bucket, 'policy');
      if (policy === undefined) throw new S3Error('NoSuchBucketPolicy');
      await buckets.documents.set(asService(bucket), 'policy', undefined);
      return { bucket: bucket.name, policy: policy['text'] as string };
    },
  ),
};

/** Returns `stillage bucket`. */
export function commandLine(named: Named): Command {
  return family(named, [
    verb({
      name: 'list',
      does: 'List the buckets of a project, or of all projects, with their size',
      operands: [operand.optionally(operand.project)],
      examples: ['bucket list', 'bucket list shop@acme --json'],
      act: async (ask, [project]) => {
        const all =
          project === undefined ? await everyPage(ask, projectCommands.list, {}, (page) => page.projects) : [];
        const buckets: ListedBucket[] = [];
        for (const one of project === undefined ? all.map(({ id }) => id) : [project])
          buckets.push(...(await bucketsOf(ask, one)));
        return tableReport(
          buckets,
          [
            ['BUCKET', ({ bucket }) => bucket],
            ['PROJECT', ({ project: email }) => email],
            ['OBJECTS', ({ objects }) => String(objects)],
            ['VERSIONS', ({ bytes }) => sizeText(bytes)],
            ['BESIDES', ({ bytesBesides }) => sizeText(bytesBesides)],
            ['CREATED', ({ created }) => time(created)],
          ],
          'no buckets',
        );
      },
    }),
    locksVerb(),
    auditVerb(),
    verb<ConfirmedOptions>({
      name: 'empty',
      does: 'Remove all objects, versions and uploads of a bucket, also while the service runs',
      operands: [operand.bucket],
      options: [yesOption()],
      examples: ['bucket empty photos', 'bucket empty photos --yes --json'],
      act: async (ask, [bucket], options) => {
        refuseUnasked(options);
        const { id, ...contents } = await contentsOf(ask, bucket!);
        await confirm(bucket!, `${bucket}: ${contentsText(contents)}`, options);
        const { locked, ...removed } = await emptyBucket(ask, bucket!, id);
        const data = { bucket, found: contents, removed, ...(locked > 0 && { locked }) };
        return { data, text: locked === 0 ? `emptied ${bucket}` : `${bucket} is not empty: ${lockedText(locked)}` };
      },
    }),
    verb<ConfirmedOptions & { readonly contents?: true }>({
      name: 'remove',
      does: 'Remove an empty bucket or, with --contents, a bucket with all that it holds',
      operands: [operand.bucket],
      options: [option('--contents', 'empty it first'), yesOption()],
      examples: ['bucket remove photos', 'bucket remove photos --contents --yes'],
      act: async (ask, [bucket], { contents: withContents, ...options }) => {
        if (!withContents) {
          await ask(emptyingCommands.remove, { bucket: bucket! });
          return `removed ${bucket}`;
        }
        refuseUnasked(options);
        const { id, ...contents } = await contentsOf(ask, bucket!);
        await confirm(bucket!, `${bucket}: ${contentsText(contents)}`, options);
        const removed = await emptyAndRemove(ask, bucket!, id);
        return { data: { bucket, found: contents, removed }, text: `removed ${bucket}` };
      },
    }),
    verb({
      name: 'remove-policy',
      does: 'Remove the policy of a bucket, even if it denies everybody, and print it',
      operands: [operand.bucket],
      examples: ['bucket remove-policy photos', 'bucket remove-policy photos > policy.json'],
      act: async (ask, [bucket]) => {
        const removed = await ask(bucketCommands.removePolicy, { bucket: bucket! });
        return { data: removed, text: removed.policy };
      },
    }),
  ]);
}
