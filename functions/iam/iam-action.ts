import type { StatedFacts } from '../../shared/access/authorise.ts';
import { actingArn } from '../../shared/access/user-arn.ts';
import type { Projects } from '../../shared/access/identity.ts';
import type { administrativeActions } from '../../shared/access/policies/policy-actions.ts';
import type { Directory } from '../../shared/accounts/directory.ts';
import type { Identities } from '../../shared/accounts/identities.ts';
import type { LastUses } from '../../shared/accounts/key-uses.ts';
import type { Written } from '../../shared/documents/schema.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { defineAction, type Signer } from '../../shared/protocol/query-api/action.ts';
import type { Parameters } from '../../shared/protocol/query-api/parameters.ts';

type NameOf<Permission> = Permission extends `iam:${infer Name}` ? Name : never;

/** The name of an action, which is that of its permission as well. */
export type ActionName = NameOf<(typeof administrativeActions)[number]>;

/** What an action may use. */
export interface IamContext {
  readonly directory: Directory;
  readonly caller: Signer;
  readonly clock: Clock;
  readonly identities: Identities;
  readonly lastUses: LastUses;
  readonly projects: Projects;
  /** Of the deployment. */
  readonly region: string;
}

/** What an action is about. */
export interface Subject<It> {
  /** As policies name it, whether it is there or not. */
  readonly arn: string;
  /** As a refusal names it, if `arn` tells whether it is there. */
  readonly named?: string;
  /** What it will be called, if that changes: its ARN then. */
  readonly target?: string;
  /** Undefined: there is none, which only those learn who may do this to one. */
  readonly it: It | undefined;
  /** The error if there is none. */
  missing?(this: void): Error;
  /** What is about to be done, for conditions of policies. */
  readonly facts?: StatedFacts;
}

/** The permissions boundaries, as carriers refer to them, of all whose rights an action changes. */
type Bounds = readonly (string | undefined)[];

interface Definition<Input, It, Output> {
  readonly name: ActionName;
  readonly parameters: Parameters<Input>;
  /** Finds what it is about. */
  about(this: void, input: Input, context: IamContext): Subject<It> | Promise<Subject<It>>;
  /**
   * Set if it changes something. A caller who has a permissions boundary changes nothing of those who do not have the same: nobody makes or
   * mends an identity that may do more than they may themselves.
   */
  readonly bounds?: (this: void, it: It, input: Input, context: IamContext) => Bounds | Promise<Bounds>;
  act(this: void, it: It, input: Input, context: IamContext): Output | Promise<Output>;
  readonly result?: Written<Output>;
}

/** Defines an action of IAM: who may, what it is about, what it does. */
export function iamAction<Input, It, Output>(definition: Definition<Input, It, Output>) {
  const { name, parameters, result } = definition;
  return defineAction<Input, Output>({
    name,
    parameters,
    // Asked of what it is about, which is known only once it is found.
    authorise: () => [],
    act: async (input, { authorisation, authoriseLook, caller, settings, ...services }) => {
      const { clock, identities, lastUses, projects } = services;
      refuseTemporary(caller);
      const perform = async (directory: Directory): Promise<Output> => {
        const { region } = settings;
        const context: IamContext = { directory, caller, clock, identities, lastUses, projects, region };
        const { arn, named = arn, target = arn, it, missing, facts } = await definition.about(input, context);
        for (const resource of new Set([arn, target])) {
          await authoriseLook({ action: `iam:${name}`, resource, ...(facts && { facts }) }).catch((error: unknown) => {
            throw isDenial(error) ? denied(caller, name, resource === arn ? named : resource) : error;
          });
        }
        if (it === undefined) throw missing?.() ?? new S3Error('NoSuchEntity');
        if (definition.bounds) {
          const { role } = caller;
          const own = await directory.carrier(role ? 'role' : 'user', role?.name ?? caller.name);
          if (own?.id !== caller.id) throw denied(caller, name, arn);
          if (caller.rights.session !== undefined)
            throw denied(caller, name, arn, 'a session with policies of its own changes nobody');
          const { boundary } = own;
          if (boundary !== undefined && (await definition.bounds(it, input, context)).some((one) => one !== boundary))
            throw denied(caller, name, arn, 'it is not within the permissions boundary of the caller');
        }
        return definition.act(it, input, context);
      };
      return definition.bounds
        ? identities.change(authorisation, caller.project, perform)
        : perform(identities.read(caller.project));
    },
    ...(result && { result }),
  });
}

/**
 * Temporary keys of users administer nothing, as in AWS, but those of roles do:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_sts-comparison.html
 */
function refuseTemporary({ session, role }: Signer): void {
  if (session && !role) throw new S3Error('AccessDenied', { message: 'Temporary keys of users cannot call IAM' });
}

function isDenial(error: unknown): boolean {
  return error instanceof S3Error && error.code === 'AccessDenied';
}

function denied(caller: Signer, name: string, arn: string, why = 'no policy of the caller allows it'): S3Error {
  const who = actingArn(caller.project.accountNumber, caller);
  return new S3Error('AccessDenied', {
    message: `User: ${who} is not authorized to perform: iam:${name} on resource: ${arn}, because ${why}`,
  });
}
