import type { StatedFacts } from '../../shared/access/authorise.ts';
import type { Carrier, CarrierKind, ManagedPolicy } from '../../shared/accounts/directory.ts';
import { isRoot, rootArn } from '../../shared/access/user-arn.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import type { IamContext, Subject } from './iam-action.ts';
import { invalid } from '../../shared/protocol/query-api/action-form.ts';
import { noSuch, noSuchPolicy } from './refusals.ts';
import { arnIn } from './shown.ts';

/* What actions are about, as policies name it: the resource types of
   https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html */

/** All of the account: an action that is about nothing in particular. */
export const theAccount = (): Subject<true> => ({ arn: '*', it: true });

/** All of a kind below a path. */
export function below(kind: CarrierKind | 'policy', path: string, { directory }: IamContext): Subject<true> {
  return { arn: arnIn(directory, kind, '', path), it: true };
}

/** A user, group or role that is there. Root is none of them. */
export async function existing(kind: CarrierKind, name: string, { directory }: IamContext): Promise<Subject<Carrier>> {
  const found = await directory.carrier(kind, name);
  const it = found && !directory.isRoot(found) ? found : undefined;
  const named = arnIn(directory, kind, name);
  return { arn: arnIn(directory, kind, name, it?.path), named, it, missing: () => noSuch(kind, name) };
}

/** As {@link existing}, whose permissions boundary is a fact for policies as well. */
export async function bounded(
  kind: CarrierKind,
  name: string,
  context: IamContext,
  facts?: StatedFacts,
): Promise<Subject<Carrier>> {
  const subject = await existing(kind, name, context);
  const ref = subject.it?.boundary;
  const boundary = ref === undefined ? undefined : await context.directory.policy({ ref });
  return { ...subject, facts: { ...facts, 'iam:permissionsboundary': boundary?.arn } };
}

/** The user who is named; unless one is, the caller. Root may look at itself. */
export async function userOrCaller(name: string | undefined, context: IamContext): Promise<Subject<Carrier>> {
  const { caller, directory } = context;
  if (name === undefined && caller.role) throw invalid('Must specify userName when calling with non-User credentials');
  if (name !== undefined || !isRoot(caller)) return existing('user', name ?? caller.name, context);
  return { arn: rootArn(directory.account.accountNumber), it: await directory.carrier('user', caller.name) };
}

/** As {@link userOrCaller}, to be changed. */
export async function changedUserOrCaller(name: string | undefined, context: IamContext): Promise<Subject<Carrier>> {
  if (name === undefined && isRoot(context.caller))
    throw new S3Error('AccessDenied', { message: 'The root of an account is changed by its operator alone' });
  return userOrCaller(name, context);
}

/** A managed policy that is there, of the account or of AWS. */
export async function existingPolicy(arn: string, { directory }: IamContext): Promise<Subject<ManagedPolicy>> {
  return { arn, it: await directory.policy({ arn }), missing: () => noSuchPolicy(arn) };
}

/** A managed policy of the account, to be changed. AWS's own cannot be. */
export async function ownPolicy(arn: string, context: IamContext): Promise<Subject<ManagedPolicy>> {
  const subject = await existingPolicy(arn, context);
  const it = subject.it?.isShared ? undefined : subject.it;
  return { ...subject, it };
}

/** Returns the boundaries of those whose rights change with a carrier's: its own, and of a group those of its members. */
export async function boundsOf(it: Carrier, { directory }: IamContext): Promise<readonly (string | undefined)[]> {
  if (it.kind !== 'group') return [it.boundary];
  return (await directory.carriers('user')).filter(({ groups }) => groups.includes(it.id)).map((one) => one.boundary);
}

/** Returns the same of a policy. A policy that is itself a boundary is within none. */
export async function boundsOfPolicy(it: ManagedPolicy, context: IamContext): Promise<readonly (string | undefined)[]> {
  const { attached, bounded } = await context.directory.usersOf(it);
  const bounds = await Promise.all(attached.map((one) => boundsOf(one, context)));
  return [...bounds.flat(), ...bounded.map(() => undefined)];
}
