import { Buckets } from '../../../shared/metadata/buckets/buckets.ts';
import { LifecyclePasses } from '../../../shared/metadata/lifecycle/lifecycle-passes.ts';
import { Manifests } from '../../../shared/metadata/objects/manifests.ts';
import { Objects } from '../../../shared/metadata/objects/objects.ts';
import { Uploads } from '../../../shared/metadata/uploads/uploads.ts';
import type { LifecycleDeps } from '../../../shared/metadata/lifecycle/apply-lifecycle.ts';
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
