import { useState } from 'preact/hooks';
import { awsCommand } from '../../format/commands.ts';
import { encryptionCommand, versioningCommand } from '../../format/documents.ts';
import { t } from '../../messages/messages.ts';
import { createBucket, putEncryption, putVersioning } from '../../s3/buckets.ts';
import { loadBuckets } from '../../session/known-buckets.ts';
import { go } from '../../session/router.ts';
import { config, session } from '../../session/session.ts';
import { ask, DialogForm, Field } from '../../ui/dialog.tsx';
import { useSaving } from '../../ui/form.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';

/** Creates a bucket, and goes to it. */
export async function createBucketDialog(): Promise<void> {
  const name = await ask<string>((answer) => <CreateBucket onCreated={answer} />);
  if (name === undefined) return;
  void loadBuckets();
  notify(t.value.buckets.createdNotice(name));
  go({ page: 'objects', bucket: name, prefix: '' });
}

/** Returns whether a name follows the rules for buckets; the service decides. */
function isBucketName(name: string): boolean {
  return (
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) && !/\.\.|\.-|-\./.test(name) && !/^\d+\.\d+\.\d+\.\d+$/.test(name)
  );
}

function CreateBucket({ onCreated }: { readonly onCreated: (name: string) => void }) {
  const texts = t.value.buckets;
  const target = config.value!;
  const [name, setName] = useState('');
  const [region, setRegion] = useState(target.region);
  const [versions, setVersions] = useState(false);
  const [locks, setLocks] = useState(false);
  const [encrypt, setEncrypt] = useState(false);
  const { failure, busy, save } = useSaving();
  const isBad = name.length > 2 && !isBucketName(name);
  const { client } = session.value!;

  const create = async (): Promise<void> => {
    await createBucket(client, name, region === target.region ? '' : region, locks);
    // The bucket exists now, even if its settings fail.
    await attempt(async () => {
      if (versions && !locks) await putVersioning(client, name, 'Enabled');
      if (encrypt) await putEncryption(client, name, true);
    });
    onCreated(name);
  };

  const shown = name || 'my-bucket';
  const command = [
    locks
      ? awsCommand(
          target,
          's3api',
          'create-bucket',
          '--bucket',
          shown,
          '--region',
          region,
          '--object-lock-enabled-for-bucket',
        )
      : awsCommand(target, 's3', 'mb', `s3://${shown}`, '--region', region),
    ...(versions && !locks ? [versioningCommand(target, shown, 'Enabled')] : []),
    ...(encrypt ? [encryptionCommand(target, shown, true)] : []),
  ].join('\n');
  return (
    <DialogForm
      commands={[{ command }]}
      title={texts.createTitle}
      submit={texts.create}
      disabled={busy || !isBucketName(name)}
      onSubmit={() => void save(create)}
    >
      {failure !== undefined && <ErrorBox error={failure} />}
      <Field label={texts.name} hint={texts.nameHint} error={isBad ? texts.nameBad : undefined}>
        {(ids) => (
          <input
            {...ids}
            autofocus
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            maxLength={63}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={texts.region}>
        {(ids) => (
          <input {...ids} value={region} spellcheck={false} onInput={(event) => setRegion(event.currentTarget.value)} />
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={versions || locks}
          disabled={locks}
          onChange={(event) => setVersions(event.currentTarget.checked)}
        />
        <span>
          {texts.keepVersions}
          <br />
          <span class="hint">{texts.keepVersionsHint}</span>
        </span>
      </label>
      <label class="check">
        <input type="checkbox" checked={locks} onChange={(event) => setLocks(event.currentTarget.checked)} />
        <span>
          {texts.lock}
          <br />
          <span class="hint">{texts.lockHint}</span>
        </span>
      </label>
      <label class="check">
        <input type="checkbox" checked={encrypt} onChange={(event) => setEncrypt(event.currentTarget.checked)} />
        <span>{texts.encrypt}</span>
      </label>
    </DialogForm>
  );
}
