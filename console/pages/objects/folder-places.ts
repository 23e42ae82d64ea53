import type { Sort } from './listing-model.ts';
import type { S3Client } from '../../s3/client.ts';

/** Where one was in a folder: kept while one is signed in, so that one finds it again. */
export interface FolderPlace {
  sort: Sort;
  /** The scroll position, in pixels. */
  top: number;
  /** The key of the row with the cursor. */
  cursor: string | undefined;
}

/** The folders of which this is kept. */
const maxPlaces = 200;

const places = new WeakMap<S3Client, Map<string, FolderPlace>>();

/** Returns the place in a folder, which is changed in place. */
export function placeOf(client: S3Client, bucket: string, prefix: string): FolderPlace {
  const all = places.get(client) ?? new Map<string, FolderPlace>();
  places.set(client, all);
  const name = `${bucket}/${prefix}`;
  const place = all.get(name) ?? { sort: { by: 'name', down: false }, top: 0, cursor: undefined };
  all.delete(name);
  all.set(name, place);
  if (all.size > maxPlaces) all.delete(all.keys().next().value!);
  return place;
}
