import { useEffect, useState } from 'preact/hooks';
import { awsCommand } from '../../format/commands.ts';
import { emptyCommand } from '../../format/object-commands.ts';
import { number, size, t } from '../../messages/messages.ts';
import { deleteBucket, headBucket, type BucketUse } from '../../s3/buckets.ts';
import { isFailure } from '../../s3/failure.ts';
import { listVersions } from '../../s3/listing.ts';
import { loadBuckets } from '../../session/known-buckets.ts';
import { go, route } from '../../session/router.ts';
import { config, session } from '../../session/session.ts';
import { contentOf, startVersionDelete } from '../../transfers/actions.ts';
import { ask, DialogForm, Field } from '../../ui/dialog.tsx';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';

/** Deletes a bucket. One with contents is emptied first, as a transfer, after the user has typed its name. */
export async function deleteBucketDialog(bucket: string): Promise<void> {
  const full = await ask<boolean>((answer) => <DeleteBucket bucket={bucket} onDecided={answer} />);
  if (full === undefined) return;
  const { client } = session.value!;
  const finish = (): Promise<boolean> =>
    attempt(async () => {
      await deleteBucket(client, bucket).catch((error: unknown) => {
        if (!isFailure(error, 'NoSuchBucket')) throw error;
      });
      notify(t.value.buckets.deletedNotice(bucket));
      await loadBuckets();
      if ('bucket' in route.value && route.value.bucket === bucket) go({ page: 'buckets' });
    });
  if (!full) return void (await finish());
  const job = startVersionDelete(client, bucket, (signal) => contentOf(client, bucket, signal), {
    kind: 'delete',
    title: bucket,
    commands: () => [emptyCommand(client.signer, bucket)],
    ended: () => {
      if (job.state.value === 'done') void finish();
    },
  });
  go({ page: 'transfers' });
}

function DeleteBucket({ bucket, onDecided }: { readonly bucket: string; readonly onDecided: (full: boolean) => void }) {
  const texts = t.value.buckets;
  const [use, setUse] = useState<BucketUse & { readonly isEmpty: boolean }>();
  const [error, setError] = useState<unknown>();
  const [typed, setTyped] = useState('');
  useEffect(() => {
    const { client } = session.value!;
    // Delete markers count as nothing, and still keep a bucket from being deleted.
    Promise.all([headBucket(client, bucket), listVersions(client, bucket, '')]).then(
      ([held, page]) => setUse({ ...held, isEmpty: page.versions.length === 0 }),
      setError,
    );
  }, [bucket]);
  const isFull = use?.isEmpty === false;
  const remove = awsCommand(config.value!, 's3', 'rb', `s3://${bucket}`);
  // `rb --force` would leave noncurrent versions, and fail.
  const command = isFull ? `${emptyCommand(config.value!, bucket)}\n${remove}` : remove;
  return (
    <DialogForm
      commands={[{ command }]}
      title={texts.deleteTitle(bucket)}
      submit={isFull ? texts.emptyAndDelete : texts.deleteSubmit}
      danger
      disabled={use === undefined || (isFull && typed !== bucket)}
      onSubmit={() => onDecided(isFull)}
    >
      {error !== undefined && <ErrorBox error={error} />}
      {use !== undefined && (
        <p>
          {isFull
            ? texts.deleteFull(t.value.common.objects(use.objects, number(use.objects)), size(use.bytes))
            : texts.deleteEmpty}
        </p>
      )}
      {isFull && (
        <Field label={texts.deleteConfirm}>
          {(ids) => (
            <input
              {...ids}
              autofocus
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </DialogForm>
  );
}
