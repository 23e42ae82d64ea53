/**
 * How much an account may have, as in AWS by default, under the names that GetAccountSummary has for it:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
 */
export const quotas = {
  UsersQuota: 5000,
  GroupsQuota: 300,
  RolesQuota: 1000,
  OIDCProvidersQuota: 100,
  ClientIDsPerProvider: 100,
  PoliciesQuota: 1500,
  GroupsPerUserQuota: 10,
  AttachedPoliciesPerUserQuota: 10,
  AttachedPoliciesPerGroupQuota: 10,
  AttachedPoliciesPerRoleQuota: 10,
  AccessKeysPerUserQuota: 2,
  VersionsPerPolicyQuota: 5,
  PolicySizeQuota: 6144,
  UserPolicySizeQuota: 2048,
  GroupPolicySizeQuota: 5120,
  RolePolicySizeQuota: 10_240,
  AssumeRolePolicySizeQuota: 2048,
} as const;

/** The maximum number of tags of anything. */
export const maxTags = 50;

/** Returns the length of a policy as quotas count it: without white space. */
export function sizeOf(...policies: readonly string[]): number {
  return policies.join('').replaceAll(/\s/g, '').length;
}
