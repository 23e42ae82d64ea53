import {
  boundTo,
  findPrincipals,
  isPublic,
  parsePolicy,
  type NamedPolicy,
  type Policy,
  type Principal,
  type PrincipalIds,
} from '../../access/policy.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { Attributes } from '../../ports/key-value-table.ts';
import type { Services } from '../operation.ts';

/** The policy of a bucket, as it was sent and as it is understood. */
export interface BucketPolicy {
  readonly text: string;
  readonly named: NamedPolicy;
  /** Who its names stood for when it was set. */
  readonly principals: PrincipalIds;
  readonly policy: Policy;
  /** It allows something to everybody. */
  readonly isPublic: boolean;
  /** The owner has confirmed that the policy may shut the owner's own project out, even from the policy itself. */
  readonly bindsOwner: boolean;
}

type Deps = Pick<Services, 'buckets' | 'projects'>;

/** Understood policies by their documents, which are immutable and stay the same object while they are cached. */
const understood = new WeakMap<Attributes, Promise<BucketPolicy>>();

/** The policy of a bucket, or undefined if it has none. */
export async function bucketPolicy(bucket: Bucket, deps: Deps): Promise<BucketPolicy | undefined> {
  const document = await deps.buckets.documents.of(bucket, 'policy');
  if (document === undefined) return undefined;
  const known = understood.get(document) ?? read(document, bucket, deps);
  understood.set(document, known);
  known.catch(() => understood.delete(document));
  return known;
}

async function read(document: Attributes, bucket: Bucket, deps: Deps): Promise<BucketPolicy> {
  const text = document['text'] as string;
  const named = parsePolicy(Buffer.from(text), bucket.name);
  const principals = decodePrincipals(document) ?? (await principalsFromNow(document, named, bucket, deps));
  const bindsOwner = document['bindsOwner'] === true;
  return { text, named, principals, policy: boundTo(named, principals), isPublic: isPublic(named), bindsOwner };
}

/** For a policy that was set before ids were kept with it: whoever has its names now, and nobody who gets them later. */
async function principalsFromNow(
  document: Attributes,
  named: NamedPolicy,
  bucket: Bucket,
  { buckets, projects }: Deps,
): Promise<PrincipalIds> {
  const found = await findPrincipals(named, projects);
  const completed = { ...document, principals: encodePrincipals(found) };
  const stored = await buckets.documents.complete(bucket, 'policy', completed, 'principals');
  return (stored && decodePrincipals(stored)) ?? found;
}

/** What {@link bucketPolicy} reads, to be set as the bucket's document `policy`. */
export function policyDocument(text: string, principals: PrincipalIds, bindsOwner: boolean): Attributes {
  return { text, principals: encodePrincipals(principals), bindsOwner };
}

/** For each name a list: the name, the project's id and, of a user, the user's. */
function encodePrincipals(principals: PrincipalIds): readonly (readonly string[])[] {
  return Array.from(principals, ([text, { project, user }]) => [text, project, ...(user === undefined ? [] : [user])]);
}

function decodePrincipals({ principals }: Attributes): PrincipalIds | undefined {
  if (principals === undefined) return undefined;
  const rows = principals as readonly (readonly [string, string, string?])[];
  return new Map<string, Principal>(
    rows.map(([text, project, user]) => [text, { project, ...(user !== undefined && { user }) }]),
  );
}
