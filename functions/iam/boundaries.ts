import type { CarrierKind } from '../../shared/accounts/directory.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { called } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction } from './iam-action.ts';
import { arnText, nameText } from './inputs.ts';
import { noSuchPolicy } from './refusals.ts';
import { bounded, existing } from './subjects.ts';

/** The actions on the permissions boundaries of users or roles. */
export function boundaryActions(Kind: 'User' | 'Role') {
  const kind = Kind.toLowerCase() as CarrierKind;
  const of = { name: called(`${Kind}Name`, nameText(64)) };

  const put = iamAction({
    name: `Put${Kind}PermissionsBoundary`,
    parameters: { ...of, PermissionsBoundary: arnText },
    about: async ({ name, PermissionsBoundary }, context) => ({
      ...(await existing(kind, name, context)),
      facts: { 'iam:permissionsboundary': PermissionsBoundary },
    }),
    bounds: async (it, { PermissionsBoundary: arn }, { directory }) => [
      ...(it.boundary === undefined ? [] : [it.boundary]),
      (await directory.policy({ arn }))?.ref,
    ],
    act: async (it, { PermissionsBoundary: arn }, { directory }) => {
      const policy = await directory.policy({ arn });
      if (policy === undefined) throw noSuchPolicy(arn);
      directory.change(it, { boundary: policy.ref });
    },
  });

  const remove = iamAction({
    name: `Delete${Kind}PermissionsBoundary`,
    parameters: of,
    about: ({ name }, context) => bounded(kind, name, context),
    bounds: () => [undefined],
    act: (it, { name }, { directory }) => {
      if (it.boundary === undefined)
        throw new S3Error('NoSuchEntity', { message: `The ${kind} with name ${name} has no permissions boundary.` });
      directory.change(it, { boundary: undefined });
    },
  });

  return [put, remove];
}
