import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { PublicLinks } from '../../../shared/storage/objects/public-links.ts';
import { backgroundHandler } from './background-handler.ts';

/** Removes expired public links. */
export const handler = backgroundHandler('sweep-public-links', (deps) => {
  const links = new PublicLinks({ ...deps, buckets: new Buckets(deps) });
  return () => links.sweep().then(() => undefined);
});
