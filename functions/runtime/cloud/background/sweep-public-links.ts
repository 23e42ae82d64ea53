import { Buckets } from '../../../../shared/metadata/buckets/buckets.ts';
import { PublicLinks } from '../../../../shared/metadata/objects/public-links.ts';
import { backgroundHandler } from './background-handler.ts';

/** Removes expired public links. */
export const handler = backgroundHandler('sweep-public-links', (deps) => {
  const links = new PublicLinks({ ...deps, buckets: new Buckets(deps) });
  return () => links.sweep().then(() => undefined);
});
