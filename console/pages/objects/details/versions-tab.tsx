import { useChanges } from '../changes.ts';
import { awsCommand } from '../../../format/commands.ts';
import { deleteVersionCommand, downloadCommand } from '../../../format/object-commands.ts';
import { encodePath } from '../../../s3/address.ts';
import { date, exactDate, size, t } from '../../../messages/messages.ts';
import { versionsOf, type Version } from '../../../s3/listing.ts';
import { copyObject, deleteObject, headObject, type Place } from '../../../s3/objects.ts';
import { config, session } from '../../../session/session.ts';
import { downloadObject } from '../../../transfers/download.ts';
import { noteChange } from '../../../transfers/queue.ts';
import { Button } from '../../../ui/button.tsx';
import { CommandLine, CopyButton } from '../../../ui/command-line.tsx';
import { ask, DialogForm } from '../../../ui/dialog.tsx';
import { useLoaded } from '../../../ui/loaded.ts';
import { attempt, ErrorBox, notify } from '../../../ui/notices.tsx';

/** The versions of an object: each can be previewed, downloaded, restored and permanently deleted. */
export function VersionsTab({
  place,
  onPreview,
}: {
  readonly place: Place;
  readonly onPreview: (versionId: string) => void;
}) {
  const { client } = session.value!;
  const { bucket, key } = place;
  const versions = useLoaded(() => versionsOf(client, bucket, key), [client, bucket, key]);
  useChanges(bucket, versions.reload);
  const texts = t.value.details;
  if (versions.error !== undefined) return <ErrorBox error={versions.error} retry={versions.reload} />;
  if (versions.value === undefined) return <div class="skeleton" />;
  const changed = (): void => noteChange(bucket);
  const restore = ({ versionId, size: bytes }: Version): Promise<unknown> =>
    attempt(async () => {
      const stored = await headObject(client, bucket, key, versionId);
      await copyObject(client, { bucket, key, versionId }, { bucket, key }, { size: bytes, stored });
      notify(texts.restored);
      changed();
    });
  const remove = async (version: Version): Promise<void> => {
    if (!version.isMarker) {
      const { versionId } = version;
      const sure = await ask<true>((answer) => (
        <DialogForm
          commands={[{ command: deleteVersionCommand(config.value!, bucket, key, versionId) }]}
          title={texts.deleteVersionTitle}
          submit={t.value.objects.delete}
          danger
          onSubmit={() => answer(true)}
        >
          <p>{texts.deleteVersionMeaning}</p>
        </DialogForm>
      ));
      if (sure === undefined) return;
    }
    await attempt(async () => {
      await deleteObject(client, bucket, { key, versionId: version.versionId });
      changed();
    });
  };
  const isUnversioned = versions.value.length <= 1 && versions.value[0]?.versionId === 'null';
  return (
    <>
      {isUnversioned && <p class="hint">{texts.unversioned}</p>}
      {versions.value.map((version) => (
        <div class="version" key={version.versionId}>
          <div title={exactDate(version.modified)}>
            {date(version.modified)} {version.isLatest && <span class="badge good">{texts.current}</span>}{' '}
            {version.isMarker && <span class="badge bad">{texts.marker}</span>}
          </div>
          <div class="small muted ellipsis">
            {version.isMarker ? '' : `${size(version.size)} · `}
            <span class="mono" title={version.versionId}>
              {version.versionId}
            </span>
          </div>
          <div class="row">
            {version.isMarker ? (
              <>
                <Button onClick={() => void remove(version)}>{texts.undelete}</Button>
                <CopyButton
                  name={`${t.value.common.command}: ${texts.undelete}`}
                  text={deleteVersionCommand(config.value!, bucket, key, version.versionId)}
                />
              </>
            ) : (
              <>
                <Button icon="search" tip={texts.preview} onClick={() => onPreview(version.versionId)} />
                <Button
                  icon="download"
                  tip={t.value.objects.download}
                  onClick={() => void attempt(() => downloadObject(client, bucket, key, version.versionId))}
                />
                <CopyButton
                  name={`${t.value.common.command}: ${t.value.objects.download}`}
                  text={downloadCommand(config.value!, bucket, { kind: 'object', key }, version.versionId)}
                />
                {!version.isLatest && (
                  <>
                    <Button icon="history" tip={texts.restore} onClick={() => void restore(version)} />
                    <CopyButton
                      name={`${t.value.common.command}: ${texts.restore}`}
                      text={restoreCommand(place, version.versionId)}
                    />
                  </>
                )}
                <Button icon="trash" tip={texts.deleteVersion} onClick={() => void remove(version)} />
              </>
            )}
          </div>
        </div>
      ))}
      <CommandLine command={nextCommand(place, versions.value)} />
    </>
  );
}

/** Returns the command of the most likely action: to undelete, to restore the previous version, or to list versions. */
function nextCommand(place: Place, versions: readonly Version[]): string {
  const { bucket, key } = place;
  const [latest] = versions;
  if (latest?.isMarker === true) return deleteVersionCommand(config.value!, bucket, key, latest.versionId);
  const previous = versions.find(({ isLatest, isMarker }) => !isLatest && !isMarker);
  if (previous !== undefined) return restoreCommand(place, previous.versionId);
  return awsCommand(config.value!, 's3api', 'list-object-versions', '--bucket', bucket, '--prefix', key);
}

function restoreCommand(place: Place, versionId: string): string {
  const words = ['copy-object', '--bucket', place.bucket, '--key', place.key, '--copy-source'];
  return awsCommand(config.value!, 's3api', ...words, sourceOf(place, versionId));
}

const sourceOf = ({ bucket, key }: Place, versionId: string): string =>
  `${encodePath(`${bucket}/${key}`)}?versionId=${encodeURIComponent(versionId)}`;
