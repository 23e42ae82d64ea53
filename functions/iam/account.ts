import { emptyList, summary } from '../../shared/documents/iam.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { optional } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction, type ActionName } from './iam-action.ts';
import { userName } from './inputs.ts';
import { byNothing, listing } from './listings.ts';
import { quotas } from './quotas.ts';
import { existing, theAccount, userOrCaller } from './subjects.ts';

const getAccountSummary = iamAction({
  name: 'GetAccountSummary',
  parameters: {},
  about: theAccount,
  act: async (_, __, { directory }) => {
    const counts = {
      Users: (await directory.carriers('user')).length,
      Groups: (await directory.carriers('group')).length,
      Roles: (await directory.carriers('role')).length,
      Policies: (await directory.policies()).length,
      ...quotas,
      AccountAccessKeysPresent: 1,
      AccountMFAEnabled: 0,
      MFADevices: 0,
      MFADevicesInUse: 0,
      Providers: (await directory.providers()).length,
      ServerCertificates: 0,
      InstanceProfiles: 0,
    };
    return { entries: Object.entries(counts).map(([key, value]) => ({ key, value })) };
  },
  result: summary,
});

/** A list of what does not exist here: clients look before they delete a user. */
function absent(name: ActionName, list: string) {
  const { parameters, page } = listing(name, byNothing);
  return iamAction({
    name,
    parameters: { UserName: optional(userName), ...parameters },
    about: ({ UserName }, context) => userOrCaller(UserName, context),
    act: (_, input) => page([], input),
    result: emptyList(list),
  });
}

/** As {@link absent}, of the account. */
function absentInAccount(name: ActionName, list: string) {
  const { parameters, page } = listing(name, byNothing);
  return iamAction({
    name,
    parameters,
    about: theAccount,
    act: (_, input) => page([], input),
    result: emptyList(list),
  });
}

/** Nobody has a password. */
function loginProfile(name: 'GetLoginProfile' | 'DeleteLoginProfile') {
  return iamAction({
    name,
    parameters: { UserName: userName },
    about: ({ UserName }, context) => existing('user', UserName, context),
    act: (_, { UserName }): void => {
      throw new S3Error('NoSuchEntity', { message: `Login Profile for User ${UserName} cannot be found.` });
    },
  });
}

export const accountActions = [
  getAccountSummary,
  absentInAccount('ListAccountAliases', 'AccountAliases'),
  absentInAccount('ListVirtualMFADevices', 'VirtualMFADevices'),
  absent('ListMFADevices', 'MFADevices'),
  absent('ListSSHPublicKeys', 'SSHPublicKeys'),
  absent('ListSigningCertificates', 'Certificates'),
  absent('ListServiceSpecificCredentials', 'ServiceSpecificCredentials'),
  loginProfile('GetLoginProfile'),
  loginProfile('DeleteLoginProfile'),
];
