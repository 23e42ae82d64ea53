/** An operator's request that cannot be carried out. The message is one line that says why, and what to do. */
export class AccountRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AccountRefusal';
  }
}

/** A project, named as `project@customer`. */
export interface ProjectName {
  readonly customer: string;
  readonly project: string;
}

/** A user, named as `project:user@customer`. */
export interface UserName extends ProjectName {
  readonly user: string;
}

/**
 * A valid name of a customer, project or user, as commands make them. Names appear together in `project:user@customer`, in ARNs and in sort
 * keys, so they contain neither `:` nor `/`, nor `@` but for users that IAM made.
 */
export const namePattern = /^[A-Za-z0-9][A-Za-z0-9._+=-]{0,63}$/;
/** The name of a user that IAM made: https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateUser.html */
export const userNamePattern = /^[\w+=,.@-]{1,64}$/;
export const nameRule =
  'must have 1 to 64 letters, digits or characters of "._+=-", and begin with a letter or a digit';

/** An access key id that clients can send in every form of signature. */
export const keyIdPattern = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;
const keyIdRule = 'must have 1 to 128 printable ASCII characters, without spaces or commas';

export const maxSecretLength = 256;

/** Returns the name if it is valid. @throws AccountRefusal */
export function checkName(kind: 'customer' | 'project' | 'user' | 'operator', name: string): string {
  if (namePattern.test(name)) return name;
  throw new AccountRefusal(`${JSON.stringify(name)} is not a valid ${kind} name: it ${nameRule}`);
}

/** Reads `project@customer`. @throws AccountRefusal */
export function parseProjectName(text: string): ProjectName {
  const [, project, customer] = /^([^:@]*)@([^:@]*)$/.exec(text) ?? [];
  if (project === undefined || customer === undefined) {
    throw new AccountRefusal(`${JSON.stringify(text)} does not name a project: write project@customer`);
  }
  return { project: checkName('project', project), customer: checkName('customer', customer) };
}

/** Splits `project:user@customer` without checking its names. Returns undefined if the text does not have this form. */
export function userNameParts(text: string): UserName | undefined {
  const [, project, user, customer] = /^([^:@]*):([^:]*)@([^:@]*)$/.exec(text) ?? [];
  return project === undefined || user === undefined || customer === undefined
    ? undefined
    : { project, user, customer };
}

/** Reads `project:user@customer`. @throws AccountRefusal */
export function parseUserName(text: string): UserName {
  const parts = userNameParts(text);
  if (parts === undefined) {
    throw new AccountRefusal(`${JSON.stringify(text)} does not name a user: write project:user@customer`);
  }
  const { project, user, customer } = parts;
  const names = parseProjectName(`${project}@${customer}`);
  return { ...names, user: userNamePattern.test(user) ? user : checkName('user', user) };
}

/** Returns the canonical user id of a project if it is valid. @throws AccountRefusal */
export function checkCanonicalId(id: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return id;
  throw new AccountRefusal(
    `${JSON.stringify(id)} is not a canonical id: use a UUID, or 1 to 128 letters, digits and "._-"`,
  );
}

/** Returns the display name of a project if it is valid. @throws AccountRefusal */
export function checkDisplayName(name: string): string {
  if (name.length >= 1 && name.length <= 128 && !/\p{Cc}/u.test(name)) return name;
  throw new AccountRefusal('a display name must have 1 to 128 characters, none of them a control character');
}

/** Returns the id of an access key if it is valid. @throws AccountRefusal */
export function checkKeyId(id: string): string {
  if (keyIdPattern.test(id)) return id;
  throw new AccountRefusal(`${JSON.stringify(id)} is not a valid key id: it ${keyIdRule}`);
}

export function emailOf({ project, customer }: ProjectName): string {
  return `${project}@${customer}`;
}

/** Returns `project:user@customer`, which may also be the id of the user's first key. */
export function userNameText({ project, user, customer }: UserName): string {
  return `${project}:${user}@${customer}`;
}
