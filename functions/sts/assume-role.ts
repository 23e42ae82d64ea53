import type { Question, StatedFacts, TrustingRole } from '../../shared/access/authorise.ts';
import type { Account } from '../../shared/access/identity.ts';
import { actingArn } from '../../shared/access/user-arn.ts';
import type { Carrier } from '../../shared/accounts/directory.ts';
import { decodeRole, decodeTrust } from '../../shared/accounts/role-items.ts';
import { assumedRole } from '../../shared/documents/sts.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { defineAction, type ActionContext } from '../../shared/protocol/query-api/action.ts';
import { invalid } from '../../shared/protocol/query-api/action-form.ts';
import { number, optional, otherwise, refused, text } from '../../shared/protocol/query-api/parameters.ts';
import { assumedRoleArn, assumedRoleId } from './assumed-role.ts';
import { limiting, sessionPolicies, type Limiting } from './session-policies.ts';
import { keyOfRole } from './temporary-key.ts';

const hour = 3600;

/** The parameters of all actions that assume a role. */
export const assuming = {
  RoleArn: text({ least: 20, most: 2048 }),
  RoleSessionName: text({ least: 2, most: 64, form: /^[\w+=,.@-]*$/ }),
  DurationSeconds: otherwise(hour, number({ least: 900, most: 12 * hour })),
  ...limiting,
};

interface Assuming extends Limiting {
  readonly RoleArn: string;
  readonly RoleSessionName: string;
  readonly DurationSeconds: number;
}

/**
 * Makes a temporary key of a role for those whom its trust policy names.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 */
export const assumeRole = defineAction({
  name: 'AssumeRole',
  parameters: {
    ...assuming,
    ExternalId: optional(text({ least: 2, most: 1224, form: /^[\w+=,.@:/-]*$/ })),
    Tags: refused,
    TransitiveTagKeys: refused,
    SourceIdentity: refused,
    SerialNumber: refused,
    TokenCode: refused,
    ProvidedContexts: refused,
  },
  // Asked of the role, which is known only once it is found.
  authorise: () => [],
  act: async (input, context) => {
    const { caller } = context;
    if (caller.session?.kind === 'federated')
      throw new S3Error('AccessDenied', { message: 'A federated user cannot assume a role' });
    if (caller.role && input.DurationSeconds > hour)
      throw invalid(
        'The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining',
      );
    const facts = { 'sts:externalid': input.ExternalId };
    const account = await accountOf(input.RoleArn, context);
    const found = await findRole(input.RoleArn, account, context);
    // Of one that is not there, nobody learns more than of one that does not trust them.
    if (!found || !(await trustedBy(found, input, { action: 'sts:AssumeRole', facts }, context))) {
      const who = actingArn(caller.project.accountNumber, caller);
      throw new S3Error('AccessDenied', {
        message: `User: ${who} is not authorized to perform: sts:AssumeRole on resource: ${input.RoleArn}`,
      });
    }
    return sessionOf(found, input, context);
  },
  result: assumedRole,
});

interface Found {
  readonly account: Account;
  readonly role: Carrier;
}

interface Asked extends Pick<TrustingRole, 'token'> {
  readonly action: 'sts:AssumeRole' | 'sts:AssumeRoleWithWebIdentity';
  readonly facts?: StatedFacts;
}

/** Tells whether a role trusts the caller, or whoever has a token, and their policies let them assume it. */
export async function trustedBy(
  { account, role }: Found,
  { RoleArn, RoleSessionName }: Assuming,
  { action, facts, token }: Asked,
  { authoriseLook }: Pick<ActionContext, 'authoriseLook'>,
): Promise<boolean> {
  const question: Question = {
    action,
    resource: RoleArn,
    facts: { ...facts, 'sts:rolesessionname': RoleSessionName },
    role: { project: account.id, trust: decodeTrust(role.item), ...(token && { token }) },
  };
  return authoriseLook(question).then(
    () => true,
    (error: unknown) => {
      if (error instanceof S3Error && error.code === 'AccessDenied') return false;
      throw error;
    },
  );
}

const roleArn = /^arn:aws:iam::(\d{12}):role(\/(?:[\x21-\x7e]*\/)?)([\w+=,.@-]{1,64})$/;

/** The account of ARNs that are of none. Nothing can be in it: no project has this id, nor this number. */
const nobody: Account = { id: '-', email: '', displayName: '', accountNumber: '000000000000' };

/**
 * Returns the account of the ARN of a role, whether the role is there or not. As much is read for one that is not there, or for what is no ARN, so
 * that strangers cannot tell by the time that it takes; an account that has nothing in it is returned then.
 */
export async function accountOf(arn: string, { projects }: Pick<ActionContext, 'projects'>): Promise<Account> {
  const [, accountNumber = nobody.accountNumber] = roleArn.exec(arn) ?? [];
  const project = await projects.byNumber(accountNumber);
  if (project !== undefined) return { ...project, accountNumber };
  await projects.project(nobody.id);
  return nobody;
}

/** Returns the role of an ARN, if there is one in this account, which is that of the ARN. */
export async function findRole(
  arn: string,
  account: Account,
  { identities }: Pick<ActionContext, 'identities'>,
): Promise<Found | undefined> {
  const [, , path, name = nobody.id] = roleArn.exec(arn) ?? [];
  const role = await identities.read(account).carrier('role', name);
  return role && role.path === path ? { account, role } : undefined;
}

/**
 * Makes a temporary key of a role.
 * @throws S3Error ValidationError, MalformedPolicy, PackedPolicyTooLarge
 */
export async function sessionOf(
  { account, role }: Found,
  { RoleSessionName: name, DurationSeconds, ...limits }: Assuming,
  context: Pick<ActionContext, 'clock' | 'identities' | 'sessions'>,
) {
  if (DurationSeconds > decodeRole(role.item).maxSession)
    throw invalid('The requested DurationSeconds exceeds the MaxSessionDuration set for this role.');
  const given = await sessionPolicies(limits, account, context.identities);
  const policies = given.length === 0 ? undefined : given;
  const session = { role: { project: account.id, name: role.name, id: role.id }, name, policies };
  const { Credentials, packedSize } = await keyOfRole(DurationSeconds, session, context);
  return {
    Credentials,
    AssumedRoleUser: {
      AssumedRoleId: assumedRoleId(role.id, name),
      Arn: assumedRoleArn(account.accountNumber, role.name, name),
    },
    PackedPolicySize: policies && packedSize,
  };
}
