import { isDeleted } from './deleted-model.ts';
import { moveInto, uploadDropped } from './object-actions.tsx';
import type { Entry } from '../../s3/listing.ts';

const type = 'application/x-stillage-objects';

/** The entries being dragged within the page: the data of a drag cannot be read before the drop. */
let carried: { readonly bucket: string; readonly entries: readonly Entry[] } | undefined;

/** Starts dragging objects. */
export function dragged(event: DragEvent, bucket: string, entries: readonly Entry[]): void {
  if (entries.some(isDeleted)) return event.preventDefault();
  carried = { bucket, entries };
  event.dataTransfer?.setData(type, '');
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'copyMove';
}

/** Returns whether files from outside the page are being dragged. */
export const hasFiles = (data: DataTransfer | null): boolean => data?.types.includes('Files') ?? false;

/** Handles a drop on a folder: moves objects there, or copies them with Ctrl, and uploads files. */
export async function droppedOn(event: DragEvent, bucket: string, prefix: string): Promise<void> {
  event.stopPropagation();
  if (event.dataTransfer !== null && hasFiles(event.dataTransfer)) {
    return uploadDropped(bucket, prefix, event.dataTransfer);
  }
  const from = carried;
  carried = undefined;
  if (from === undefined) return;
  const entries = from.entries.filter(({ key }) => key !== prefix);
  if (entries.length > 0) moveInto(event.ctrlKey ? 'copy' : 'move', from.bucket, entries, { bucket, prefix });
}
