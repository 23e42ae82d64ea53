import type { Projects } from './identity.ts';
import type { NamedPolicy, Policy } from './policy-document.ts';
import type { NamedPrincipal, Principal, PrincipalIds } from './policy-principals.ts';

/** How many names are looked up at once. */
const concurrency = 16;

/** Looks up who has the names of a policy now. Those that nobody has are left out. */
export async function findPrincipals(policy: NamedPolicy, projects: Projects): Promise<PrincipalIds> {
  const found = new Map<string, Principal>();
  await forEach(namedIn(policy), async (named) => {
    const principal = await findPrincipal(named, projects);
    if (principal) found.set(named.text, principal);
  });
  return found;
}

async function findPrincipal(named: NamedPrincipal, projects: Projects): Promise<Principal | undefined> {
  const { project: name, user } = named;
  const found = (await projects.project(name)) ?? (name.includes('@') ? await projects.byEmail(name) : undefined);
  if (found === undefined || user === undefined) return found && { project: found.id };
  const id = await projects.userId(found.id, user);
  return id === undefined ? undefined : { project: found.id, user: id };
}

/** Each that a policy names, once. */
export function namedIn({ statements }: NamedPolicy): readonly NamedPrincipal[] {
  const named = statements.flatMap(({ principals }) => (principals === 'everybody' ? [] : principals));
  return [...new Map(named.map((principal) => [principal.text, principal])).values()];
}

/** The policy about those who are meant by its names. */
export function boundTo(policy: NamedPolicy, ids: PrincipalIds): Policy {
  const idOf = ({ text }: NamedPrincipal): readonly Principal[] => {
    const id = ids.get(text);
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
 * The text of a policy, to be shown: where somebody is gone, or called otherwise, their id stands instead of their name, as in AWS:
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

async function isStillCalled({ project: name, user }: NamedPrincipal, id: Principal, projects: Projects) {
  const project = await projects.project(id.project);
  if (project === undefined || (name !== project.id && name !== project.email)) return false;
  return user === undefined || (await projects.userId(project.id, user)) === id.user;
}

/** As far as it matters here, for a text that was understood once. */
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
