import { parsePolicy, type Policy } from '../../access/policy.ts';
import type { Bucket } from '../../metadata/buckets/bucket.ts';
import type { Buckets } from '../../metadata/buckets/buckets.ts';
import type { Attributes } from '../../ports/key-value-table.ts';

/** The policy of a bucket, as it was sent and as it is understood. */
export interface BucketPolicy {
  readonly text: string;
  readonly policy: Policy;
  /** The owner has confirmed that the policy may shut the owner's own project out, even from the policy itself. */
  readonly bindsOwner: boolean;
}

/** Understood policies by their documents, which are immutable and stay the same object while they are cached. */
const understood = new WeakMap<Attributes, BucketPolicy>();

/** The policy of a bucket, or undefined if it has none. */
export async function bucketPolicy(bucket: Bucket, buckets: Buckets): Promise<BucketPolicy | undefined> {
  const document = await buckets.documents.of(bucket, 'policy');
  if (document === undefined) return undefined;
  const known = understood.get(document) ?? read(document, bucket.name);
  understood.set(document, known);
  return known;
}

function read(document: Attributes, bucket: string): BucketPolicy {
  const text = document['text'] as string;
  return { text, policy: parsePolicy(Buffer.from(text), bucket), bindsOwner: document['bindsOwner'] === true };
}

/** What {@link bucketPolicy} reads, to be set as the bucket's document `policy`. */
export function policyDocument(text: string, bindsOwner: boolean): Attributes {
  return { text, bindsOwner };
}
