import {
  boundTo,
  decodePrincipals,
  encodePrincipals,
  findPrincipals,
  isPublic,
  policyParsing,
  type NamedPolicy,
  type Policy,
  type PrincipalIds,
} from '../../access/policies/policy.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { Attributes } from '../../ports/key-value-table.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import type { Services } from '../operation.ts';

/** A bucket policy, as sent and as parsed. */
export interface BucketPolicy {
  readonly text: string;
  readonly named: NamedPolicy;
  /** The ids of the principals that it named when it was set. */
  readonly principals: PrincipalIds;
  readonly policy: Policy;
  /** True if the policy is public. */
  readonly isPublic: boolean;
  /**
   * True if the owner has confirmed that the policy may deny the owner's own project everything, even access to the
   * policy.
   */
  readonly bindsOwner: boolean;
}

type Deps = Pick<Services, 'buckets' | 'projects'>;

/** Parsed policies by their documents, which are immutable and stay the same object while cached. */
const understood = new WeakMap<Attributes, Promise<BucketPolicy>>();

/** Reads the policy of a bucket, or returns undefined if it has none. */
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
  const named = await new EventLoopBudget().run(policyParsing(Buffer.from(text), bucket.name));
  const principals = principalsIn(document) ?? (await principalsFromNow(document, named, bucket, deps));
  const bindsOwner = document['bindsOwner'] === true;
  return { text, named, principals, policy: boundTo(named, principals), isPublic: isPublic(named), bindsOwner };
}

/** Resolves the names in a policy stored without ids and stores the ids, so that later owners of the names gain nothing. */
async function principalsFromNow(
  document: Attributes,
  named: NamedPolicy,
  bucket: Bucket,
  { buckets, projects }: Deps,
): Promise<PrincipalIds> {
  const found = await findPrincipals(named, projects);
  const completed = { ...document, principals: encodePrincipals(found) };
  const stored = await buckets.documents.complete(bucket, 'policy', completed, 'principals');
  return (stored && principalsIn(stored)) ?? found;
}

/** Returns the bucket's document `policy`, as {@link bucketPolicy} reads it. */
export function policyDocument(text: string, principals: PrincipalIds, bindsOwner: boolean): Attributes {
  return { text, principals: encodePrincipals(principals), bindsOwner };
}

function principalsIn({ principals }: Attributes): PrincipalIds | undefined {
  return principals === undefined ? undefined : decodePrincipals(principals);
}
