import { S3Error } from '../../errors/s3-error.ts';
import type { Projects } from '../identity.ts';
import type { NamedPolicy, Statement } from './policy-document.ts';
import type {
  NamedPrincipal,
  NamedPrincipals,
  NamedService,
  Principal,
  PrincipalIds,
  Principals,
} from './policy-principals.ts';

/** The maximum number of names looked up at the same time. */
const concurrency = 16;

/** Resolves the names in a policy to ids. Names that do not exist are left out. */
export async function findPrincipals(policy: NamedPolicy, projects: Projects): Promise<PrincipalIds> {
  const found = new Map<string, Principal>();
  await forEach(namedIn(policy), async (named) => {
    const principal = await findPrincipal(named, projects);
    if (principal) found.set(named.text, principal);
  });
  return found;
}

/**
 * Resolves the names in a policy that is about to be stored.
 * @throws S3Error MalformedPolicy, also for an unknown principal, as a misspelt name would deny nobody
 */
export async function existingPrincipals(policy: NamedPolicy, projects: Projects): Promise<PrincipalIds> {
  const found = await findPrincipals(policy, projects);
  const unknown = namedIn(policy).find(({ text }) => !found.has(text));
  if (unknown === undefined) return found;
  throw new S3Error('MalformedPolicy', { message: 'Invalid principal in policy', details: { Detail: unknown.text } });
}

/** Encodes principals as lists: the name, the project's id and, for a user or a role, its id. */
export function encodePrincipals(principals: PrincipalIds): readonly (readonly string[])[] {
  return Array.from(principals, ([text, { project, user }]) => [text, project, ...(user === undefined ? [] : [user])]);
}

/** Decodes what {@link encodePrincipals} returned. */
export function decodePrincipals(stored: unknown): PrincipalIds {
  const rows = stored as readonly (readonly [string, string, string?])[];
  return new Map<string, Principal>(
    rows.map(([text, project, user]) => [text, { project, ...(user !== undefined && { user }) }]),
  );
}

async function findPrincipal(named: NamedPrincipal, projects: Projects): Promise<Principal | undefined> {
  const { project: name, one } = named;
  const found =
    (await projects.project(name)) ?? (await (name.includes('@') ? projects.byEmail(name) : projects.byNumber(name)));
  if (found === undefined || one === undefined) return found && { project: found.id };
  const id = await projects.principalId(found.id, one);
  return id === undefined ? undefined : { project: found.id, user: id };
}

/** Returns each principal that a policy names, once. */
function namedIn({ statements }: NamedPolicy): readonly NamedPrincipal[] {
  const named = statements.flatMap(({ principals }) =>
    principals === 'everybody' ? [] : principals.filter((one) => 'text' in one),
  );
  return [...new Map(named.map((principal) => [principal.text, principal])).values()];
}

/** Binds a policy to the ids of the principals it names. */
export function boundTo<One extends Statement<NamedPrincipals>>(
  policy: { readonly statements: readonly One[] },
  ids: PrincipalIds,
): { readonly statements: readonly (Omit<One, 'principals'> & { readonly principals: Principals })[] } {
  const idOf = (principal: NamedPrincipal | NamedService): readonly (Principal | NamedService)[] => {
    if ('service' in principal) return [principal];
    const id = ids.get(principal.text);
    return id ? [id] : [];
  };
  return {
    statements: policy.statements.map((statement) => {
      const { principals } = statement;
      return { ...statement, principals: principals === 'everybody' ? principals : principals.flatMap(idOf) };
    }),
  };
}

/**
 * Returns the text of a policy to show. The id replaces the name of a principal that was deleted or renamed, as in AWS:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html#Principal_specifying
 */
export async function shownPolicy(
  text: string,
  policy: NamedPolicy,
  ids: PrincipalIds,
  projects: Projects,
): Promise<string> {
  const gone = new Map<string, string>();
  await forEach(namedIn(policy), async (named) => {
    const id = ids.get(named.text);
    if (id && !(await isStillCalled(named, id, projects))) gone.set(named.text, id.user ?? id.project);
  });
  return gone.size === 0 ? text : JSON.stringify(renamed(JSON.parse(text) as PolicyJson, gone));
}

async function isStillCalled({ project: name, one }: NamedPrincipal, id: Principal, projects: Projects) {
  const project = await projects.project(id.project);
  if (project === undefined || ![project.id, project.email, project.accountNumber].includes(name)) return false;
  return one === undefined || (await projects.principalId(project.id, one)) === id.user;
}

/** The parts of a valid policy's JSON that matter here. */
interface PolicyJson {
  readonly Statement: StatementJson | readonly StatementJson[];
}
interface StatementJson {
  readonly Principal: string | Readonly<Record<string, string | readonly string[]>>;
}

function renamed(policy: PolicyJson, names: ReadonlyMap<string, string>): PolicyJson {
  const nameOf = (text: string): string => names.get(text) ?? text;
  const ofStatement = (statement: StatementJson): StatementJson => {
    if (typeof statement.Principal === 'string') return statement;
    const kinds = Object.entries(statement.Principal).map(([kind, texts]) => {
      return [kind, typeof texts === 'string' ? nameOf(texts) : texts.map(nameOf)] as const;
    });
    return { ...statement, Principal: Object.fromEntries(kinds) };
  };
  const { Statement: all } = policy;
  return { ...policy, Statement: isList(all) ? all.map(ofStatement) : ofStatement(all) };
}

function isList(json: StatementJson | readonly StatementJson[]): json is readonly StatementJson[] {
  return Array.isArray(json);
}

async function forEach<One>(all: readonly One[], act: (one: One) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += concurrency) await Promise.all(all.slice(at, at + concurrency).map(act));
}
