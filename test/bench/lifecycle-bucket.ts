import { asService, byOperator } from '../../shared/storage/version-changes/service-authorisation.ts';
import type { LifecycleDeps } from '../../shared/lifecycle/apply-lifecycle.ts';
import { noObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';
import { emptyObject } from './empty-object.ts';

const together = 64;

/**
 * A bucket with so many empty objects under `logs/`, and a rule by which they are due, or the fraction of them that is given.
 * @param due of 1: how many of them are due
 */
export async function seedBucket(deps: LifecycleDeps, name: string, objects: number, due = 1): Promise<void> {
  await deps.buckets.create(byOperator, name, 'project', 1000);
  const rules = [
    {
      id: 'rule',
      status: 'Enabled',
      scope: { form: 'and', prefix: 'logs/', tags: [{ key: 'keep', value: 'no' }] },
      expiration: { date: Date.UTC(2020, 0, 1) },
    },
  ];
  await deps.buckets.documents.set(asService(await deps.buckets.load(name)), 'lifecycle', { rules });
  let next = 0;
  const worker = async (): Promise<void> => {
    let bucket = await deps.buckets.load(name);
    for (let at = next++; at < objects; at = next++) {
      if (deps.clock.now() - bucket.readAt > 500) bucket = await deps.buckets.load(name);
      const isDue = Math.floor((at + 1) * due) > Math.floor(at * due);
      const tagged = { ...noObjectAttributes, tags: [['keep', isDue ? 'no' : 'yes']] as const };
      await deps.objects.put(asService(bucket, `logs/2026/${String(at).padStart(9, '0')}`), emptyObject(tagged));
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
}
