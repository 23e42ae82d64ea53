/** What an operator asked for cannot be done: one line that says why, and what to do. */
export class AccountRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AccountRefusal';
  }
}

/** A project by its names: `project@customer`. */
export interface ProjectName {
  readonly customer: string;
  readonly project: string;
}

/** A user by their names: `project:user@customer`. */
export interface UserName extends ProjectName {
  readonly user: string;
}

/**
 * Names of customers, projects and users. They meet one another in `project:user@customer`, in ARNs and in sort keys, hence
 * neither `:` nor `@` nor `/`.
 */
export const namePattern = /^[A-Za-z0-9][A-Za-z0-9._+=-]{0,63}$/;
export const nameRule = 'has 1 to 64 letters, digits and characters of "._+=-", and begins with a letter or a digit';

/** What a client can send as an access key id in every form of a signature. */
export const keyIdPattern = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;
export const keyIdRule = 'has 1 to 128 printable ASCII characters without spaces and commas';

export const maxSecretLength = 256;

/** @throws AccountRefusal */
export function checkName(kind: 'customer' | 'project' | 'user', name: string): string {
  if (namePattern.test(name)) return name;
  throw new AccountRefusal(`${JSON.stringify(name)} is no name: that of a ${kind} ${nameRule}`);
}

/** Reads `project@customer`. @throws AccountRefusal */
export function parseProjectName(text: string): ProjectName {
  const [, project, customer] = /^([^:@]*)@([^:@]*)$/.exec(text) ?? [];
  if (project === undefined || customer === undefined) {
    throw new AccountRefusal(`${JSON.stringify(text)} names no project: write project@customer`);
  }
  return { project: checkName('project', project), customer: checkName('customer', customer) };
}

/** The parts of `project:user@customer`, whatever names they are; undefined if it is not of this form. */
export function userNameParts(text: string): UserName | undefined {
  const [, project, user, customer] = /^([^:@]*):([^:@]*)@([^:@]*)$/.exec(text) ?? [];
  return project === undefined || user === undefined || customer === undefined
    ? undefined
    : { project, user, customer };
}

/** Reads `project:user@customer`. @throws AccountRefusal */
export function parseUserName(text: string): UserName {
  const parts = userNameParts(text);
  if (parts === undefined) {
    throw new AccountRefusal(`${JSON.stringify(text)} names no user: write project:user@customer`);
  }
  const { project, user, customer } = parts;
  return { ...parseProjectName(`${project}@${customer}`), user: checkName('user', user) };
}

export function emailOf({ project, customer }: ProjectName): string {
  return `${project}@${customer}`;
}

/** The form that the id of a user's first key may have. */
export function userNameText({ project, user, customer }: UserName): string {
  return `${project}:${user}@${customer}`;
}
