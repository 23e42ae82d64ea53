import type { UploadItem } from './upload.ts';

/** Reads what was chosen in a dialog; of a folder, with the paths in it. */
export function chosenFiles(files: Iterable<File>, prefix: string): UploadItem[] {
  return [...files].map((file) => {
    const path = file.webkitRelativePath || file.name;
    return { file, path, key: prefix + path };
  });
}

/** Files that were dropped or pasted. */
export interface Dropped {
  readonly items: readonly UploadItem[];
  /** The paths of files and folders that the browser cannot read. */
  readonly unreadable: readonly string[];
}

/** Reads what was dropped or pasted, folders with all that is in them. Must be called within the event. */
export async function droppedFiles(data: DataTransfer, prefix: string): Promise<Dropped> {
  // Both are gone once the event is over.
  const entries = [...data.items].map((item) => (item.kind === 'file' ? item.webkitGetAsEntry() : null));
  const files = [...data.files];
  if (entries.every((entry) => entry === null)) return { items: chosenFiles(files, prefix), unreadable: [] };
  const found = { items: [] as UploadItem[], unreadable: [] as string[] };
  for (const entry of entries) if (entry !== null) await collect(entry, { prefix, path: entry.name }, found);
  return found;
}

type Found = { readonly [Name in keyof Dropped]: Dropped[Name][number][] };

async function collect(
  entry: FileSystemEntry,
  { prefix, path }: { readonly prefix: string; readonly path: string },
  found: Found,
): Promise<void> {
  try {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.items.push({ file, path, key: prefix + path });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      // A hundred at a time, until there are none.
      const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (batch.length === 0) return;
      for (const each of batch) await collect(each, { prefix, path: `${path}/${each.name}` }, found);
    }
  } catch {
    // The others are uploaded nevertheless.
    found.unreadable.push(path);
  }
}
