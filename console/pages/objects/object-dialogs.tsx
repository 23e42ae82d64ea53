import { useState } from 'preact/hooks';
import { namesOf } from './names.ts';
import { awsCommand } from '../../format/commands.ts';
import { baseName, folderOf } from '../../format/names.ts';
import { deleteCommand, publicAccessCommand, transferCommand } from '../../format/object-commands.ts';
import { number, t } from '../../messages/messages.ts';
import { ContentCount } from '../../panels/content-count.tsx';
import type { Entry } from '../../s3/listing.ts';
import { sortedBuckets } from '../../session/known-buckets.ts';
import { config } from '../../session/session.ts';
import { DialogForm, Field } from '../../ui/dialog.tsx';

/** The maximum number of commands shown, one for each entry. */
const maxCommands = 20;

/** Returns the commands for entries, one a line. */
function commandsFor(entries: readonly Entry[], command: (entry: Entry) => string): string {
  const lines = entries.slice(0, maxCommands).map(command);
  const more = entries.length - lines.length;
  return [...lines, ...(more > 0 ? [`# ${t.value.common.andMore(number(more))}`] : [])].join('\n');
}

export function NewFolderDialog({
  bucket,
  prefix,
  onDone,
}: {
  readonly bucket: string;
  readonly prefix: string;
  readonly onDone: (name: string) => void;
}) {
  const [name, setName] = useState('');
  const texts = t.value.objects;
  const bare = name.endsWith('/') ? name.slice(0, -1) : name;
  const command = awsCommand(
    config.value!,
    's3api',
    'put-object',
    '--bucket',
    bucket,
    '--key',
    `${prefix}${bare || 'folder'}/`,
  );
  return (
    <DialogForm
      commands={[{ command }]}
      title={texts.newFolderTitle}
      submit={texts.create}
      disabled={bare === ''}
      onSubmit={() => onDone(bare)}
    >
      <Field label={texts.folderName} hint={texts.folderHint}>
        {(ids) => (
          <input
            {...ids}
            autofocus
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
}

export function RenameDialog({
  bucket,
  entry,
  onDone,
}: {
  readonly bucket: string;
  readonly entry: Entry;
  readonly onDone: (name: string) => void;
}) {
  const [name, setName] = useState(baseName(entry.key));
  const texts = t.value.objects;
  const rename = (): string => `${folderOf(entry.key)}${name}${entry.kind === 'folder' ? '/' : ''}`;
  const command = transferCommand(config.value!, 'mv', bucket, entry, { bucket, rename });
  return (
    <DialogForm
      commands={[{ command }]}
      title={texts.renameTitle(namesOf([entry]))}
      submit={t.value.common.save}
      disabled={name === '' || name.endsWith('/')}
      onSubmit={() => onDone(name)}
    >
      <Field label={texts.newName} hint={texts.renameHint}>
        {(ids) => (
          <input
            {...ids}
            autofocus
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
}

export function DestinationDialog({
  kind,
  bucket,
  prefix,
  entries,
  onDone,
}: {
  readonly kind: 'copy' | 'move';
  readonly bucket: string;
  readonly prefix: string;
  readonly entries: readonly Entry[];
  readonly onDone: (to: { readonly bucket: string; readonly prefix: string }) => void;
}) {
  const texts = t.value.objects;
  const [target, setTarget] = useState(bucket);
  const [folder, setFolder] = useState(prefix);
  const to = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
  const title = kind === 'copy' ? texts.copyTitle(namesOf(entries)) : texts.moveTitle(namesOf(entries));
  const isSame = kind === 'move' && target === bucket && to === prefix;
  const verb = kind === 'copy' ? 'cp' : 'mv';
  const rename = (key: string): string => to + key.slice(folderOf(key).length);
  const command = (entry: Entry): string =>
    transferCommand(config.value!, verb, bucket, entry, { bucket: target, rename });
  return (
    <DialogForm
      commands={[{ command: commandsFor(entries, command) }]}
      title={title}
      submit={kind === 'copy' ? texts.copy : texts.move}
      disabled={isSame}
      onSubmit={() => onDone({ bucket: target, prefix: to })}
    >
      <Field label={texts.destination}>
        {(ids) => (
          <>
            <input
              {...ids}
              list="buckets"
              spellcheck={false}
              value={target}
              onInput={(event) => setTarget(event.currentTarget.value)}
            />
            <datalist id="buckets">
              {sortedBuckets.value.map((each) => (
                <option key={each.name} value={each.name} />
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label={texts.folder} hint={texts.folderPathHint}>
        {(ids) => (
          <input
            {...ids}
            autofocus
            spellcheck={false}
            value={folder}
            onInput={(event) => setFolder(event.currentTarget.value)}
          />
        )}
      </Field>
      <p class="hint">{texts.noBytes}</p>
    </DialogForm>
  );
}

export function DeleteDialog({
  bucket,
  entries,
  isUndoable,
  onDone,
}: {
  readonly bucket: string;
  readonly entries: readonly Entry[];
  readonly isUndoable: boolean;
  readonly onDone: () => void;
}) {
  const texts = t.value.objects;
  const command = (entry: Entry): string => deleteCommand(config.value!, bucket, entry);
  return (
    <DialogForm
      commands={[{ command: commandsFor(entries, command) }]}
      title={texts.deleteTitle(namesOf(entries))}
      submit={texts.delete}
      danger
      onSubmit={onDone}
    >
      <ContentCount bucket={bucket} entries={entries} />
      {entries.some(({ kind }) => kind === 'folder') && <p>{texts.deleteWithFolders}</p>}
      {!isUndoable && <p>{texts.deleteForGood}</p>}
    </DialogForm>
  );
}

export function PublicAccessDialog({
  bucket,
  entries,
  open,
  onDone,
}: {
  readonly bucket: string;
  readonly entries: readonly Entry[];
  readonly open: boolean;
  readonly onDone: () => void;
}) {
  const texts = t.value.objects;
  const command = (entry: Entry): string => publicAccessCommand(config.value!, bucket, entry, open);
  return (
    <DialogForm
      commands={[{ command: commandsFor(entries, command) }]}
      title={open ? texts.accessOpenTitle(namesOf(entries)) : texts.accessCloseTitle(namesOf(entries))}
      submit={open ? texts.accessOpen : texts.accessClose}
      danger={open}
      onSubmit={onDone}
    >
      <p>{open ? texts.accessOpenMeaning : texts.accessCloseMeaning}</p>
    </DialogForm>
  );
}
