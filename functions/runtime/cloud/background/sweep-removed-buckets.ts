import { Graves } from '../../../../shared/metadata/removal/graves.ts';
import { backgroundHandler } from './background-handler.ts';
import { releaseRooms } from './release.ts';

/** Sweeps what is left of removed buckets. */
export const handler = backgroundHandler('sweep-removed-buckets', (rooms) => {
  const graves = new Graves({ ...rooms, uploads: releaseRooms(rooms).uploads });
  return () => graves.sweep().then(() => undefined);
});
