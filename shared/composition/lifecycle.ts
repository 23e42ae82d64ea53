import { Buckets } from '../storage/buckets/buckets.ts';
import { LifecyclePasses } from '../lifecycle/lifecycle-passes.ts';
import { Manifests } from '../storage/objects/manifests.ts';
import { Objects } from '../storage/objects/objects.ts';
import { Uploads } from '../storage/uploads/uploads.ts';
import type { LifecycleDeps } from '../lifecycle/apply-lifecycle.ts';
import type { Adapters } from './services.ts';

/** Returns the dependencies for applying lifecycle rules with these adapters. */
export function lifecycleDeps(adapters: Pick<Adapters, 'table' | 'blobs' | 'clock' | 'randomness'>): LifecycleDeps {
  const buckets = new Buckets(adapters);
  const manifests = new Manifests(adapters);
  return {
    buckets,
    objects: new Objects({ ...adapters, buckets }),
    uploads: new Uploads({ ...adapters, buckets, manifests }),
    passes: new LifecyclePasses(adapters),
    clock: adapters.clock,
  };
}
