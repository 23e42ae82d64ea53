import { account } from '../../shared/documents/account.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

/**
 * Returns who signed the request and the number and limit of their project's buckets, for the console's profile page.
 * docs/console.md
 */
export const getAccount = defineOperation({
  name: 'GetAccount',
  on: 'service',
  body: 'none',
  needs: { table: 'read' },
  parse: () => ({}),
  authorise: () => [{ action: 'GetAccount' }],
  act: async (_, { caller, buckets, settings }) => {
    if (caller.kind !== 'user') throw new S3Error('AccessDenied');
    const { project, name, accessKeyId } = caller;
    return {
      project,
      user: name,
      accessKeyId,
      bucketCount: await buckets.countOf(project.id),
      bucketLimit: project.bucketQuota ?? settings.limits.bucketsPerProject,
    };
  },
  render: (output, _, { settings }) => ({ xml: account.write(output, settings.xmlNamespace) }),
});
