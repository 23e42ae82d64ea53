import { useEffect, useRef, useState } from 'preact/hooks';
import { commandOf } from '../../format/commands.ts';
import { visibleName } from '../../format/names.ts';
import { number, size, t } from '../../messages/messages.ts';
import { askConflict } from '../../panels/ask-conflict.tsx';
import { session } from '../../session/session.ts';
import { chosenFiles } from '../../transfers/files.ts';
import { changes } from '../../transfers/queue.ts';
import { discard, resumedItems, unfinishedUploads, type UnfinishedUpload } from '../../transfers/unfinished.ts';
import { startUpload } from '../../transfers/upload.ts';
import { whenLeft } from '../../transfers/upload-queue.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/command-line.tsx';
import { Icon } from '../../ui/icons.tsx';
import { attempt, notify } from '../../ui/notices.tsx';

/** The uploads that a closed page left, whose files the user must choose again. */
export function UnfinishedUploads() {
  const { client } = session.value!;
  const [uploads, setUploads] = useState<readonly UnfinishedUpload[]>([]);
  const wanted = useRef<UnfinishedUpload | undefined>(undefined);
  const fields = { files: useRef<HTMLInputElement>(null), folder: useRef<HTMLInputElement>(null) };
  const texts = t.value.transfers;
  useEffect(() => {
    const ended = new AbortController();
    const watched = new Set<string>();
    const read = (): void => {
      void unfinishedUploads(client).then((all) => ended.signal.aborted || setUploads(all));
      void whenLeft(client, watched, ended.signal, read);
    };
    const stop = changes.subscribe(read);
    return () => {
      ended.abort();
      stop();
    };
  }, [client]);
  useEffect(() => fields.folder.current?.setAttribute('webkitdirectory', ''));
  if (uploads.length === 0) return null;

  const filesOf = (count: number): string => texts.files(count, number(count));
  const goOn = (field: HTMLInputElement): void => {
    const chosen = chosenFiles(field.files ?? [], '');
    field.value = '';
    const upload = wanted.current;
    if (chosen.length === 0 || upload === undefined) return;
    const items = resumedItems(upload, chosen);
    const missing = upload.files.length - items.length;
    if (missing > 0) {
      const words = upload.files.length === 1 ? texts.otherFile : texts.otherFiles(missing, filesOf(missing));
      notify('', { error: new Error(words) });
    }
    if (items.length === 0) return;
    setUploads(uploads.filter((each) => each !== upload));
    const { bucket, title, isQueued, id } = upload;
    startUpload(client, bucket, items, { title, ask: askConflict, queueId: isQueued ? id : undefined });
  };
  const choose = (upload: UnfinishedUpload, from: keyof typeof fields): void => {
    wanted.current = upload;
    fields[from].current?.click();
  };
  return (
    <section class="stack tight">
      <h2>{texts.unfinished}</h2>
      <p class="muted">{texts.unfinishedMeaning}</p>
      <input
        hidden
        type="file"
        multiple
        id="resume-files"
        aria-label={texts.chooseFiles}
        ref={fields.files}
        onChange={(event) => goOn(event.currentTarget)}
      />
      <input
        hidden
        type="file"
        id="resume-folder"
        aria-label={texts.chooseFolder}
        ref={fields.folder}
        onChange={(event) => goOn(event.currentTarget)}
      />
      {uploads.map((upload) => {
        const { id, bucket, title, files, parts } = upload;
        const bytes = files.reduce((sum, file) => sum + file.size, 0);
        const isFolder = files.some(({ path }) => path.includes('/'));
        const words = isFolder ? texts.chooseFolder : files.length === 1 ? texts.choose : texts.chooseFiles;
        return (
          <section class="job" key={id} aria-label={`${texts.unfinished}: ${visibleName(title)}`}>
            <Icon name="upload" />
            <div>
              <div class="ellipsis">{visibleName(title)}</div>
              <div class="small muted">
                {bucket} · {texts.unsent(filesOf(files.length), size(bytes))}
              </div>
            </div>
            <div class="row">
              <Button onClick={() => choose(upload, isFolder ? 'folder' : 'files')}>{words}</Button>
              {parts.length > 0 && (
                <CopyButton
                  name={`${t.value.common.command}: ${texts.discard} ${visibleName(title)}`}
                  text={() =>
                    parts
                      .map(({ key, uploadId }) =>
                        commandOf(client.signer, { method: 'DELETE', bucket, key, query: { uploadId } }),
                      )
                      .join('\n')
                  }
                />
              )}
              <Button
                onClick={() =>
                  void attempt(async () => {
                    await discard(client, upload);
                    setUploads(await unfinishedUploads(client));
                  })
                }
              >
                {texts.discard}
              </Button>
            </div>
          </section>
        );
      })}
    </section>
  );
}
