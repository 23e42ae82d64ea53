import { fullAccessText } from '../access/identity-rights.ts';

/** What the ARNs of these policies begin with. */
export const awsPolicyPath = 'arn:aws:iam::aws:policy/';

/** The name and text of each managed policy that every project has, as AWS's own have them: `arn:aws:iam::aws:policy/<name>`. */
export const awsPolicies: ReadonlyMap<string, string> = new Map([
  ['FullAccess', fullAccessText],
  ['AmazonS3FullAccess', policy(['s3:*', 's3-object-lambda:*'])],
  [
    'AmazonS3ReadOnlyAccess',
    policy(['s3:Get*', 's3:List*', 's3:Describe*', 's3-object-lambda:Get*', 's3-object-lambda:List*']),
  ],
  ['AdministratorAccess', policy(['*'])],
  ['IAMFullAccess', policy(['iam:*'])],
  [
    'AWSCloudTrail_ReadOnlyAccess',
    policy(['cloudtrail:Get*', 'cloudtrail:Describe*', 'cloudtrail:List*', 'cloudtrail:LookupEvents']),
  ],
  [
    'IAMReadOnlyAccess',
    policy([
      'iam:GenerateCredentialReport',
      'iam:GenerateServiceLastAccessedDetails',
      'iam:Get*',
      'iam:List*',
      'iam:SimulateCustomPolicy',
      'iam:SimulatePrincipalPolicy',
    ]),
  ],
]);

function policy(actions: readonly string[]): string {
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }],
  });
}
