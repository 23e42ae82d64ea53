import { areDeleted } from './deleted-model.ts';
import { askFolderLinks } from './folder-links.tsx';
import { computed } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  askDelete,
  askDestination,
  askFolder,
  askPublicAccess,
  chooseUpload,
  download,
  undelete,
  uploadItems,
} from './object-actions.tsx';
import { number, size, t } from '../../messages/messages.ts';
import type { Selection } from './selection.ts';
import type { Entry } from '../../s3/listing.ts';
import { addressOf } from '../../session/router.ts';
import { chosenFiles } from '../../transfers/files.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { openMenuBelow } from '../../ui/menu.tsx';

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  readonly selection: Selection;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly onRefresh: () => void;
}

/** The tool bar of a folder, or of the selected entries. */
export function ToolBar(props: Props) {
  const { bucket, prefix, selection } = props;
  const isForSelected = useMemo(() => computed(() => selection.size.value > 1), [selection]).value;
  const texts = t.value.objects;
  return (
    <div class={isForSelected ? 'tool-bar selecting' : 'tool-bar'} role="toolbar" aria-label={texts.actionsFor(bucket)}>
      <UploadFields bucket={bucket} prefix={prefix} />
      {isForSelected ? <ForSelected {...props} /> : <ForFolder {...props} />}
    </div>
  );
}

function ForFolder({ bucket, prefix, filter, onFilter, onRefresh }: Props) {
  const texts = t.value.objects;
  return (
    <>
      <Button
        kind="primary"
        icon="upload"
        aria-haspopup="menu"
        onClick={(event) =>
          openMenuBelow(
            [
              [
                { label: texts.uploadFiles, icon: 'file', shortcut: 'u', act: () => chooseUpload('files') },
                { label: texts.uploadFolder, icon: 'folder', act: () => chooseUpload('folder') },
              ],
            ],
            texts.upload,
            event,
          )
        }
      >
        <span>{texts.upload}</span>
      </Button>
      <Button icon="plus" tip={texts.newFolder} onClick={() => void askFolder(bucket, prefix)}>
        <span class="label">{texts.newFolder}</span>
      </Button>
      <span class="grow" />
      <FilterField filter={filter} onFilter={onFilter} />
      <Button icon="refresh" tip={t.value.common.refresh} onClick={onRefresh} />
      <a
        class="button quiet"
        href={addressOf({ page: 'settings', bucket, section: 'overview' })}
        title={texts.settings}
        aria-label={texts.settings}
      >
        <Icon name="settings" />
      </a>
    </>
  );
}

const typingPause = 150;

/** Filters by the beginning of names. The service does this, for any number of names. */
function FilterField({ filter, onFilter }: Pick<Props, 'filter' | 'onFilter'>) {
  const [text, setText] = useState(filter);
  const timer = useRef(0);
  useEffect(() => setText(filter), [filter]);
  return (
    <div class="filter">
      <Icon name="filter" />
      <input
        id="filter"
        type="search"
        aria-label={t.value.objects.filter}
        placeholder={t.value.objects.filter}
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => onFilter(value), typingPause);
        }}
      />
    </div>
  );
}

function ForSelected(props: Props) {
  const { selection } = props;
  const texts = t.value.objects;
  const chosen = selection.list();
  let bytes = 0;
  for (const entry of chosen) if (entry.kind === 'object') bytes += entry.size;
  const items = t.value.common.items(chosen.length, number(chosen.length));
  return (
    <>
      <strong class="ellipsis" role="status">
        {texts.selected(items, bytes === 0 ? '' : size(bytes))}
      </strong>
      {areDeleted(chosen) ? (
        <Button icon="history" onClick={() => undelete(props.bucket, chosen)}>
          <span>{t.value.details.undelete}</span>
        </Button>
      ) : (
        <ForPresent {...props} chosen={chosen} />
      )}
      <span class="grow" />
      <Button icon="close" tip={texts.clear} onClick={() => selection.clear()} />
    </>
  );
}

/** What can be done with objects and folders that are there. */
function ForPresent({ bucket, prefix, chosen }: Props & { readonly chosen: readonly Entry[] }) {
  const texts = t.value.objects;
  return (
    <>
      <Button icon="download" tip={texts.downloadZip} onClick={() => void download(bucket, prefix, chosen)}>
        <span class="label">{texts.downloadZip}</span>
      </Button>
      <Button icon="copy" tip={texts.copyTo} onClick={() => void askDestination('copy', bucket, prefix, chosen)}>
        <span class="label">{texts.copyTo}</span>
      </Button>
      <Button icon="folder" tip={texts.moveTo} onClick={() => void askDestination('move', bucket, prefix, chosen)}>
        <span class="label">{texts.moveTo}</span>
      </Button>
      <Button kind="bad" icon="trash" tip={texts.delete} onClick={() => void askDelete(bucket, chosen)}>
        <span class="label">{texts.delete}</span>
      </Button>
      <Button
        icon="more"
        label={t.value.common.more}
        onClick={(event) =>
          openMenuBelow(
            [
              [
                { label: texts.shareAll, icon: 'link', act: () => void askFolderLinks(bucket, chosen) },
                { label: texts.openAccess, icon: 'globe', act: () => void askPublicAccess(bucket, chosen, true) },
                { label: texts.closeAccess, icon: 'lock', act: () => void askPublicAccess(bucket, chosen, false) },
              ],
            ],
            t.value.common.more,
            event,
          )
        }
      />
    </>
  );
}

/** The file inputs of the upload button: browsers let users choose files only with these. */
function UploadFields({ bucket, prefix }: { readonly bucket: string; readonly prefix: string }) {
  const upload = (field: HTMLInputElement): void => {
    const items = chosenFiles(field.files ?? [], prefix);
    field.value = '';
    uploadItems(bucket, items);
  };
  const folder = useRef<HTMLInputElement>(null);
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), []);
  const texts = t.value.objects;
  return (
    <>
      <input
        hidden
        type="file"
        multiple
        id="upload-files"
        aria-label={texts.uploadFiles}
        onChange={(event) => upload(event.currentTarget)}
      />
      <input
        hidden
        type="file"
        id="upload-folder"
        ref={folder}
        aria-label={texts.uploadFolder}
        onChange={(event) => upload(event.currentTarget)}
      />
    </>
  );
}
