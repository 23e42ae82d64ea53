import { useEffect } from 'preact/hooks';
import { folderOf, visibleName } from '../../format/names.ts';
import type { S3Client } from '../../s3/client.ts';
import { isFailure } from '../../s3/failure.ts';
import { listObjects } from '../../s3/listing.ts';
import { go } from '../../session/router.ts';
import { session } from '../../session/session.ts';
import { useLoaded } from '../../ui/loaded.ts';
import { ErrorBox } from '../../ui/notices.tsx';

/** Opens a path without a slash at its end: the object of this name or, if there is none, the folder. */
export function PathPage({ bucket, path }: { readonly bucket: string; readonly path: string }) {
  const { client } = session.value!;
  const found = useLoaded((signal) => isObject(client, bucket, path, signal), [client, bucket, path]);
  useEffect(() => {
    if (found.value === undefined) return;
    const to = found.value ? { prefix: folderOf(path), selected: path } : { prefix: `${path}/` };
    go({ page: 'objects', bucket, ...to }, { replace: true });
  }, [found.value]);
  return (
    <div class="page">
      <h1 class="visually-hidden">{visibleName(`${bucket}/${path}`)}</h1>
      {found.error === undefined ? <div class="skeleton" /> : <ErrorBox error={found.error} retry={found.reload} />}
    </div>
  );
}

/** By a listing, which tells also of names that no browser can ask for. Without the right to list, it can only be an object. */
async function isObject(client: S3Client, bucket: string, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { entries } = await listObjects(client, bucket, { prefix: path, folders: true, maxKeys: 1, signal });
    return entries[0]?.key === path;
  } catch (error) {
    if (isFailure(error, 'AccessDenied')) return true;
    throw error;
  }
}
