import { EventRecorder } from '../../shared/events/event-recorder.ts';
import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { LifecyclePasses } from '../../shared/lifecycle/lifecycle-passes.ts';
import { Manifests } from '../../shared/storage/objects/manifests.ts';
import { Objects } from '../../shared/storage/objects/objects.ts';
import { Uploads } from '../../shared/storage/uploads/uploads.ts';
import type { LifecycleDeps } from '../../shared/lifecycle/apply-lifecycle.ts';
import type { Adapters } from './services.ts';

/** Returns the dependencies for applying lifecycle rules with these adapters. */
export function lifecycleDeps(adapters: Pick<Adapters, 'table' | 'blobs' | 'clock' | 'randomness'>): LifecycleDeps {
  const buckets = new Buckets(adapters);
  const manifests = new Manifests(adapters);
  return {
    buckets,
    objects: new Objects({ ...adapters, buckets, recorder: new EventRecorder({ buckets }) }),
    uploads: new Uploads({ ...adapters, buckets, manifests }),
    passes: new LifecyclePasses(adapters),
    clock: adapters.clock,
  };
}
